#include <thread>

#include "tests/moves/executor/expect.hpp"
#include "tests/moves/executor/steps.hpp"

namespace fairgv::moves {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
/// Clang 14 does not find it by itself.
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

cl_program from_source(cl_context context, const std::string& source) {
  cl_int error = CL_SUCCESS;
  const char* text = source.c_str();
  const cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &error);
  expect(error, "clCreateProgramWithSource");
  return program;
}

cl_program linked(cl_context context, const MakeProgram& step) {
  const cl_program header = step.header_name.empty() ? nullptr : from_source(context, step.header);
  const char* header_name = step.header_name.c_str();
  std::vector<cl_program> parts;
  for (const std::string& source : step.sources) {
    parts.push_back(from_source(context, source));
    const cl_uint headers = header != nullptr ? 1 : 0;
    expect(clCompileProgram(parts.back(), 0, nullptr, step.options.c_str(), headers,
                            headers != 0 ? &header : nullptr, headers != 0 ? &header_name : nullptr, nullptr,
                            nullptr),
           "clCompileProgram");
  }
  cl_int error = CL_SUCCESS;
  const cl_program program = clLinkProgram(context, 0, nullptr, "", static_cast<cl_uint>(parts.size()),
                                           parts.data(), nullptr, nullptr, &error);
  expect(error, "clLinkProgram");
  for (const cl_program each : parts) expect(clReleaseProgram(each), "clReleaseProgram");
  if (header != nullptr) expect(clReleaseProgram(header), "clReleaseProgram");
  return program;
}

cl_program of_binary(cl_context context, cl_device_id device, cl_program built) {
  std::size_t size = 0;
  expect(clGetProgramInfo(built, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr), "clGetProgramInfo");
  std::vector<unsigned char> binary(size);
  unsigned char* place = binary.data();
  expect(clGetProgramInfo(built, CL_PROGRAM_BINARIES, sizeof(place), &place, nullptr), "clGetProgramInfo");
  const unsigned char* bytes = binary.data();
  cl_int status = CL_SUCCESS, error = CL_SUCCESS;
  const cl_program program = clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &error);
  expect(error, "clCreateProgramWithBinary");
  expect(status, "clCreateProgramWithBinary's status");
  expect(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), "clBuildProgram of a binary");
  expect(clReleaseProgram(built), "clReleaseProgram");
  return program;
}

}  // namespace

void carry_out(Objects& objects, const MakeProgram& step) {
  const cl_context context = objects.contexts.at(step.context);
  cl_program program = nullptr;
  if (step.way == Way::kCompileAndLink) {
    program = linked(context, step);
  } else {
    program = from_source(context, step.sources.front());
    expect(clBuildProgram(program, 0, nullptr, step.options.c_str(), nullptr, nullptr), "clBuildProgram");
    if (step.way == Way::kBinary)
      program = of_binary(context, objects.context_devices.at(step.context), program);
  }
  objects.programs[step.program] = program;
}

void carry_out(Objects& objects, const Rebuild& step) {
  constexpr int kAttempts = 1000;
  for (int attempt = 1;; ++attempt) {
    const cl_int error =
        clBuildProgram(objects.programs.at(step.program), 0, nullptr, step.options.c_str(), nullptr, nullptr);
    // The bare PoCL 3.1 may hold a kernel for a moment after its launch has ended.
    if (error == CL_INVALID_OPERATION && objects.is_bare_driver && attempt < kAttempts) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    return expect(error, "clBuildProgram again");
  }
}

void carry_out(Objects& objects, const MakeKernel& step) {
  cl_int error = CL_SUCCESS;
  objects.kernels[step.kernel] = clCreateKernel(objects.programs.at(step.program), step.name.c_str(), &error);
  expect(error, "clCreateKernel");
}

void carry_out(Objects& objects, const CloneKernel& step) {
  cl_int error = CL_SUCCESS;
  objects.kernels[step.kernel] = clCloneKernel(objects.kernels.at(step.from), &error);
  expect(error, "clCloneKernel");
}

void carry_out(Objects& objects, const SetArgument& step) {
  const cl_kernel kernel = objects.kernels.at(step.kernel);
  const cl_int error = std::visit(
      Overloaded{[&](const Value& value) {
                   return clSetKernelArg(kernel, step.index, value.bytes.size(), value.bytes.data());
                 },
                 [&](const MemoryArgument& value) {
                   const cl_mem memory = objects.memories.at(value.memory);
                   return clSetKernelArg(kernel, step.index, sizeof(memory), &memory);
                 },
                 [&](const SamplerArgument& value) {
                   const cl_sampler sampler = objects.samplers.at(value.sampler);
                   return clSetKernelArg(kernel, step.index, sizeof(sampler), &sampler);
                 },
                 [&](const LocalArgument& value) {
                   return clSetKernelArg(kernel, step.index, value.bytes, nullptr);
                 },
                 [&](const SvmArgument& value) {
                   return clSetKernelArgSVMPointer(kernel, step.index, objects.svm.at(value.svm));
                 }},
      step.argument);
  expect(error, "clSetKernelArg");
}

}  // namespace fairgv::moves
