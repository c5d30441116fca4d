#include "cuda-shim/driver/memory/mirrors.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda-shim/api/memory/program_pages.hpp"
#include "cuda-shim/driver/connection.hpp"
#include "cuda-shim/driver/scheduler.hpp"
#include "runtime/session/client/standard_error.hpp"
#include "runtime/wire/cuda_calls.hpp"

namespace fairgv::cuda::remote {
namespace {

/// Calls visit(begin, end) for the pieces of `size` bytes, until one is refused.
template <typename Visit>
bool for_pieces(std::uint64_t size, std::uint64_t piece, const Visit& visit) {
  for (std::uint64_t begin = 0; begin < size; begin += piece) {
    if (!visit(begin, std::min(begin + piece, size))) return false;
  }
  return true;
}

}  // namespace

Mirrors::~Mirrors() {
  for (const Mirror& mirror : mirrors_) connection_.session().free(mirror.staged);
}

CUresult Mirrors::add(const std::shared_ptr<StreamGroup>& group, const Mirrored& range) {
  const std::lock_guard guard(lock_);
  const auto is_it = [&range](const Mirror& mirror) { return mirror.range.device == range.device; };
  if (std::ranges::any_of(mirrors_, is_it)) return CUDA_SUCCESS;
  Mirror added;
  added.range = range;
  added.stream = std::make_shared<Stream>(group, StreamKind::independent, 0U, group->least_priority(), 0U);
  added.known.resize(range.size);
  mirrors_.reserve(mirrors_.size() + 1);
  const auto staged = connection_.session().allocate(std::min(range.size, kPiece));
  if (!staged) return CUDA_ERROR_OUT_OF_MEMORY;
  added.staged = *staged;
  if (!set_out(added)) {
    connection_.session().free(*staged);
    const CUresult fault = connection_.fault();
    return fault == CUDA_SUCCESS ? CUDA_ERROR_OUT_OF_MEMORY : fault;
  }
  mirrors_.push_back(std::move(added));
  return CUDA_SUCCESS;
}

void Mirrors::remove(std::uint64_t device) {
  const std::lock_guard guard(lock_);
  const auto is_it = [device](const Mirror& mirror) { return mirror.range.device == device; };
  const auto found = std::ranges::find_if(mirrors_, is_it);
  if (found == mirrors_.end()) return;
  connection_.session().free(found->staged);
  mirrors_.erase(found);
}

void Mirrors::to_device() {
  const std::lock_guard guard(lock_);
  for (Mirror& mirror : mirrors_) {
    if (is_usable(mirror)) send(mirror);
  }
}

void Mirrors::from_device() {
  const std::lock_guard guard(lock_);
  for (Mirror& mirror : mirrors_) {
    if (!is_usable(mirror)) continue;
    send(mirror);  // or the fetched value would be taken for newer
    if (mirror.range.kind != Mirrored::Kind::read_only) fetch(mirror);
  }
}

bool Mirrors::is_usable(Mirror& mirror) {
  if (mirror.lost || mirror.range.kind == Mirrored::Kind::variable) return !mirror.lost;
  mirror.lost = !are_there(mirror.range.program, mirror.range.size);
  if (!mirror.lost) return true;
  session::say(
      "memory was freed that is registered (cuMemHostRegister, cudaHostRegister): what kernels write to it "
      "is "
      "lost");
  return false;
}

bool Mirrors::set_out(Mirror& mirror) {
  if (mirror.range.kind != Mirrored::Kind::variable) return send_all(mirror);
  return for_pieces(mirror.range.size, kPiece, [&](std::uint64_t begin, std::uint64_t end) {
    if (!receive(mirror, {begin, end})) return false;
    std::memcpy(mirror.known.data() + begin, connection_.session().bytes(mirror.staged), end - begin);
    std::memcpy(mirror.here() + begin, mirror.known.data() + begin, end - begin);
    return true;
  });
}

bool Mirrors::send_all(Mirror& mirror) {
  std::byte* const staged = connection_.session().bytes(mirror.staged);
  return for_pieces(mirror.range.size, kPiece, [&](std::uint64_t begin, std::uint64_t end) {
    std::memcpy(staged, mirror.here() + begin, end - begin);
    std::memcpy(mirror.known.data() + begin, staged, end - begin);
    return send_copy(mirror, true, 0, {begin, end}, {}) && wait_for_copies(mirror);
  });
}

void Mirrors::send(Mirror& mirror) {
  for_pieces(mirror.range.size, kPiece, [&](std::uint64_t begin, std::uint64_t end) {
    return send_changes(mirror, {begin, end});
  });
}

bool Mirrors::send_changes(Mirror& mirror, const Part& piece) {
  std::byte* const staged = connection_.session().bytes(mirror.staged);
  const auto is_changed = [&mirror](std::uint64_t at, std::uint64_t bytes) {
    return std::memcmp(mirror.here() + at, mirror.known.data() + at, bytes) != 0;
  };
  bool sent = false;
  for (std::uint64_t at = piece.begin; at < piece.end;) {
    if (at % kBlock == 0 && at + kBlock <= piece.end && !is_changed(at, kBlock)) {
      at += kBlock;
      continue;
    }
    const std::uint64_t begin = at;
    for (std::uint64_t bytes = 0; at < piece.end; at += bytes) {
      bytes = std::min(kWord, piece.end - at);
      if (!is_changed(at, bytes)) break;
      // The program may go on writing: what is staged is what is known from now on.
      std::memcpy(staged + (at - piece.begin), mirror.here() + at, bytes);
      std::memcpy(mirror.known.data() + at, staged + (at - piece.begin), bytes);
    }
    if (at == begin) {
      at = std::min(at + kWord, piece.end);
      continue;
    }
    if (!send_copy(mirror, true, begin - piece.begin, {begin, at}, {})) return false;
    sent = true;
  }
  // In any order of the streams, later commands find what was written before them.
  if (sent) wait_for_copies(mirror);
  return true;
}

void Mirrors::fetch(Mirror& mirror) {
  const std::byte* const staged = connection_.session().bytes(mirror.staged);
  std::byte* const here = mirror.here();
  std::byte* const known = mirror.known.data();
  for_pieces(mirror.range.size, kPiece, [&](std::uint64_t piece, std::uint64_t piece_end) {
    if (!receive(mirror, {piece, piece_end})) return false;
    for_pieces(piece_end - piece, kBlock, [&](std::uint64_t begin, std::uint64_t end) {
      if (std::memcmp(staged + begin, known + piece + begin, end - begin) == 0) return true;
      for (std::uint64_t at = begin; at < end; ++at) {
        // Only what the device has written, so that other threads may use the rest meanwhile.
        if (staged[at] == known[piece + at]) continue;
        here[piece + at] = staged[at];
        known[piece + at] = staged[at];
      }
      return true;
    });
    return true;
  });
}

bool Mirrors::receive(const Mirror& mirror, const Part& piece) {
  const Operation received(connection_, connection_.new_event());
  if (!send_copy(mirror, false, 0, piece, received.event())) return false;
  received.wait();
  return received.ended_well();
}

bool Mirrors::wait_for_copies(const Mirror& mirror) {
  const Operation marker(connection_, connection_.new_event());
  if (!connection_.send(wire::EnqueueMarker{mirror.stream->command(marker.event())})) return false;
  marker.wait();
  return marker.ended_well();
}

bool Mirrors::send_copy(const Mirror& mirror, bool to_device, std::uint64_t staged_at, const Part& part,
                        wire::EventId end) {
  const std::uint64_t bytes = part.end - part.begin;
  wire::cuda::Place staged;
  staged.space = wire::cuda::Space::arena;
  staged.address = mirror.staged.offset + staged_at;
  wire::cuda::Place device;
  device.address = mirror.range.device + part.begin;
  for (wire::cuda::Place* const place : {&staged, &device}) {
    place->pitch = bytes;
    place->rows = 1;
  }
  const wire::cuda::Copy call{
      mirror.stream->command(end), to_device ? staged : device, to_device ? device : staged, {bytes, 1, 1}};
  return connection_.send(call);
}

}  // namespace fairgv::cuda::remote
