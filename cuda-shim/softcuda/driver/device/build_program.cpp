#include <optional>
#include <vector>

#include "cuda-shim/softcuda/driver/device/kernel_cache.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"

namespace fairgv::cuda::soft {
namespace {

std::string key_of(const OpenClDevice& device, const std::string& source, const std::string& options) {
  const DeviceFacts& facts = device.facts();
  std::string key;
  for (const auto* part :
       {&facts.platform_name, &facts.name, &facts.version, &facts.driver_version, &options}) {
    key += *part;
    key += '\n';
  }
  return key + source;
}

// PoCL keeps machine code on disk by itself, for each kernel when it is launched. For a program's binary it
// first compiles every kernel in it: a minute for a module with twenty reductions of which the program runs
// one.
bool keeps_kernels_itself(const DeviceFacts& facts) {
  return facts.platform_name == "Portable Computing Language";
}

ProgramPtr from_binary(const OpenClDevice& device, const std::vector<unsigned char>& binary,
                       const std::string& options) {
  const cl_device_id id = device.device();
  const std::size_t size = binary.size();
  const unsigned char* data = binary.data();
  cl_int status = CL_SUCCESS;
  ProgramPtr program(clCreateProgramWithBinary(device.context(), 1, &id, &size, &data, nullptr, &status));
  if (status != CL_SUCCESS ||
      clBuildProgram(program.get(), 1, &id, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    return nullptr;
  }
  return program;
}

std::string log_of(const OpenClDevice& device, cl_program program) {
  std::size_t size = 0;
  clGetProgramBuildInfo(program, device.device(), CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, device.device(), CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

std::vector<unsigned char> binary_of(cl_program program) {
  std::size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS)
    return {};
  std::vector<unsigned char> binary(size);
  unsigned char* data = binary.data();
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, static_cast<void*>(&data), nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  return binary;
}

}  // namespace

Result<ProgramPtr> build_program(const OpenClDevice& device, const std::string& source,
                                 const std::string& options) {
  static const std::optional<KernelCache> cache =
      keeps_kernels_itself(device.facts()) ? std::nullopt : KernelCache::of_environment();
  const std::string key = key_of(device, source, options);
  if (cache) {
    if (const auto binary = cache->read(key)) {
      if (auto program = from_binary(device, *binary, options)) return program;
    }
  }
  const char* text = source.c_str();
  const std::size_t length = source.size();
  const cl_device_id id = device.device();
  cl_int status = CL_SUCCESS;
  ProgramPtr program(clCreateProgramWithSource(device.context(), 1, &text, &length, &status));
  if (status != CL_SUCCESS) return Error{"OpenCL cannot make a program (" + std::to_string(status) + ")"};
  status = clBuildProgram(program.get(), 1, &id, options.c_str(), nullptr, nullptr);
  if (status != CL_SUCCESS) {
    return Error{"OpenCL cannot build the translated module (" + std::to_string(status) +
                 "): " + log_of(device, program.get())};
  }
  if (cache) {
    if (const auto binary = binary_of(program.get()); !binary.empty()) cache->write(key, binary);
  }
  return program;
}

}  // namespace fairgv::cuda::soft
