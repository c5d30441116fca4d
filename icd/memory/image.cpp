#include "icd/memory/image.hpp"

#include <algorithm>
#include <cstring>

#include "icd/checks.hpp"
#include "icd/memory/memory_flags.hpp"
#include "runtime/wire/image_format.hpp"

namespace fairgv::icd {
namespace {

/// A number that the device reports; 0 if it reports none.
std::uint64_t limit(Device& device, cl_device_info param) {
  const wire::InfoReply* const reply = device.raw_info(param);
  std::uint64_t value = 0;
  if (reply == nullptr || reply->value.empty()) return 0;
  std::memcpy(&value, reply->value.data(), std::min(sizeof(value), reply->value.size()));
  return value;
}

bool device_has_images(Device& device) {
  const DeviceFacts* const facts = device.facts();
  return facts != nullptr && facts->has_images;
}

bool fits_device(Device& device, const ImageShape& image) {
  if (image.is_array() && image.array_size > limit(device, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE)) return false;
  switch (image.type) {
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      return image.width <= limit(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
    case CL_MEM_OBJECT_IMAGE3D:
      return image.width <= limit(device, CL_DEVICE_IMAGE3D_MAX_WIDTH) &&
             image.height <= limit(device, CL_DEVICE_IMAGE3D_MAX_HEIGHT) &&
             image.depth <= limit(device, CL_DEVICE_IMAGE3D_MAX_DEPTH);
    default:
      return image.width <= limit(device, CL_DEVICE_IMAGE2D_MAX_WIDTH) &&
             image.height <= limit(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  }
}

bool may_allocate(Device& device, std::uint64_t bytes) {
  const DeviceFacts* const facts = device.facts();
  return facts != nullptr && bytes <= facts->max_allocation;
}

/// Whether `predicate(device)` holds for some device of the context.
template <class Predicate>
bool some_device(const Context& context, Predicate&& predicate) {
  const auto devices = context.devices();
  return std::any_of(devices.begin(), devices.end(),
                     [&](Device* device) { return device_has_images(*device) && predicate(*device); });
}

bool has_format(const wire::InfoReply& formats, const cl_image_format& wanted) {
  for (std::size_t at = 0; at + sizeof(wanted) <= formats.value.size(); at += sizeof(wanted)) {
    if (std::memcmp(formats.value.data() + at, &wanted, sizeof(wanted)) == 0) return true;
  }
  return false;
}

/// Whether the driver supports such images (OpenCL 3.0, 5.3.1).
cl_int check_support(Context& context, const ImageShape& shape, cl_mem_flags flags) {
  if (!some_device(context, [&](Device& device) { return fits_device(device, shape); })) {
    return context.session().lost() ? kSessionLost : CL_INVALID_IMAGE_SIZE;
  }
  const wire::InfoReply* const formats =
      context.image_formats(device_access(with_default_access(flags)), shape.type);
  if (formats == nullptr) return kSessionLost;
  if (!has_format(*formats, shape.format)) return CL_IMAGE_FORMAT_NOT_SUPPORTED;
  const auto allows = [&](Device& device) { return may_allocate(device, shape.bytes()); };
  return some_device(context, allows) ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

wire::ImageDescription on_the_wire(const ImageShape& shape) {
  return {.channel_order = shape.format.image_channel_order,
          .channel_type = shape.format.image_channel_data_type,
          .type = shape.type,
          .width = shape.width,
          .height = shape.height,
          .depth = shape.depth,
          .array_size = shape.array_size,
          .row_pitch = 0};
}

/// Puts the application's contents without gaps into memory that the worker can read.
cl_int stage_contents(Context& context, const ImageShape& shape, const void* contents,
                      wire::ArenaRange& range) {
  const HostRegion host = host_box(shape, shape.extent(), shape.layout(), contents);
  const auto staged = context.session().allocate(host.bytes());
  if (!staged) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  gather(host, context.session().bytes(*staged));
  range = *staged;
  return CL_SUCCESS;
}

Outcome<cl_mem> make_own_image(Context& context, ImageRequest request, const ImageShape& shape) {
  if (!are_buffer_flags(request.flags)) return CL_INVALID_VALUE;
  if (const cl_int error = check_support(context, shape, request.flags)) return error;
  const bool uses_host = (request.flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  if (uses_host != (request.host_pointer != nullptr)) return CL_INVALID_HOST_PTR;
  if (context.session().lost()) return kSessionLost;

  const wire::ImageDescription description = on_the_wire(shape);
  MemoryReservation reservation;
  if (const cl_int error = context.reserve_memory(wire::image_bytes(description), reservation)) return error;
  wire::ArenaRange initial;
  if (uses_host) {
    if (const cl_int error = stage_contents(context, shape, request.host_pointer, initial)) return error;
  }
  const bool keeps_host = (request.flags & CL_MEM_USE_HOST_PTR) != 0;
  const cl_mem_flags flags = with_default_access(request.flags);
  const wire::ObjectId id = context.session().new_object();
  reservation.hand_over();
  context.connection().send(wire::CreateImage{id, context.id(), device_access(flags), description, initial});
  if (uses_host) context.session().free_when_consumed(initial);
  auto* const kept = keeps_host ? static_cast<std::byte*>(request.host_pointer) : nullptr;
  Memory::Shape memory{flags, shape.bytes(), kept, std::move(request.properties), shape};
  return Ref<Memory>::make(context, id, Ref<Memory>(), std::move(memory)).publish();
}

Outcome<cl_mem> make_shared_image(Context& context, ImageRequest request, const ImageShape& shape) {
  Memory* const owner = downcast<Memory>(request.description->buffer);
  if (owner == nullptr || owner->pipe() != nullptr || &owner->context() != &context) {
    return CL_INVALID_IMAGE_DESCRIPTOR;
  }
  if (!are_sub_buffer_flags(request.flags, owner->flags())) return CL_INVALID_VALUE;
  if (request.host_pointer != nullptr) return CL_INVALID_HOST_PTR;
  const cl_mem_flags flags = inherited_flags(request.flags, owner->flags());
  wire::ImageDescription description = on_the_wire(shape);
  description.row_pitch = request.description->image_row_pitch;
  const wire::ObjectId id = context.session().new_object();
  const auto reply = context.connection().call(
      wire::CreateImageFromMemory{id, owner->id(), device_access(flags), description});
  // From here on the object releases the id, whether the driver made the image or not.
  Memory::Shape memory{flags, shape.bytes(), owner->host_pointer(), std::move(request.properties), shape};
  const auto image = Ref<Memory>::make(context, id, Ref<Memory>(*owner), std::move(memory));
  if (!reply) return kSessionLost;
  if (reply->error != CL_SUCCESS) return reply->error;
  return image.publish();
}

}  // namespace

bool has_images(const Context& context) {
  return some_device(context, [](Device&) { return true; });
}

Outcome<cl_mem> make_image(Context& context, ImageRequest request) {
  ImageShape shape;
  if (const cl_int error = describe_image(request.format, request.description, shape)) return error;
  if (!has_images(context)) return context.session().lost() ? kSessionLost : CL_INVALID_OPERATION;
  const bool is_shared = request.description->buffer != nullptr || shape.type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  return is_shared ? make_shared_image(context, std::move(request), shape)
                   : make_own_image(context, std::move(request), shape);
}

cl_int check_image(const Queue& queue, const Memory* memory) {
  if (memory == nullptr || memory->image() == nullptr) return CL_INVALID_MEM_OBJECT;
  if (const cl_int error = check_memory(queue, memory)) return error;
  // A context's only device has every image of the context.
  if (queue.context().devices().size() == 1) return CL_SUCCESS;
  if (!device_has_images(queue.device())) return CL_INVALID_OPERATION;
  return fits_device(queue.device(), *memory->image()) ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE;
}

cl_int read_box(const ImageShape& image, const size_t* origin, const size_t* region, ImageBox& box) {
  if (origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
  box = {{origin[0], origin[1], origin[2]}, {region[0], region[1], region[2]}};
  return image.has_box(box) ? CL_SUCCESS : CL_INVALID_VALUE;
}

}  // namespace fairgv::icd
