#include "runtime/vgpu/opencl/move/contents.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "runtime/vgpu/opencl/residency/buffer_block.hpp"

namespace fairgv::vgpu::opencl {
namespace {

constexpr std::array<std::size_t, 3> kOrigin{0, 0, 0};

bool has_own(const Buffer& buffer) {
  return (buffer.block || buffer.handle) && buffer.parent == nullptr && buffer.backing.bytes == 0;
}

bool has_own(const Image& image) {
  return image.handle && image.memory == nullptr;
}

/// The program may have forbidden the host to read or write the memory: the driver then copies by way of
/// memory of its own.
struct Detour {
  Detour(cl_context context, std::size_t bytes, cl_int& error)
      : memory(clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error)) {}
  MemoryHandle memory;
};

cl_int read(const Buffer& buffer, cl_command_queue queue, std::span<std::byte> to) {
  const cl_int error =
      clEnqueueReadBuffer(queue, buffer.handle.get(), CL_TRUE, 0, to.size(), to.data(), 0, nullptr, nullptr);
  if (error != CL_INVALID_OPERATION) return error;
  cl_int failure = CL_SUCCESS;
  const Detour detour(buffer.context->handle.get(), to.size(), failure);
  if (failure != CL_SUCCESS) return failure;
  failure = clEnqueueCopyBuffer(queue, buffer.handle.get(), detour.memory.get(), 0, 0, to.size(), 0, nullptr,
                                nullptr);
  if (failure != CL_SUCCESS) return failure;
  return clEnqueueReadBuffer(queue, detour.memory.get(), CL_TRUE, 0, to.size(), to.data(), 0, nullptr,
                             nullptr);
}

cl_int write(const Buffer& buffer, cl_command_queue queue, std::span<const std::byte> from) {
  const cl_int error = clEnqueueWriteBuffer(queue, buffer.handle.get(), CL_TRUE, 0, from.size(), from.data(),
                                            0, nullptr, nullptr);
  if (error != CL_INVALID_OPERATION) return error;
  cl_int failure = CL_SUCCESS;
  const Detour detour(buffer.context->handle.get(), from.size(), failure);
  if (failure != CL_SUCCESS) return failure;
  failure = clEnqueueWriteBuffer(queue, detour.memory.get(), CL_TRUE, 0, from.size(), from.data(), 0, nullptr,
                                 nullptr);
  if (failure != CL_SUCCESS) return failure;
  failure = clEnqueueCopyBuffer(queue, detour.memory.get(), buffer.handle.get(), 0, 0, from.size(), 0,
                                nullptr, nullptr);
  return failure != CL_SUCCESS ? failure : clFinish(queue);
}

cl_int read(const Image& image, cl_command_queue queue, std::span<std::byte> to) {
  const auto region = region_of(image);
  const cl_int error = clEnqueueReadImage(queue, image.handle.get(), CL_TRUE, kOrigin.data(), region.data(),
                                          0, 0, to.data(), 0, nullptr, nullptr);
  if (error != CL_INVALID_OPERATION) return error;
  cl_int failure = CL_SUCCESS;
  const Detour detour(image.context->handle.get(), to.size(), failure);
  if (failure != CL_SUCCESS) return failure;
  failure = clEnqueueCopyImageToBuffer(queue, image.handle.get(), detour.memory.get(), kOrigin.data(),
                                       region.data(), 0, 0, nullptr, nullptr);
  if (failure != CL_SUCCESS) return failure;
  return clEnqueueReadBuffer(queue, detour.memory.get(), CL_TRUE, 0, to.size(), to.data(), 0, nullptr,
                             nullptr);
}

cl_int write(const Image& image, cl_command_queue queue, std::span<const std::byte> from) {
  const auto region = region_of(image);
  const cl_int error = clEnqueueWriteImage(queue, image.handle.get(), CL_TRUE, kOrigin.data(), region.data(),
                                           0, 0, from.data(), 0, nullptr, nullptr);
  if (error != CL_INVALID_OPERATION) return error;
  cl_int failure = CL_SUCCESS;
  const Detour detour(image.context->handle.get(), from.size(), failure);
  if (failure != CL_SUCCESS) return failure;
  failure = clEnqueueWriteBuffer(queue, detour.memory.get(), CL_TRUE, 0, from.size(), from.data(), 0, nullptr,
                                 nullptr);
  if (failure != CL_SUCCESS) return failure;
  failure = clEnqueueCopyBufferToImage(queue, detour.memory.get(), image.handle.get(), 0, kOrigin.data(),
                                       region.data(), 0, nullptr, nullptr);
  return failure != CL_SUCCESS ? failure : clFinish(queue);
}

/// `copy(object, queue)` with the object as what it is.
template <class Copy>
Result<void> with_queue(const Object& object, cl_device_id device, const Copy& copy) {
  const auto run = [&](const auto& memory) -> Result<void> {
    cl_int error = CL_SUCCESS;
    const QueueHandle queue = make_plain_queue(memory.context->handle.get(), device, error);
    if (error == CL_SUCCESS) error = copy(memory, queue.get());
    if (error == CL_SUCCESS) return {};
    return Error{fmt::format("the driver does not copy the contents of {} {} (error {})", memory.kName,
                             memory.id.index(), error)};
  };
  if (object.kind() == ObjectKind::image) return run(static_cast<const Image&>(object));
  return run(static_cast<const Buffer&>(object));
}

}  // namespace

std::array<std::size_t, 3> region_of(const Image& image) {
  const auto& [x, y, z] = image.extent;
  return {std::max<std::size_t>(x, 1), std::max<std::size_t>(y, 1), std::max<std::size_t>(z, 1)};
}

QueueHandle make_plain_queue(cl_context context, cl_device_id device, cl_int& error) {
// Deprecated, and the only one that every driver has.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return QueueHandle(clCreateCommandQueue(context, device, 0, &error));
#pragma GCC diagnostic pop
}

std::uint64_t contents_bytes(const Object& object) {
  if (object.kind() == ObjectKind::buffer) {
    const auto& buffer = static_cast<const Buffer&>(object);
    return has_own(buffer) ? buffer.bytes : 0;
  }
  if (object.kind() != ObjectKind::image) return 0;
  const auto& image = static_cast<const Image&>(object);
  if (!has_own(image)) return 0;
  const auto region = region_of(image);
  return image.element_bytes * region[0] * region[1] * region[2];
}

Result<void> read_contents(const Object& object, cl_device_id device, std::span<std::byte> to) {
  const auto block = block_of(object);
  const auto pin = block ? block->pin() : nullptr;
  if (block && block->is_outside()) {
    block->copy_to(to);
    return {};
  }
  return with_queue(object, device,
                    [to](const auto& memory, cl_command_queue queue) { return read(memory, queue, to); });
}

Result<void> write_contents(const Object& object, cl_device_id device, std::span<const std::byte> from) {
  if (const auto block = block_of(object)) {
    const auto pin = block->pin();
    if (block->put(from) == CL_SUCCESS) return {};
    return Error{"no memory of the host for the contents of a buffer"};
  }
  return with_queue(object, device, [from](const auto& memory, cl_command_queue queue) {
    return write(memory, queue, from);
  });
}

}  // namespace fairgv::vgpu::opencl
