#include "tests/moves/executor/expect.hpp"
#include "tests/moves/executor/steps.hpp"

namespace fairgv::moves {
namespace {

/// Adds an answer that is the same on each device: no handle, no count of references.
template <class Query, class Object>
void add_answer(Objects& objects, Query query, Object object, cl_uint what) {
  std::size_t size = 0;
  expect(query(object, what, 0, nullptr, &size), "a query of a size");
  std::vector<std::uint8_t> answer(size);
  expect(query(object, what, size, answer.data(), nullptr), "a query");
  objects.results.add_value(size);
  objects.results.add(answer.data(), answer.size());
}

template <class Query, class Object>
void add_answers(Objects& objects, Query query, Object object, std::initializer_list<cl_uint> all) {
  for (const cl_uint what : all) add_answer(objects, query, object, what);
}

void look_at_memory(Objects& objects, Number number) {
  const cl_mem memory = objects.memories.at(number);
  add_answers(objects, clGetMemObjectInfo, memory, {CL_MEM_TYPE, CL_MEM_SIZE, CL_MEM_OFFSET});
  if (!objects.images.contains(number)) return;
  add_answers(objects, clGetImageInfo, memory,
              {CL_IMAGE_FORMAT, CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH});
}

void look_at_program(Objects& objects, Number number) {
  const cl_program program = objects.programs.at(number);
  add_answers(objects, clGetProgramInfo, program, {CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_SOURCE});
  std::size_t kernels = 0;
  expect(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, nullptr),
         "clGetProgramInfo");
  std::vector<cl_device_id> devices(1);
  expect(clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(cl_device_id), devices.data(), nullptr),
         "clGetProgramInfo");
  cl_build_status status = CL_BUILD_NONE;
  expect(
      clGetProgramBuildInfo(program, devices[0], CL_PROGRAM_BUILD_STATUS, sizeof(status), &status, nullptr),
      "clGetProgramBuildInfo");
  objects.results.add_value(status);
}

}  // namespace

void carry_out(Objects& objects, const LookAtObject& step) {
  switch (step.kind) {
    case Kind::kContext:
      return add_answers(objects, clGetContextInfo, objects.contexts.at(step.number),
                         {CL_CONTEXT_NUM_DEVICES});
    case Kind::kQueue:
      return add_answers(objects, clGetCommandQueueInfo, objects.queues.at(step.number),
                         {CL_QUEUE_PROPERTIES});
    case Kind::kMemory:
      return look_at_memory(objects, step.number);
    case Kind::kSampler:
      return add_answers(objects, clGetSamplerInfo, objects.samplers.at(step.number),
                         {CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE});
    case Kind::kProgram:
      return look_at_program(objects, step.number);
    case Kind::kKernel:
      return add_answers(objects, clGetKernelInfo, objects.kernels.at(step.number),
                         {CL_KERNEL_FUNCTION_NAME, CL_KERNEL_NUM_ARGS});
    default:
      throw Unexpected("a look at an object that plans do not look at");
  }
}

}  // namespace fairgv::moves
