#include "icd/transfer/image_transfers.hpp"

#include <algorithm>

#include "runtime/base/page.hpp"

namespace fairgv::icd {
namespace {

/// Pitches as commands take them; 0 where the image has none.
struct Pitches {
  std::uint64_t row = 0;
  std::uint64_t slice = 0;
};

constexpr Pitches kNoGaps;

/// The image's own pitches. Drivers disagree on which of the two separates the images of an array of 1D
/// images, so both do.
Pitches pitches_of(const ImageShape& image) {
  const std::uint64_t row = image.layout().row_pitch;
  return {row, image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? row : image.slice_pitch};
}

/// Sends a transfer. Each has an event, because its staging waits for it: the application's if it wants one.
template <class Call>
cl_int send(const TransferRequest& request, Call call, Ref<Event>& completion) {
  completion = request.event != nullptr ? Event::make_command(request.queue, request.type)
                                        : Event::make_internal(request.queue.connection());
  if (!completion) return CL_OUT_OF_RESOURCES;
  return send_command(request.queue, call, request.wait_list.ids(), completion.get());
}

cl_int send_read(const TransferRequest& request, const Memory& image, const ImageBox& box, Pitches pitches,
                 wire::ArenaRange to, Ref<Event>& completion) {
  const wire::EnqueueReadImage call{{}, image.id(), box.origin, box.region, pitches.row, pitches.slice, to};
  return send(request, call, completion);
}

cl_int send_write(const TransferRequest& request, const Memory& image, const ImageBox& box, Pitches pitches,
                  wire::ArenaRange from, Ref<Event>& completion) {
  const wire::EnqueueWriteImage call{{},          image.id(),    box.origin, box.region,
                                     pitches.row, pitches.slice, from};
  return send(request, call, completion);
}

/// After the transfer was sent: waits for it if the call blocks, and gives the application its event.
cl_int finish(const TransferRequest& request, const Ref<Event>& completion) {
  cl_int result = CL_SUCCESS;
  if (request.blocking)
    result = blocking_result(request.queue, request.wait_list, completion->wait(request.type));
  if (request.event != nullptr && result == CL_SUCCESS) *request.event = completion.publish();
  return result;
}

/// A write whose data already lies in staging.
cl_int write_staged(const TransferRequest& request, const Memory& image, const ImageBox& box, Pitches pitches,
                    const StagedSource& source) {
  Ref<Event> written;
  if (const cl_int error = send_write(request, image, box, pitches, source.range, written)) return error;
  request.queue.connection().transfers().keep_until_ended(written, source.staging);
  return finish(request, written);
}

/// A command that only takes its place among the commands: it reads the box's first element.
cl_int send_touch(const TransferRequest& request, const Memory& image, const ImageBox& box,
                  const StagingRef& staging, Ref<Event>& completion) {
  const ImageBox first{box.origin, {1, 1, 1}};
  const wire::ArenaRange to = staging->part(0, image.image()->element_bytes);
  if (const cl_int error = send_read(request, image, first, kNoGaps, to, completion)) return error;
  request.queue.connection().transfers().keep_until_ended(completion, staging);
  return CL_SUCCESS;
}

/// The application's memory that stands for a box, with CL_MEM_USE_HOST_PTR.
HostRegion host_of(const Memory& memory, const ImageBox& box) {
  const ImageShape& image = *memory.image();
  const RectLayout layout = image.layout();
  const wire::Extent3 first{box.origin.x * image.element_bytes, box.origin.y, box.origin.z};
  return host_box(image, box.region, layout, memory.host_pointer() + rect_offset(first, layout));
}

/// Fills a new mapping with the box's contents.
cl_int send_contents(const TransferRequest& request, const Memory& image, const MappedRegion& mapping,
                     Ref<Event>& completion) {
  Transfers& transfers = request.queue.connection().transfers();
  const bool to_host = image.host_pointer() != nullptr;
  const Pitches pitches = to_host ? kNoGaps : pitches_of(*image.image());
  const wire::ArenaRange range = mapping.staging->range();
  if (const cl_int error = send_read(request, image, mapping.box, pitches, range, completion)) return error;
  if (to_host) {
    transfers.deliver(completion, mapping.staging, 0, host_of(image, mapping.box));
  } else {
    transfers.keep_until_ended(completion, mapping.staging);
  }
  return CL_SUCCESS;
}

}  // namespace

cl_int read_image_box(const TransferRequest& request, const Memory& image, const ImageBox& box,
                      const HostRegion& to) {
  Transfers& transfers = request.queue.connection().transfers();
  const StagingRef staging = transfers.allocate(to.bytes());
  if (!staging) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  Ref<Event> completion;
  if (const cl_int error = send_read(request, image, box, kNoGaps, staging->range(), completion))
    return error;
  transfers.deliver(completion, staging, 0, to);
  return finish(request, completion);
}

cl_int write_image_box(const TransferRequest& request, const Memory& image, const ImageBox& box,
                       const HostRegion& from) {
  Transfers& transfers = request.queue.connection().transfers();
  if (const auto source = transfers.find_source(from)) {
    return write_staged(request, image, box, kNoGaps, *source);
  }
  const StagingRef staging = transfers.allocate(from.bytes());
  if (!staging) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  gather(from, staging->data());
  return write_staged(request, image, box, kNoGaps, {staging, staging->range()});
}

Outcome<void*> map_image_box(const TransferRequest& request, Memory& image, cl_map_flags flags,
                             const ImageBox& box) {
  const ImageShape& shape = *image.image();
  const HostRegion layout = host_box(shape, box.region, shape.layout(), nullptr);
  // At least a page, which begins at a page: mapped pointers are aligned for any type.
  const StagingRef staging =
      request.queue.connection().transfers().allocate(std::max(layout.span(), kPageBytes));
  if (!staging) return CL_MAP_FAILURE;
  MappedRegion mapping;
  mapping.pointer = image.host_pointer() != nullptr ? host_of(image, box).address : staging->data();
  mapping.written = (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
  mapping.staging = staging;
  mapping.box = box;
  Ref<Event> completion;
  const bool invalidates = (flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0;
  const cl_int error = invalidates ? send_touch(request, image, box, staging, completion)
                                   : send_contents(request, image, mapping, completion);
  if (error != CL_SUCCESS) return error;
  void* const pointer = mapping.pointer;
  image.add_mapping(std::move(mapping));
  if (const cl_int failure = finish(request, completion)) {
    image.take_mapping(pointer);
    return failure;
  }
  return pointer;
}

cl_int unmap_image_box(const TransferRequest& request, Memory& image, const void* pointer) {
  const auto mapping = image.take_mapping(pointer);
  if (!mapping) return CL_INVALID_VALUE;
  if (mapping->written && image.host_pointer() != nullptr) {
    return write_image_box(request, image, mapping->box, host_of(image, mapping->box));
  }
  if (mapping->written) {
    return write_staged(request, image, mapping->box, pitches_of(*image.image()),
                        {mapping->staging, mapping->staging->range()});
  }
  Ref<Event> completion;
  if (const cl_int error = send_touch(request, image, mapping->box, mapping->staging, completion))
    return error;
  return finish(request, completion);
}

}  // namespace fairgv::icd
