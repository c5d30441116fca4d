#include "icd/transfer/transfer_commands.hpp"
#include "runtime/base/page.hpp"

#include <algorithm>
#include <vector>

namespace fairgv::icd {
namespace {

/// Long transfers are sent in parts of this size, so that copying on the host and on the device overlap.
constexpr std::uint64_t kPartBytes = std::uint64_t{8} << 20;
/// From this size on a copy takes longer than waiting until an idle queue grants the access.
constexpr std::uint64_t kWorthWaitingBytes = std::uint64_t{256} << 10;

/// The commands of one transfer, sent part by part. Each part waits for the one before it, so that the last
/// ends when all have and fails when one has.
class Parts {
 public:
  explicit Parts(const TransferRequest& request) : request_(request) {}

  /// Sends the next part. Each has an event: staging waits for it.
  template <class Call>
  cl_int send(Call& call, bool last) {
    Ref<Event> completion = last && request_.event != nullptr
                                ? Event::make_command(request_.queue, request_.type)
                                : Event::make_internal(request_.queue.connection());
    if (!completion) return CL_OUT_OF_RESOURCES;
    const wire::EventId before = latest_ ? latest_->id() : wire::EventId{};
    const auto wait_list = latest_ ? std::span<const wire::EventId>(&before, 1) : request_.wait_list.ids();
    const cl_int error = send_command(request_.queue, call, wait_list, completion.get());
    if (error != CL_SUCCESS) return error;
    if (!first_) first_ = completion;
    if (request_.blocking) waited_.push_back(completion);
    latest_ = std::move(completion);
    return CL_SUCCESS;
  }

  const Ref<Event>& latest() const { return latest_; }

  /// After the last part: gives the application its event, and waits if the call blocks.
  cl_int finish() {
    if (request_.event != nullptr && first_.get() != latest_.get()) latest_->set_first_part(first_);
    cl_int result = CL_SUCCESS;
    // Part by part: while one is copied to the application's memory, the device works on the next.
    for (const Ref<Event>& part : waited_) {
      const cl_int ended = blocking_result(request_.queue, request_.wait_list, part->wait(request_.type));
      if (result == CL_SUCCESS) result = ended;
    }
    if (request_.event != nullptr && result == CL_SUCCESS) *request_.event = latest_.publish();
    return result;
  }

 private:
  const TransferRequest& request_;
  Ref<Event> first_;
  Ref<Event> latest_;
  std::vector<Ref<Event>> waited_;  // of a blocking call: all parts
};

/// Bytes per part: only a transfer without gaps on either side is split.
std::uint64_t part_bytes(const BufferRegion& buffer, const HostRegion& host) {
  return buffer.is_rect || !host.is_flat() ? buffer.region.x * buffer.region.y * buffer.region.z : kPartBytes;
}

cl_int send_read(Parts& parts, const BufferRegion& from, std::uint64_t done, wire::ArenaRange to, bool last) {
  if (from.is_rect) {
    wire::EnqueueReadBufferRect call{.command = {},
                                     .buffer = from.memory.id(),
                                     .origin = from.origin,
                                     .region = from.region,
                                     .row_pitch = from.layout.row_pitch,
                                     .slice_pitch = from.layout.slice_pitch,
                                     .to = to};
    return parts.send(call, last);
  }
  wire::EnqueueReadBuffer call{
      .command = {}, .buffer = from.memory.id(), .offset = from.origin.x + done, .to = to};
  return parts.send(call, last);
}

cl_int send_write(Parts& parts, const BufferRegion& to, std::uint64_t done, wire::ArenaRange from,
                  bool last) {
  if (to.is_rect) {
    wire::EnqueueWriteBufferRect call{.command = {},
                                      .buffer = to.memory.id(),
                                      .origin = to.origin,
                                      .region = to.region,
                                      .row_pitch = to.layout.row_pitch,
                                      .slice_pitch = to.layout.slice_pitch,
                                      .from = from};
    return parts.send(call, last);
  }
  wire::EnqueueWriteBuffer call{
      .command = {}, .buffer = to.memory.id(), .offset = to.origin.x + done, .from = from};
  return parts.send(call, last);
}

HostRegion part_of(const HostRegion& host, std::uint64_t done, std::uint64_t bytes, std::uint64_t all) {
  return bytes == all ? host : HostRegion::flat(host.address + done, bytes);
}

/// A write whose data already lies in staging.
cl_int write_staged(const TransferRequest& request, const BufferRegion& to, const StagedSource& source) {
  Parts parts(request);
  const cl_int error = send_write(parts, to, 0, source.range, true);
  if (error != CL_SUCCESS) return error;
  request.queue.connection().transfers().keep_until_ended(parts.latest(), source.staging);
  return parts.finish();
}

/// A command that only takes its place among the commands: it reads the region's first byte into staging. A
/// marker will not do, because in an out-of-order queue it would wait for everything before it.
cl_int send_touch(Parts& parts, const BufferRegion& region, const Staging& staging) {
  return send_read(parts, region, 0, staging.part(0, 1), true);
}

/// Whether the front end may do the work of the command by itself. It may not if the application can ask for
/// the times, which only the driver measures.
bool is_direct(const TransferRequest& request, const Memory& memory) {
  return memory.direct_data() != nullptr && !(request.event != nullptr && request.queue.has_profiling());
}

/// Whether a command on direct memory may run at once: the queue has nothing to wait for, and no event
/// reports the end.
bool may_pass_now(const TransferRequest& request) {
  return request.event == nullptr && request.wait_list.ids().empty() && request.queue.is_idle() &&
         !request.queue.connection().session().lost();
}

/// The ways to do a read or write of a buffer.
enum class Route {
  plain_copy,    // at once, by the calling thread
  copy_in_turn,  // by the calling thread, once the command's turn has come
  command,       // by the driver, through staging
};

/// With direct memory, the calling thread may copy by itself. At once if the command may pass now: the
/// application could have made that copy after a map. In its turn if the call blocks, and also if the copy is
/// large and there is nothing to wait for: such data is copied here once in any case, into staging or out of
/// it, and with an idle queue that copy can be the only one. But not while a user event is open: another
/// thread's command, before ours in the same queue, may wait for that event.
Route route_of(const TransferRequest& request, const Memory& memory, std::uint64_t bytes) {
  if (!is_direct(request, memory)) return Route::command;
  if (may_pass_now(request)) return Route::plain_copy;
  if (request.blocking) return Route::copy_in_turn;
  const bool worth_waiting =
      bytes >= kWorthWaitingBytes && request.wait_list.ids().empty() && request.queue.is_idle();
  const bool may_wait = !request.queue.connection().has_open_user_events();
  return worth_waiting && may_wait ? Route::copy_in_turn : Route::command;
}

/// A command on direct memory, done by this thread: `copy()` once the command's turn has come.
template <class Copy>
cl_int access(const TransferRequest& request, const BufferRegion& region, Copy copy) {
  const Ref<Memory> memory(region.memory);  // the application may release it meanwhile
  Connection& connection = request.queue.connection();
  const Ref<Event> event = request.event != nullptr ? Event::make_command(request.queue, request.type)
                                                    : Event::make_internal(connection);
  if (!event) return CL_OUT_OF_RESOURCES;
  const std::uint64_t before = request.queue.commands();
  wire::EnqueueAccess call{.command = {}, .buffer = memory->id()};
  const cl_int error = send_command(request.queue, call, request.wait_list.ids(), event.get());
  if (error != CL_SUCCESS) return error;
  const std::int32_t granted = connection.session().wait_for_grant(event->id(), request.type);
  connection.settle();  // earlier reads and output of kernels arrive first
  if (granted != CL_RUNNING)
    return blocking_result(request.queue, request.wait_list, event->wait(request.type));
  copy();
  if (!connection.send(wire::EndAccess{event->id()})) return kSessionLost;
  connection.session().events().set(event->id(), CL_COMPLETE);
  request.queue.note_ended(before);
  if (request.event != nullptr) *request.event = event.publish();
  return CL_SUCCESS;
}

/// A read or write that does not take Route::command.
template <class Copy>
cl_int copy_here(Route route, const TransferRequest& request, const BufferRegion& region, Copy copy) {
  if (route == Route::copy_in_turn) return access(request, region, copy);
  request.queue.connection().transfers().settle();  // earlier reads reach their destinations first
  copy();
  return CL_SUCCESS;
}

/// The buffer's side of a region on direct memory.
HostRegion direct_region(const BufferRegion& region) {
  return {region.memory.direct_data() + rect_offset(region.origin, region.layout), region.region,
          region.layout.row_pitch, region.layout.slice_pitch};
}

/// The host's side of a transfer if it is shared virtual memory. Commands before and after this one may use
/// that memory, so nothing may be copied there outside of the command's turn, and the driver does it all.
/// Only memory without gaps, and not of the allocation that the buffer itself lies in: no driver is asked to
/// copy between two views of the same bytes.
std::optional<wire::ArenaRange> shared_range(const BufferRegion& buffer, const HostRegion& host) {
  if (!host.is_flat()) return std::nullopt;
  const auto place = buffer.memory.context().svm().find(host.address);
  if (!place || place.memory.get() == &buffer.memory.allocation()) return std::nullopt;
  return buffer.memory.context().svm().range(host.address, host.bytes());
}

/// Staging for the next part of a read, or null. If the arena is full, earlier parts make room when they
/// arrive, unless they may wait for an action of the program.
StagingRef staging_for_read(const TransferRequest& request, const Parts& parts, std::uint64_t bytes) {
  Connection& connection = request.queue.connection();
  StagingRef staging = connection.transfers().allocate(bytes);
  if (staging || !parts.latest() || connection.has_open_user_events()) return staging;
  connection.wait(parts.latest()->id(), request.type);
  return connection.transfers().allocate(bytes);
}

/// The command of a map or unmap that moves no data.
cl_int send_pass(const TransferRequest& request, const BufferRegion& region) {
  Parts parts(request);
  if (is_direct(request, region.memory)) {
    if (may_pass_now(request)) return CL_SUCCESS;
    wire::EnqueueNothing call;
    if (const cl_int error = parts.send(call, true)) return error;
    return parts.finish();
  }
  Transfers& transfers = request.queue.connection().transfers();
  const StagingRef staging = transfers.allocate(1);
  if (!staging) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  if (const cl_int error = send_touch(parts, region, *staging)) return error;
  transfers.keep_until_ended(parts.latest(), staging);
  return parts.finish();
}

/// The mapped pointer leads into the buffer itself.
Outcome<void*> map_direct(const TransferRequest& request, Memory& memory, std::uint64_t offset,
                          std::uint64_t bytes) {
  std::byte* const pointer = memory.direct_data() + offset;
  memory.add_mapping({pointer, offset, bytes, false, nullptr});
  if (const cl_int error = send_pass(request, BufferRegion::flat(memory, offset, bytes))) {
    memory.take_mapping(pointer);
    return error;
  }
  return static_cast<void*>(pointer);
}

}  // namespace

cl_int read_region(const TransferRequest& request, const BufferRegion& from, const HostRegion& to) {
  if (const Route route = route_of(request, from.memory, to.bytes()); route != Route::command) {
    return copy_here(route, request, from, [&] { copy_region(direct_region(from), to); });
  }
  if (const auto shared = shared_range(from, to)) {
    Parts parts(request);
    const cl_int error = send_read(parts, from, 0, *shared, true);
    return error != CL_SUCCESS ? error : parts.finish();
  }
  Transfers& transfers = request.queue.connection().transfers();
  const std::uint64_t all = to.bytes();
  const std::uint64_t step = part_bytes(from, to);
  Parts parts(request);
  for (std::uint64_t done = 0; done < all; done += step) {
    const std::uint64_t bytes = std::min(step, all - done);
    const StagingRef staging = staging_for_read(request, parts, bytes);
    if (!staging) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    const cl_int error = send_read(parts, from, done, staging->part(0, bytes), done + bytes == all);
    if (error != CL_SUCCESS) return error;
    transfers.deliver(parts.latest(), staging, 0, part_of(to, done, bytes, all));
  }
  return parts.finish();
}

cl_int write_region(const TransferRequest& request, const BufferRegion& to, const HostRegion& from) {
  Transfers& transfers = request.queue.connection().transfers();
  if (const auto source = transfers.find_source(from)) return write_staged(request, to, *source);
  if (const Route route = route_of(request, to.memory, from.bytes()); route != Route::command) {
    return copy_here(route, request, to, [&] { copy_region(from, direct_region(to)); });
  }
  if (const auto shared = shared_range(to, from)) {
    Parts parts(request);
    const cl_int error = send_write(parts, to, 0, *shared, true);
    return error != CL_SUCCESS ? error : parts.finish();
  }
  const std::uint64_t all = from.bytes();
  const std::uint64_t step = part_bytes(to, from);
  Parts parts(request);
  for (std::uint64_t done = 0; done < all; done += step) {
    const std::uint64_t bytes = std::min(step, all - done);
    StagingRef staging = transfers.allocate(bytes);
    if (!staging) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    gather(part_of(from, done, bytes, all), staging->data());
    const cl_int error = send_write(parts, to, done, staging->range(), done + bytes == all);
    if (error != CL_SUCCESS) return error;
    transfers.keep_until_ended(parts.latest(), std::move(staging));
  }
  return parts.finish();
}

cl_int pass_empty(const TransferRequest& request, Memory& memory) {
  Queue& queue = request.queue;
  const wire::CheckEmptyCommand question{queue.id(), memory.id(), request.type};
  if (const cl_int error = queue.device().ask_for_empty_commands(question, queue.connection())) return error;
  return send_pass(request, BufferRegion::flat(memory, 0, 1));
}

Outcome<void*> map_region(const TransferRequest& request, Memory& memory, cl_map_flags flags,
                          std::uint64_t offset, std::uint64_t bytes) {
  const bool stays_in_place =
      memory.host_pointer() == nullptr || memory.host_pointer() == memory.direct_data();
  if (memory.direct_data() != nullptr && stays_in_place) {
    return map_direct(request, memory, offset, bytes);
  }
  Transfers& transfers = request.queue.connection().transfers();
  // Staging of a page or more begins at a page: mapped pointers are aligned for any type.
  const StagingRef staging = transfers.allocate(std::max(bytes, kPageBytes));
  if (!staging) return CL_MAP_FAILURE;
  std::byte* const host = memory.host_pointer() != nullptr ? memory.host_pointer() + offset : nullptr;
  void* const pointer = host != nullptr ? host : staging->data();
  const BufferRegion region = BufferRegion::flat(memory, offset, bytes);
  Parts parts(request);
  if ((flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0) {
    if (const cl_int error = send_touch(parts, region, *staging)) return error;
    transfers.keep_until_ended(parts.latest(), staging);
  } else {
    if (const cl_int error = send_read(parts, region, 0, staging->part(0, bytes), true)) return error;
    if (host != nullptr) {
      transfers.deliver(parts.latest(), staging, 0, HostRegion::flat(host, bytes));
    } else {
      transfers.keep_until_ended(parts.latest(), staging);
    }
  }
  const bool written = (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
  memory.add_mapping({pointer, offset, bytes, written, staging});
  if (const cl_int error = parts.finish()) {
    memory.take_mapping(pointer);
    return error;
  }
  return pointer;
}

cl_int unmap_region(const TransferRequest& request, Memory& memory, const void* pointer) {
  auto mapping = memory.take_mapping(pointer);
  if (!mapping) return CL_INVALID_VALUE;
  const BufferRegion region = BufferRegion::flat(memory, mapping->offset, mapping->bytes);
  if (!mapping->staging) return send_pass(request, region);
  const bool from_host = memory.host_pointer() != nullptr;
  if (mapping->written && from_host) {
    return write_region(request, region, HostRegion::flat(pointer, mapping->bytes));
  }
  if (mapping->written) {
    return write_staged(request, region, {mapping->staging, mapping->staging->part(0, mapping->bytes)});
  }
  Parts parts(request);
  if (const cl_int error = send_touch(parts, region, *mapping->staging)) return error;
  request.queue.connection().transfers().keep_until_ended(parts.latest(), mapping->staging);
  return parts.finish();
}

}  // namespace fairgv::icd
