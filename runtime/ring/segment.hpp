// The shared memory of one session: everything that a client process and its worker exchange.
//
//   header (bells, close flag) | request ring | response ring | notice ring | completion slots | arena
//
// It is one sealed memfd, sparse: only touched pages take memory. The client creates it, the descriptor
// travels to the worker and the daemon, and each maps it. Seals make sure that nobody can shrink it under the
// others (SIGBUS) or lift that promise.
//
// A Segment is owned by one thread, but its memory is used by many: see the parts for their rules. All
// methods except moves may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/handle.hpp"
#include "runtime/base/page.hpp"
#include "runtime/base/result.hpp"
#include "runtime/ring/doorbell.hpp"
#include "runtime/ring/spsc_ring.hpp"

namespace fairgv::ring {

/// How large to make the parts. Ring sizes are powers of two from 4 KiB to 1 GiB, without their indices;
/// there are 1 to 2^28 completion slots; the arena is a multiple of 4 KiB up to 16 TiB (address space, not
/// memory).
struct SegmentSizes {
  uint64_t request_bytes = uint64_t{1} << 20;
  uint64_t response_bytes = uint64_t{256} << 10;
  uint64_t notice_bytes = uint64_t{256} << 10;
  uint32_t completion_slots = uint32_t{1} << 18;
  uint64_t arena_bytes = uint64_t{64} << 30;

  bool operator==(const SegmentSizes&) const = default;
};

/// A completion slot's state in one word: the event's generation and its status.
///
/// kQuiet says that nobody waits for the event. The client sets the bit with a new event and takes it back,
/// for good, before it waits; the worker keeps the bit and rings the completion bell only where it is gone.
/// Both sides change the word by read-modify-writes, so one of them comes first: either the waiter sees the
/// end, or the worker sees the waiter. A client that has never heard of the bit leaves it out and is woken by
/// every end.
struct SlotState {
  static constexpr uint64_t kQuiet = uint64_t{1} << 63;
  static constexpr uint32_t kLastGeneration = 0x7FFF'FFFF;

  static constexpr uint64_t make(uint32_t generation, int32_t status) {
    return (uint64_t{generation} << 32) | static_cast<uint32_t>(status);
  }
  static constexpr uint32_t generation(uint64_t state) {
    return static_cast<uint32_t>((state & ~kQuiet) >> 32);
  }
  static constexpr int32_t status(uint64_t state) {
    return static_cast<int32_t>(static_cast<uint32_t>(state));
  }
};

/// How a command ended, and when. The worker stores the times first and the state last, with release; the
/// client loads the state with acquire before it reads the times.
struct alignas(64) CompletionSlot {
  std::atomic<uint64_t> state;  // SlotState
  // Device time, nanoseconds. Relaxed: ordered by `state`.
  std::atomic<uint64_t> queued;
  std::atomic<uint64_t> submitted;
  std::atomic<uint64_t> started;
  std::atomic<uint64_t> ended;
  std::atomic<uint64_t> completed;
  // The client, before it waits: since when, in nanoseconds of CLOCK_MONOTONIC (0: the session is not
  // recorded now), and in which call (wire/call_names.hpp). Relaxed: ordered by taking back
  // SlotState::kQuiet.
  std::atomic<uint64_t> awaited_from;
  std::atomic<uint32_t> awaited_as;
};
static_assert(sizeof(CompletionSlot) == 64);

/// Where the parts lie: bytes from the start of the segment, all multiples of a page. A ring's indices lie at
/// its offset and its slots behind them.
struct SegmentOffsets {
  uint64_t requests = 0;
  uint64_t responses = 0;
  uint64_t notices = 0;
  uint64_t slots = 0;
  uint64_t arena = 0;
  uint64_t total = 0;  // the size of the file

  bool operator==(const SegmentOffsets&) const = default;
};

/// The part of the header that is written once, by create().
struct SegmentPreamble {
  static constexpr uint32_t kMagic = 0x53564746;  // "FGVS" in memory, little endian
  static constexpr uint32_t kVersion = 2;         // of this layout

  uint32_t magic = kMagic;
  uint32_t version = kVersion;
  /// Where all who attach should map the segment, so that they can share pointers into the arena; 0:
  /// anywhere.
  uint64_t wanted_address = 0;
  SegmentSizes sizes;
  SegmentOffsets offsets;
};

/// How the threads of a session that wait for the device are run together with its turns (FairGV, section
/// 3.2.3). Hints between processes that need not believe each other: all relaxed, nothing is ordered by them.
struct alignas(64) Coscheduling {
  /// The worker, before it is ready: the device has processors of its own, so a thread that spins takes
  /// nothing from it.
  std::atomic<uint32_t> device_apart{0};
  /// The client: how many calls had to wait for a command so far. It may wrap.
  std::atomic<uint32_t> synchronous_calls{0};
  /// Odd while an interactive session has the device. The daemon makes it a new odd number with each turn
  /// that it grants while others wait; the worker does when it finds its program interactive, and makes it
  /// even when it no longer is or the turn ends.
  std::atomic<uint32_t> turn{0};
  /// The daemon: not 0 if calls of the program are its units of service (session/service_unit.hpp). A hint.
  std::atomic<uint32_t> counts_calls{0};
  /// The client, while that is so: how many calls have waited for the device and have returned.
  std::atomic<uint64_t> ended_calls{0};

  /// The client: such a call returns.
  void count_call() {
    if (counts_calls.load(std::memory_order_relaxed) != 0)
      ended_calls.fetch_add(1, std::memory_order_relaxed);
  }
  bool switched_in() const { return (turn.load(std::memory_order_relaxed) & 1U) != 0; }
  void switch_in() { turn.store((turn.load(std::memory_order_relaxed) + 2) | 1U, std::memory_order_relaxed); }
  void switch_out() { turn.store(turn.load(std::memory_order_relaxed) & ~1U, std::memory_order_relaxed); }
};
static_assert(sizeof(Coscheduling) == 64);

/// The bounds of the session, so that the client can refuse more by itself. Hints: the worker keeps its own
/// copy, and ends a session that exceeds them. All relaxed: nothing is ordered by them.
struct alignas(64) SessionLimits {
  /// The daemon, before it hands the segment over: how many objects; 0: as many as ids allow.
  std::atomic<uint32_t> objects{0};
  /// The worker: 1 while it holds as many commands as it may, and none of them is under way. The client sends
  /// no further command until some have ended.
  std::atomic<uint32_t> backlogged{0};
};
static_assert(sizeof(SessionLimits) == 64);

/// A failure after the call that asked for the work had returned (CUDA). The worker writes it before the end
/// of the command that failed is seen: a thread that waits for that end sees the error, other threads see it
/// at one of their next calls.
struct alignas(64) LateError {
  /// Low half: the code (a CUresult), 0: none yet. High half: how many there have been; only the latest is
  /// kept, but one after which nothing can run (an illegal address) stays. Release by the worker, acquire by
  /// the client.
  std::atomic<uint64_t> state{0};

  static constexpr uint64_t make(uint32_t count, uint32_t code) { return (uint64_t{count} << 32) | code; }
  static constexpr uint32_t count(uint64_t state) { return static_cast<uint32_t>(state >> 32); }
  static constexpr uint32_t code(uint64_t state) { return static_cast<uint32_t>(state); }
};
static_assert(sizeof(LateError) == 64);

/// Whether somebody traces the session, so that the client says when its calls began. A hint, relaxed: the
/// worker believes only its own turn page.
struct alignas(64) Recording {
  /// The daemon: not 0 while it records.
  std::atomic<uint32_t> on{0};
};
static_assert(sizeof(Recording) == 64);

/// The first page of the segment.
struct SegmentHeader {
  SegmentPreamble preamble;  // for attach() only, which copies and checks it; never read it again

  Doorbell worker_bell;      // the worker sleeps on it; the client, driver callbacks and the daemon ring it
  Doorbell reply_bell;       // the client sleeps on it for replies and for room in the request ring
  Doorbell completion_bell;  // the client's threads sleep on it for completions
  Doorbell notice_bell;      // the client's callback thread sleeps on it
  Doorbell room_bell;        // the worker sleeps on it for room in the response and notice rings

  // 0 = open. Set once (release) by the daemon, the worker or the client's watcher, which then rings every
  // bell; read (acquire) in every wait's predicate.
  alignas(64) std::atomic<uint32_t> closed{0};

  // Later than layout 2 began: an older client leaves it alone, and is never taken for interactive.
  Coscheduling coscheduling;
  SessionLimits limits;
  LateError late_error;
  Recording recording;
};
static_assert(sizeof(SegmentHeader) <= kPageBytes);

/// The whole segment, mapped.
class Segment {
 public:
  /// Makes a new, sealed segment and maps it anywhere. Those who attach map it at `wanted_address` (a
  /// multiple of a page, or 0) if they can. Fails when a number is out of bounds or the system refuses.
  static Result<Segment> create(const SegmentSizes& sizes = {}, uint64_t wanted_address = 0);

  /// Maps a segment that another process made, after checking that it is one: memory file, seals, size,
  /// magic, version, and every offset. Takes the descriptor; closes it on failure.
  static Result<Segment> attach(UniqueFd fd);
  /// The same, for the one process that allocates in the arena: where its address space has no room for all
  /// of the arena (ulimit -v), it maps the beginning, so that about as much address space stays free, and
  /// sizes() says how much. kLeastArenaBytes at least.
  static Result<Segment> attach_what_fits(UniqueFd fd);
  /// Below it, there is not even room for transfers in pieces.
  static constexpr uint64_t kLeastArenaBytes = uint64_t{16} << 20;

  /// How large the arena is that its creator made; sizes() has what is mapped.
  uint64_t whole_arena_bytes() const { return whole_arena_bytes_; }

  /// The descriptor to hand over; stays owned by the segment.
  int fd() const { return fd_.get(); }
  const SegmentSizes& sizes() const { return sizes_; }
  /// Whether it lies where its creator wanted it. Then it has the same address in all processes for which
  /// this is true.
  bool at_wanted_address() const { return at_wanted_address_; }

  SegmentHeader& header() const { return *reinterpret_cast<SegmentHeader*>(mapping_.data()); }
  RingMemory requests() const { return ring_at(offsets_.requests, sizes_.request_bytes); }
  RingMemory responses() const { return ring_at(offsets_.responses, sizes_.response_bytes); }
  RingMemory notices() const { return ring_at(offsets_.notices, sizes_.notice_bytes); }
  std::span<CompletionSlot> slots() const {
    return {reinterpret_cast<CompletionSlot*>(mapping_.data() + offsets_.slots), sizes_.completion_slots};
  }
  std::span<std::byte> arena() const { return {mapping_.data() + offsets_.arena, sizes_.arena_bytes}; }

  /// Marks the segment closed and wakes everybody who waits on any of its bells. May be called again.
  void close();
  bool closed() const { return header().closed.load(std::memory_order_acquire) != 0; }

  /// Now, in nanoseconds of CLOCK_MONOTONIC, if somebody traces the session; else 0.
  uint64_t recorded_time() const {
    if (header().recording.on.load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    return static_cast<uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  }

 private:
  Segment(UniqueFd fd, Mapping mapping, const SegmentPreamble& preamble)
      : fd_(std::move(fd)),
        mapping_(std::move(mapping)),
        sizes_(preamble.sizes),
        whole_arena_bytes_(preamble.sizes.arena_bytes),
        offsets_(preamble.offsets),
        at_wanted_address_(preamble.wanted_address != 0 &&
                           reinterpret_cast<uint64_t>(mapping_.data()) == preamble.wanted_address) {}

  RingMemory ring_at(uint64_t offset, uint64_t bytes) const {
    std::byte* base = mapping_.data() + offset;
    return {reinterpret_cast<RingHeader*>(base), base + sizeof(RingHeader), bytes / kSlotBytes};
  }

  UniqueFd fd_;
  Mapping mapping_;
  SegmentSizes sizes_;  // private copies: the shared ones may change at any time
  uint64_t whole_arena_bytes_;
  SegmentOffsets offsets_;
  bool at_wanted_address_;
};

/// The header page alone, mapped: the daemon keeps it of each session, to ring the worker and to close the
/// session.
class HeaderView {
 public:
  /// Checks the file behind `fd` as Segment::attach does. The descriptor stays the caller's and may be closed
  /// afterwards.
  static Result<HeaderView> attach(int fd);

  SegmentHeader& header() const { return *reinterpret_cast<SegmentHeader*>(mapping_.data()); }

  /// As Segment::close.
  void close();

 private:
  explicit HeaderView(Mapping mapping) : mapping_(std::move(mapping)) {}

  Mapping mapping_;
};

}  // namespace fairgv::ring
