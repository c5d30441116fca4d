// Images, samplers and pipes: made at once; an object that the driver refuses is poisoned.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "runtime/vgpu/opencl/bounds.hpp"
#include "runtime/vgpu/opencl/handlers.hpp"
#include "runtime/wire/image_format.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// An image may lie in an image, and so on. Destroying one releases the image below, so the depth must be
/// bounded.
constexpr std::uint32_t kDeepest = 16;

cl_image_format format_of(const wire::ImageDescription& description) {
  return {description.channel_order, description.channel_type};
}

cl_image_desc on_driver(const wire::ImageDescription& description, cl_mem memory) {
  cl_image_desc image{};
  image.image_type = description.type;
  image.image_width = description.width;
  image.image_height = description.height;
  image.image_depth = description.depth;
  image.image_array_size = description.array_size;
  image.image_row_pitch = description.row_pitch;
  image.mem_object = memory;
  return image;
}

std::size_t element_bytes_of(cl_mem image) {
  std::size_t bytes = 0;
  clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(bytes), &bytes, nullptr);
  return bytes;
}

/// Bytes of an element as the driver counts them, found out with an image of one element; 0 if it has no such
/// images.
std::size_t element_bytes_of(cl_context context, cl_mem_flags flags, wire::ImageDescription description) {
  description.width = 1;
  description.height = std::min<std::uint64_t>(description.height, 1);
  description.depth = std::min<std::uint64_t>(description.depth, 1);
  description.array_size = std::min<std::uint64_t>(description.array_size, 1);
  const cl_image_format format = format_of(description);
  const cl_image_desc image = on_driver(description, nullptr);
  const MemoryHandle probe(clCreateImage(context, flags, &format, &image, nullptr, nullptr));
  return probe ? element_bytes_of(probe.get()) : 0;
}

/// Bytes of the whole image without gaps, or the largest number if that is beyond 64 bits.
std::uint64_t packed_bytes(const wire::ImageDescription& description, std::size_t element_bytes) {
  std::uint64_t bytes = element_bytes;
  for (const std::uint64_t size :
       {description.width, description.height, description.depth, description.array_size}) {
    if (__builtin_mul_overflow(bytes, std::max<std::uint64_t>(size, 1), &bytes)) return UINT64_MAX;
  }
  return bytes;
}

void make(Image& image, cl_mem_flags flags, const wire::ImageDescription& description, cl_mem memory,
          void* initial) {
  const cl_image_format format = format_of(description);
  const cl_image_desc on_this = on_driver(description, memory);
  image.type = description.type;
  image.handle = MemoryHandle(
      clCreateImage(image.context->handle.get(), flags, &format, &on_this, initial, &image.error));
  if (image.handle) image.element_bytes = element_bytes_of(image.handle.get());
}

SamplerHandle make_sampler(cl_context context, const wire::CreateSampler& call, cl_int& error) {
// Deprecated, and the only one that every driver has.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return SamplerHandle(
      clCreateSampler(context, call.normalized_coordinates, call.addressing_mode, call.filter_mode, &error));
#pragma GCC diagnostic pop
}

}  // namespace

Result<wire::InfoReply> Handlers::handle(const wire::GetSupportedImageFormats& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  wire::InfoReply reply;
  reply.error = context.value()->error;
  if (reply.error != CL_SUCCESS) return reply;
  const cl_context handle = context.value()->handle.get();
  cl_uint count = 0;
  reply.error = clGetSupportedImageFormats(handle, call.flags, call.type, 0, nullptr, &count);
  if (reply.error != CL_SUCCESS || count == 0) return reply;
  std::vector<cl_image_format> formats(count);
  reply.error = clGetSupportedImageFormats(handle, call.flags, call.type, count, formats.data(), nullptr);
  if (reply.error != CL_SUCCESS) return reply;
  const auto bytes = std::as_bytes(std::span(formats));
  reply.value.assign(bytes.begin(), bytes.end());
  return reply;
}

Result<void> Handlers::handle(const wire::CreateImage& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  auto image = std::make_shared<Image>();
  image->extent = extent_of(call.description);
  image->context = std::move(context).value();
  image->error = image->context->error;
  if (auto done = charge(*image, wire::image_bytes(call.description), false); !done) return done;
  note_other(*image, wire::image_bytes(call.description));
  if (image->error != CL_SUCCESS) return objects_.insert(call.id, std::move(image));

  wire::ImageDescription description = call.description;
  description.row_pitch = 0;  // contents lie without gaps
  cl_mem_flags flags = call.flags & ~kHostPointerFlags;
  std::byte* initial = nullptr;
  if (call.initial.bytes != 0) {
    const std::size_t element = element_bytes_of(image->context->handle.get(), flags, description);
    FAIRGV_TRY(range, arena(call.initial, packed_bytes(description, element)));
    initial = range.value();
    flags |= CL_MEM_COPY_HOST_PTR;
  }
  make(*image, flags, description, nullptr, initial);
  return objects_.insert(call.id, std::move(image));
}

Result<wire::StatusReply> Handlers::handle(const wire::CreateImageFromMemory& call) {
  auto image = std::make_shared<Image>();
  image->extent = extent_of(call.description);
  cl_mem memory = nullptr;
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  // of another image: the driver's to check
  if (auto buffer = objects_.get<Buffer>(call.memory)) {
    image->context = buffer.value()->context;
    image->error = buffer.value()->error;
    if (const auto block = block_of(*buffer.value()); block && image->error == CL_SUCCESS)
      image->pin = block->pin_in(image->error);
    memory = buffer.value()->handle.get();
    bytes = buffer.value()->bytes;
    if (call.description.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) image->buffer = buffer.value();
    image->memory = std::move(buffer).value();
  } else {
    FAIRGV_TRY(other, objects_.get<Image>(call.memory));
    image->context = other.value()->context;
    image->error = other.value()->error;
    memory = other.value()->handle.get();
    image->depth = other.value()->depth + 1;
    image->memory = std::move(other).value();
  }
  if (image->error == CL_SUCCESS && image->depth > kDeepest) image->error = CL_OUT_OF_RESOURCES;
  if (image->error == CL_SUCCESS) {
    make(*image, call.flags & ~kHostPointerFlags, call.description, memory, nullptr);
  }
  // Not all drivers look.
  if (image->handle && bytes_in_memory(call.description, image->element_bytes) > bytes) {
    image->handle.reset();
    image->error = CL_INVALID_IMAGE_DESCRIPTOR;
  }
  if (image->error != CL_SUCCESS) {
    image->pin.reset();
    image->memory.reset();
    image->buffer.reset();
  }
  const wire::StatusReply reply{image->error};
  FAIRGV_CHECK(objects_.insert(call.id, std::move(image)));
  return reply;
}

Result<void> Handlers::handle(const wire::CreateSampler& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  auto sampler = std::make_shared<Sampler>();
  sampler->context = std::move(context).value();
  sampler->error = sampler->context->error;
  if (sampler->error == CL_SUCCESS) {
    sampler->handle = make_sampler(sampler->context->handle.get(), call, sampler->error);
  }
  return objects_.insert(call.id, std::move(sampler));
}

Result<void> Handlers::handle(const wire::CreatePipe& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  auto pipe = std::make_shared<Pipe>();
  pipe->context = std::move(context).value();
  pipe->error = pipe->context->error;
  const Device& first = driver_.devices()[pipe->context->devices.front()];
  if (auto done = charge(*pipe, wire::pipe_bytes(call.packet_bytes, call.max_packets), false); !done)
    return done;
  note_other(*pipe, wire::pipe_bytes(call.packet_bytes, call.max_packets));
  // Older drivers have no such function.
  if (pipe->error == CL_SUCCESS && !driver_.platforms()[first.platform].is_2_0) {
    pipe->error = CL_INVALID_OPERATION;
  }
  if (pipe->error == CL_SUCCESS) {
    pipe->handle = MemoryHandle(clCreatePipe(pipe->context->handle.get(), call.flags, call.packet_bytes,
                                             call.max_packets, nullptr, &pipe->error));
  }
  return objects_.insert(call.id, std::move(pipe));
}

}  // namespace fairgv::vgpu::opencl
