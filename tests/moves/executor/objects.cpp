#include "tests/moves/executor/objects.hpp"

#include <vector>

#include "tests/moves/executor/expect.hpp"
#include "tests/moves/executor/steps.hpp"

namespace fairgv::moves {
namespace {

constexpr cl_mem_flags kWithContents = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/// The host memory that an object is made of, if it is; it stays as long as the object may need it.
void* contents_of(Objects& objects, cl_mem_flags flags, const Data& data) {
  if ((flags & kWithContents) == 0) return nullptr;
  auto& list = (flags & CL_MEM_USE_HOST_PTR) != 0 ? objects.used : objects.data;
  return list.emplace_back(data).get();
}

template <class Function>
void find(cl_platform_id platform, const char* name, Function& function) {
  function = reinterpret_cast<Function>(clGetExtensionFunctionAddressForPlatform(platform, name));
}

cl_int retained(Objects& objects, Kind kind, Number number) {
  switch (kind) {
    case Kind::kContext:
      return clRetainContext(objects.contexts.at(number));
    case Kind::kQueue:
      return clRetainCommandQueue(objects.queues.at(number));
    case Kind::kMemory:
      return clRetainMemObject(objects.memories.at(number));
    case Kind::kSampler:
      return clRetainSampler(objects.samplers.at(number));
    case Kind::kProgram:
      return clRetainProgram(objects.programs.at(number));
    case Kind::kKernel:
      return clRetainKernel(objects.kernels.at(number));
    case Kind::kEvent:
      return clRetainEvent(objects.events.at(number));
    case Kind::kRecording:
      return objects.recording_functions.retain(objects.recordings.at(number));
  }
  return CL_INVALID_VALUE;
}

cl_int released(Objects& objects, Kind kind, Number number) {
  switch (kind) {
    case Kind::kContext:
      return clReleaseContext(objects.contexts.at(number));
    case Kind::kQueue:
      return clReleaseCommandQueue(objects.queues.at(number));
    case Kind::kMemory:
      return clReleaseMemObject(objects.memories.at(number));
    case Kind::kSampler:
      return clReleaseSampler(objects.samplers.at(number));
    case Kind::kProgram:
      return clReleaseProgram(objects.programs.at(number));
    case Kind::kKernel:
      return clReleaseKernel(objects.kernels.at(number));
    case Kind::kEvent:
      return clReleaseEvent(objects.events.at(number));
    case Kind::kRecording:
      return objects.recording_functions.release(objects.recordings.at(number));
  }
  return CL_INVALID_VALUE;
}

/// Of one compute unit each.
std::vector<cl_device_id> parts_of(cl_device_id device) {
  const cl_device_partition_property properties[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_uint count = 0;
  expect(clCreateSubDevices(device, properties, 0, nullptr, &count), "clCreateSubDevices");
  std::vector<cl_device_id> parts(count);
  expect(clCreateSubDevices(device, properties, count, parts.data(), nullptr), "clCreateSubDevices");
  return parts;
}

}  // namespace

RecordingFunctions::RecordingFunctions(cl_platform_id platform) {
  find(platform, "clCreateCommandBufferKHR", create);
  find(platform, "clRetainCommandBufferKHR", retain);
  find(platform, "clReleaseCommandBufferKHR", release);
  find(platform, "clFinalizeCommandBufferKHR", finalize);
  find(platform, "clEnqueueCommandBufferKHR", enqueue);
  find(platform, "clGetCommandBufferInfoKHR", info);
  find(platform, "clCommandCopyBufferKHR", copy_buffer);
  find(platform, "clCommandFillBufferKHR", fill_buffer);
  find(platform, "clCommandNDRangeKernelKHR", launch);
}

void carry_out(Objects& objects, const MakeContext& step) {
  cl_int error = CL_SUCCESS;
  std::vector<cl_device_id> parts;
  if (step.on_part) parts = parts_of(objects.devices.at(step.device));
  const cl_device_id device = parts.empty() ? objects.devices.at(step.device) : parts.back();
  objects.contexts[step.context] = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  objects.context_devices[step.context] = device;
  expect(error, "clCreateContext");
}

void carry_out(Objects& objects, const MakeQueue& step) {
  cl_int error = CL_SUCCESS;
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, step.properties, 0};
  objects.queues[step.queue] = clCreateCommandQueueWithProperties(
      objects.contexts.at(step.context), objects.context_devices.at(step.context),
      step.properties != 0 ? properties : nullptr, &error);
  expect(error, "clCreateCommandQueueWithProperties");
}

void carry_out(Objects& objects, const MakeBuffer& step) {
  cl_int error = CL_SUCCESS;
  objects.memories[step.memory] =
      clCreateBuffer(objects.contexts.at(step.context), step.flags, step.contents.bytes,
                     contents_of(objects, step.flags, step.contents), &error);
  expect(error, "clCreateBuffer");
}

void carry_out(Objects& objects, const MakeSubBuffer& step) {
  cl_int error = CL_SUCCESS;
  const cl_buffer_region region{step.origin, step.bytes};
  objects.memories[step.memory] = clCreateSubBuffer(objects.memories.at(step.parent), step.flags,
                                                    CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  expect(error, "clCreateSubBuffer");
}

void carry_out(Objects& objects, const MakeImage& step) {
  cl_int error = CL_SUCCESS;
  cl_image_desc description{};
  description.image_type = step.type;
  description.image_width = step.size[0];
  description.image_height = step.size[1];
  description.image_depth = step.size[2];
  description.image_array_size = step.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? step.size[1] : step.size[2];
  if (step.buffer != kNone) description.mem_object = objects.memories.at(step.buffer);
  objects.memories[step.memory] =
      clCreateImage(objects.contexts.at(step.context), step.flags, &step.format, &description,
                    contents_of(objects, step.flags, step.contents), &error);
  expect(error, "clCreateImage");
  std::size_t pixel = 0;
  expect(clGetImageInfo(objects.memories[step.memory], CL_IMAGE_ELEMENT_SIZE, sizeof(pixel), &pixel, nullptr),
         "clGetImageInfo");
  objects.images[step.memory] = {step.type, pixel};
}

void carry_out(Objects& objects, const MakeSampler& step) {
  cl_int error = CL_SUCCESS;
  objects.samplers[step.sampler] =
      clCreateSampler(objects.contexts.at(step.context), step.normalized ? CL_TRUE : CL_FALSE,
                      step.addressing, step.filter, &error);
  expect(error, "clCreateSampler");
}

void carry_out(Objects& objects, const MakeSvm& step) {
  void* const made = clSVMAlloc(objects.contexts.at(step.context), CL_MEM_READ_WRITE, step.bytes, 0);
  if (made == nullptr) throw Unexpected("clSVMAlloc gave no memory");
  objects.svm[step.svm] = static_cast<std::uint8_t*>(made);
  objects.svm_contexts[step.svm] = objects.contexts.at(step.context);
}

void carry_out(Objects& objects, const FreeSvm& step) {
  clSVMFree(objects.svm_contexts.at(step.svm), objects.svm.at(step.svm));
}

void carry_out(Objects& objects, const Retain& step) {
  expect(retained(objects, step.kind, step.number), "a clRetain function");
}

void carry_out(Objects& objects, const Release& step) {
  expect(released(objects, step.kind, step.number), "a clRelease function");
}

}  // namespace fairgv::moves
