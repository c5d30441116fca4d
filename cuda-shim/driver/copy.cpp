// Copies and fills, sent to the worker. Pageable memory is staged in the arena, in pieces; pinned memory is
// part of the arena, and copied directly.
#include "cuda-shim/api/memory/copy.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "cuda-shim/driver/memory/registered.hpp"
#include "cuda-shim/driver/pieces.hpp"
#include "cuda-shim/driver/scheduler.hpp"
#include "cuda-shim/driver/staging.hpp"
#include "cuda-shim/driver/storage.hpp"

namespace fairgv::cuda::remote {
namespace {

/// Whether the worker can reach the memory by itself.
bool is_workers(const Place& place) {
  return place.array != nullptr || (place.allocation && place.allocation->kind != MemoryKind::registered);
}

wire::cuda::Place on_the_wire(const Place& place, const Extent& extent) {
  wire::cuda::Place sent;
  if (place.array) {
    sent.space = wire::cuda::Space::array;
    sent.address = id_of(*place.array).raw;
    sent.x = place.x;
    sent.y = place.y;
    sent.z = place.z;
    return sent;
  }
  const Allocation& allocation = *place.allocation;
  if (is_pinned(allocation)) {
    sent.space = wire::cuda::Space::arena;
    sent.address = storage_of(allocation).pinned().offset + (place.address - allocation.begin);
  } else {
    sent.address = place.address;
  }
  // A pitch has no meaning for one row, and a program may have given any.
  const bool one_row = extent.height == 1 && extent.depth == 1;
  sent.pitch = one_row || place.pitch == 0 ? extent.width : place.pitch;
  sent.rows = one_row || place.slice == 0 ? extent.height : place.slice / sent.pitch;
  return sent;
}

wire::cuda::Place staged(wire::ArenaRange range, const Extent& extent) {
  wire::cuda::Place sent;
  sent.space = wire::cuda::Space::arena;
  sent.address = range.offset;
  sent.pitch = extent.width;
  sent.rows = extent.height;
  return sent;
}

/// The same side, from a piece on.
Place from_piece(const Place& place, const Piece& piece) {
  Place moved = place;
  if (place.array) {
    moved.x += piece.x;
    moved.y += piece.y;
    moved.z += piece.z;
  } else {
    moved.address += piece.z * place.slice + piece.y * place.pitch + piece.x;
  }
  return moved;
}

Place at_host(std::byte* bytes, const Extent& extent) {
  Place place;
  place.address = reinterpret_cast<std::uint64_t>(bytes);
  place.pitch = extent.width;
  place.slice = extent.width * extent.height;
  return place;
}

/// Sends a copy; with `ended`, also returns its end.
CUresult send_copy(Connection& connection, Stream& stream, const wire::cuda::Place& to,
                   const wire::cuda::Place& from, const Extent& extent, std::shared_ptr<Operation>* ended) {
  wire::EventId event;
  std::shared_ptr<Operation> operation;
  if (ended != nullptr) {
    event = connection.new_event();
    operation = std::make_shared<Operation>(connection, event);
  }
  wire::cuda::Copy call{stream.command(event), from, to, {extent.width, extent.height, extent.depth}};
  const std::uint64_t held = stream.held();
  const CUresult code = connection.enqueue(call);
  if (code != CUDA_SUCCESS) return code;
  if (ended == nullptr) {
    stream.note_command();
  } else {
    stream.note_command(operation, held);
    *ended = std::move(operation);
  }
  return CUDA_SUCCESS;
}

/// Returns when the memory has been read, so that the program may use it again.
CUresult upload(Connection& connection, StagingPool& staging, Stream& stream, const Place& to,
                const Place& from, const Extent& extent) {
  return for_each_piece(extent, StagingPool::kPiece, [&](const Piece& piece) {
    const auto range = staging.take(bytes_of(piece.extent));
    if (!range) return CUDA_ERROR_OUT_OF_MEMORY;
    move_bytes(at_host(connection.session().bytes(*range), piece.extent), from_piece(from, piece),
               piece.extent);
    std::shared_ptr<Operation> copied;
    const CUresult code = send_copy(connection, stream, on_the_wire(from_piece(to, piece), piece.extent),
                                    staged(*range, piece.extent), piece.extent, &copied);
    if (code == CUDA_SUCCESS) {
      staging.give_back_after(std::move(copied), *range);
    } else {
      staging.give_back(*range);
    }
    return code;
  });
}

/// Pieces of a download that are under way, the oldest first.
class Arrivals {
 public:
  Arrivals(Connection& connection, StagingPool& staging, const Place& to)
      : connection_(connection), staging_(staging), to_(to) {}
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;
  ~Arrivals() {
    // After a failure: the worker may still write there.
    for (Arrival& arrival : under_way_) staging_.give_back_after(arrival.copied, arrival.range);
  }

  bool many() const { return under_way_.size() >= kAtOnce; }
  bool any() const { return !under_way_.empty(); }
  void expect(std::shared_ptr<Operation> copied, wire::ArenaRange range, const Piece& piece) {
    under_way_.push_back({std::move(copied), range, piece});
  }
  /// Waits for the oldest piece and copies it to its destination.
  CUresult receive() {
    const Arrival& arrival = under_way_.front();
    arrival.copied->wait();
    // A late failure of other work is returned, but does not affect the data that has arrived.
    const CUresult code = arrival.copied->result();
    if (arrival.copied->ended_well()) {
      move_bytes(from_piece(to_, arrival.piece),
                 at_host(connection_.session().bytes(arrival.range), arrival.piece.extent),
                 arrival.piece.extent);
    }
    staging_.give_back(arrival.range);
    under_way_.pop_front();
    return code;
  }

 private:
  static constexpr std::size_t kAtOnce = 4;

  struct Arrival {
    std::shared_ptr<Operation> copied;
    wire::ArenaRange range;
    Piece piece;
  };
  Connection& connection_;
  StagingPool& staging_;
  const Place& to_;
  std::deque<Arrival> under_way_;
};

CUresult download(Connection& connection, StagingPool& staging, Stream& stream, const Place& to,
                  const Place& from, const Extent& extent) {
  Arrivals arrivals(connection, staging, to);
  const CUresult sent = for_each_piece(extent, StagingPool::kPiece, [&](const Piece& piece) {
    if (arrivals.many()) {
      if (const CUresult code = arrivals.receive(); code != CUDA_SUCCESS) return code;
    }
    const auto range = staging.take(bytes_of(piece.extent));
    if (!range) return CUDA_ERROR_OUT_OF_MEMORY;
    std::shared_ptr<Operation> copied;
    const CUresult code =
        send_copy(connection, stream, staged(*range, piece.extent),
                  on_the_wire(from_piece(from, piece), piece.extent), piece.extent, &copied);
    if (code == CUDA_SUCCESS) {
      arrivals.expect(std::move(copied), *range, piece);
    } else {
      staging.give_back(*range);
    }
    return code;
  });
  if (sent != CUDA_SUCCESS) return sent;
  while (arrivals.any()) {
    if (const CUresult code = arrivals.receive(); code != CUDA_SUCCESS) return code;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult Scheduler::copy(const std::shared_ptr<cuda::Stream>& to_stream, const Place& to_place,
                         const Place& from_place, const Extent& extent, bool async) {
  if (is_empty(extent)) return CUDA_SUCCESS;
  Place to = to_place;
  Place from = from_place;
  for (Place* const place : {&to, &from}) {
    const CUresult code = settle_registered(*this, to_stream, extent, *place);
    if (code != CUDA_SUCCESS) return code;
  }
  if (!is_workers(to) && !is_workers(from)) {
    const CUresult code = synchronize(to_stream);
    if (code == CUDA_SUCCESS) move_bytes(to, from, extent);
    return code;
  }
  Stream& stream = workers(to_stream);
  if (!is_workers(from)) return upload(connection_, staging_, stream, to, from, extent);
  if (!is_workers(to)) return download(connection_, staging_, stream, to, from, extent);
  const bool between_devices = to.side == Side::device && from.side == Side::device;
  const bool waits = !async && !between_devices;
  std::shared_ptr<Operation> copied;
  const CUresult code = send_copy(connection_, stream, on_the_wire(to, extent), on_the_wire(from, extent),
                                  extent, waits ? &copied : nullptr);
  if (code != CUDA_SUCCESS || !waits) return code;
  copied->wait();
  return copied->result();
}

namespace {

/// Registered memory is the program's own; the worker does not see it.
void fill_here(const Fill& fill) {
  for (std::size_t y = 0; y < fill.rows; ++y) {
    auto* const row = reinterpret_cast<std::byte*>(fill.address + y * fill.pitch);
    // The bytes of an element come first in its value: the machine is little-endian.
    for (std::size_t at = 0; at < fill.count; ++at)
      std::memcpy(row + at * fill.element, &fill.value, fill.element);
  }
}

}  // namespace

CUresult Scheduler::fill(const std::shared_ptr<cuda::Stream>& to, const Fill& fill,
                         const Allocation& allocation) {
  const auto mapped = mapped_for(*to, &allocation);
  if (allocation.kind == MemoryKind::registered && !mapped) {
    const CUresult code = synchronize(to);
    if (code == CUDA_SUCCESS) fill_here(fill);
    return code;
  }
  Stream& stream = workers(to);
  wire::cuda::Fill call;
  call.command = stream.command();
  call.address = (mapped ? *mapped : allocation).begin_on_device + (fill.address - allocation.begin);
  call.pitch = fill.rows > 1 ? fill.pitch : fill.count * fill.element;
  call.width = fill.count;
  call.rows = fill.rows;
  call.element_bytes = static_cast<std::uint32_t>(fill.element);
  call.value = fill.value;
  const CUresult code = connection_.enqueue(call);
  if (code == CUDA_SUCCESS) stream.note_command();
  return code;
}

void Scheduler::free_in_order(const std::shared_ptr<cuda::Stream>& to,
                              const std::shared_ptr<Allocation>& allocation, std::function<void()> forget) {
  if (is_pinned(*allocation)) {
    synchronize(to);  // the worker unpins at once
  } else {
    Stream& stream = workers(to);
    wire::cuda::EnqueueFreeMemory call;
    call.command = stream.command();
    call.address = storage_of(*allocation).address();
    connection_.note_free();
    connection_.enqueue(call);
    stream.note_command();
    storage_of(*allocation).disown();
  }
  forget();
}

}  // namespace fairgv::cuda::remote
