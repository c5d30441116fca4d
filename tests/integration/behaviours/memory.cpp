// Buffers and parts of them, copies, fills, maps.
#include <array>
#include <cstdint>

#include "tests/integration/behaviours/behaviour.hpp"

namespace fairgv::behaviours {
namespace {

constexpr std::size_t kBufferBytes = 1 << 16;

cl_int create_buffer(const Stage& stage, cl_mem_flags flags, std::size_t bytes, void* host) {
  cl_int error = CL_SUCCESS;
  clCreateBuffer(stage.context, flags, bytes, host, &error);
  return error;
}

cl_mem part_of(cl_mem whole, cl_mem_flags flags, std::size_t origin, std::size_t bytes, cl_int& error) {
  const cl_buffer_region region{origin, bytes};
  return clCreateSubBuffer(whole, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
}

/// The driver's answers about a part of a buffer, and about the commands and launches that use the part.
std::string part_at(const Stage& stage, std::size_t origin, std::size_t bytes, cl_mem_flags flags = 0) {
  cl_int error = CL_SUCCESS;
  const cl_mem part = part_of(stage.buffer(kBufferBytes), flags, origin, bytes, error);
  Answer answer;
  answer.add("create", error);
  if (error != CL_SUCCESS) return answer;
  std::array<std::uint8_t, 16> host{};
  answer.add("write",
             clEnqueueWriteBuffer(stage.queue, part, CL_TRUE, 0, 4, host.data(), 0, nullptr, nullptr));
  answer.add("read", clEnqueueReadBuffer(stage.queue, part, CL_TRUE, 0, 4, host.data(), 0, nullptr, nullptr));
  const cl_kernel kernel =
      stage.kernel("kernel void k(global uchar* out) { out[get_global_id(0)] = 7; }", "k");
  answer.add("argument", clSetKernelArg(kernel, 0, sizeof(part), &part));
  const std::size_t items = 4;
  cl_event event = nullptr;
  error = clEnqueueNDRangeKernel(stage.queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, &event);
  answer.add("launch", error);
  if (error == CL_SUCCESS) clFinish(stage.queue);
  if (error == CL_SUCCESS) answer.add("end", end_of(event));
  answer.add("read", clEnqueueReadBuffer(stage.queue, part, CL_TRUE, 0, 4, host.data(), 0, nullptr, nullptr));
  return answer.add("value", host[0]);
}

std::string part_of_part(const Stage& stage) {
  cl_int error = CL_SUCCESS;
  const cl_mem part = part_of(stage.buffer(kBufferBytes), 0, 0, kBufferBytes / 2, error);
  Answer answer;
  answer.add("part", error);
  part_of(part, 0, 0, 4096, error);
  return answer.add("part of it", error);
}

/// A buffer over shared virtual memory, and parts of it (Khronos' svm_shared_sub_buffers).
std::string part_of_shared_memory(const Stage& stage) {
  if (stage.device_info<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES) == 0) return "no such memory";
  void* const shared = clSVMAlloc(stage.context, CL_MEM_READ_WRITE, kBufferBytes, 0);
  cl_int error = CL_SUCCESS;
  const cl_mem whole = clCreateBuffer(stage.context, CL_MEM_USE_HOST_PTR, kBufferBytes, shared, &error);
  Answer answer;
  answer.add("buffer", error);
  const cl_mem part = part_of(whole, 0, 0, kBufferBytes / 2, error);
  answer.add("part", error);
  part_of(part, 0, 0, 4096, error);  // any answer is fine
  const cl_uchar value = 9;
  answer.add("fill",
             clEnqueueFillBuffer(stage.queue, part, &value, 1, 0, kBufferBytes / 2, 0, nullptr, nullptr));
  return answer.add("finish", clFinish(stage.queue));
}

/// Both sides of a transfer are the same bytes.
std::string transfer_within_itself(const Stage& stage) {
  if (stage.device_info<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES) == 0) return "no such memory";
  cl_int error = CL_SUCCESS;
  const cl_command_queue timed =
      clCreateCommandQueue(stage.context, stage.device, CL_QUEUE_PROFILING_ENABLE, &error);
  void* const shared = clSVMAlloc(stage.context, CL_MEM_READ_WRITE, kBufferBytes, 0);
  const cl_mem whole = clCreateBuffer(stage.context, CL_MEM_USE_HOST_PTR, kBufferBytes, shared, &error);
  cl_event event = nullptr;
  Answer answer;
  answer.add("read", clEnqueueReadBuffer(timed, whole, CL_FALSE, 0, 4096, shared, 0, nullptr, &event));
  answer.add("end", end_of(event));
  answer.add("write", clEnqueueWriteBuffer(timed, whole, CL_FALSE, 0, 4096, shared, 0, nullptr, &event));
  answer.add("end", end_of(event));
  return answer.add("finish", clFinish(timed));
}

/// An image in the memory of a buffer, and the part of it that a command and a kernel reach.
std::string image_of_buffer(const Stage& stage, cl_mem_object_type type, cl_mem_flags flags) {
  if (stage.device_info<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == CL_FALSE) return "no images";
  static std::array<std::uint8_t, kBufferBytes> contents;
  contents.fill(21);
  const bool copies = (flags & CL_MEM_COPY_HOST_PTR) != 0;
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc description{};
  description.image_type = type;
  description.image_width = 64;
  description.image_height = type == CL_MEM_OBJECT_IMAGE2D ? 4 : 0;
  description.buffer = stage.buffer(kBufferBytes, flags, copies ? contents.data() : nullptr);
  cl_int error = CL_SUCCESS;
  const cl_mem image = clCreateImage(stage.context, 0, &format, &description, nullptr, &error);
  Answer answer;
  answer.add("create", error);
  if (error != CL_SUCCESS || type != CL_MEM_OBJECT_IMAGE1D_BUFFER) return answer;
  const cl_kernel kernel = stage.kernel(
      "kernel void k(read_only image1d_buffer_t from, global uint4* to) { to[0] = read_imageui(from, 3); }",
      "k");
  const cl_mem out = stage.buffer(sizeof(cl_uint4));
  answer.add("argument", clSetKernelArg(kernel, 0, sizeof(image), &image));
  clSetKernelArg(kernel, 1, sizeof(out), &out);
  const std::size_t items = 1;
  answer.add("launch",
             clEnqueueNDRangeKernel(stage.queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
  cl_uint4 seen{};
  answer.add("read",
             clEnqueueReadBuffer(stage.queue, out, CL_TRUE, 0, sizeof(seen), &seen, 0, nullptr, nullptr));
  return copies ? answer.add("value", seen.s[0]) : answer;
}

std::string fill(const Stage& stage, std::size_t pattern_bytes, std::size_t offset, std::size_t bytes) {
  const std::array<std::uint8_t, 256> pattern{};
  const cl_int error = clEnqueueFillBuffer(stage.queue, stage.buffer(kBufferBytes), pattern.data(),
                                           pattern_bytes, offset, bytes, 0, nullptr, nullptr);
  return Answer().add("fill", error).add("finish", clFinish(stage.queue));
}

}  // namespace

std::vector<Question> memory() {
  return {
      {"buffer of nothing", [](auto& s) { return Answer().add("create", create_buffer(s, 0, 0, nullptr)); },
       "create -61"},
      {"buffer with a host pointer that no flag is for",
       [](auto& s) {
         int host = 0;
         return Answer().add("create", create_buffer(s, 0, 4, &host));
       },
       "create -37"},
      {"buffer without the host pointer that a flag is for",
       [](auto& s) { return Answer().add("create", create_buffer(s, CL_MEM_COPY_HOST_PTR, 4, nullptr)); },
       "create -37"},
      {"buffer to be read and written only",
       [](auto& s) {
         return Answer().add("create", create_buffer(s, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, nullptr));
       },
       "create -30"},
      {"part at 1", [](auto& s) { return part_at(s, 1, 64); }},
      {"part at 4", [](auto& s) { return part_at(s, 4, 64); }},
      {"part at 64", [](auto& s) { return part_at(s, 64, 64); }},
      {"part at 128", [](auto& s) { return part_at(s, 128, 64); }},
      {"part at the device's alignment",
       [](auto& s) {
         return part_at(s, s.template device_info<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8, 64);
       }},
      {"part of nothing", [](auto& s) { return part_at(s, 0, 0); }, "create -61"},
      {"part beyond", [](auto& s) { return part_at(s, kBufferBytes, 4096); }, "create -30"},
      {"part of a part", part_of_part, "part 0, part of it -38"},
      {"part of a part of shared virtual memory", part_of_shared_memory},
      {"transfer between two names of the same bytes", transfer_within_itself},
      {"fill with a pattern of 3", [](auto& s) { return fill(s, 3, 0, 12); }, "fill -30, finish 0"},
      {"fill with a pattern of 256", [](auto& s) { return fill(s, 256, 0, 256); }, "fill -30, finish 0"},
      {"fill at an odd offset", [](auto& s) { return fill(s, 4, 2, 8); }, "fill -30, finish 0"},
      {"fill of an odd size", [](auto& s) { return fill(s, 4, 0, 6); }, "fill -30, finish 0"},
      {"fill beyond", [](auto& s) { return fill(s, 4, kBufferBytes - 4, 8); }, "fill -30, finish 0"},
      {"image of a buffer", [](auto& s) { return image_of_buffer(s, CL_MEM_OBJECT_IMAGE1D_BUFFER, 0); }},
      {"image of a buffer with contents",
       [](auto& s) { return image_of_buffer(s, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_COPY_HOST_PTR); }},
      {"image of a buffer for the host",
       [](auto& s) { return image_of_buffer(s, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_ALLOC_HOST_PTR); }},
      {"image of rows of a buffer", [](auto& s) { return image_of_buffer(s, CL_MEM_OBJECT_IMAGE2D, 0); }},
      {"copy onto itself",
       [](auto& s) {
         const cl_mem buffer = s.buffer(kBufferBytes);
         return Answer().add("copy",
                             clEnqueueCopyBuffer(s.queue, buffer, buffer, 0, 8, 64, 0, nullptr, nullptr));
       },
       "copy -8"},
      {"read beyond",
       [](auto& s) {
         std::array<char, 16> host{};
         return Answer().add("read", clEnqueueReadBuffer(s.queue, s.buffer(8), CL_TRUE, 0, 16, host.data(), 0,
                                                         nullptr, nullptr));
       },
       "read -30"},
  };
}

}  // namespace fairgv::behaviours
