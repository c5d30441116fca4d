// How much of a device's memory one session has, where the device's memory is lent beyond its size: the
// daemon says how much the session may have there, its worker takes objects out and brings them in.
//
// One DeviceResidency for each device, in the session's turn file. Both sides move it at the same time:
//
//   daemon: terms ──▶ worker: takes out what is too much ──▶ `agreed` falls ──▶ daemon: terms of another
//
// - The daemon counts for a session what it may have had by any terms since those that its worker has
//   answered, or `agreed`, if that is more. So no two sessions are ever lent the same bytes.
// - A worker never has more on the device than `agreed`, and makes `agreed` no larger than the terms allow,
//   unless memory that cannot go out takes more.
// - `lacks` is not 0 while the worker's next command has to wait for memory: its session gets no turn.
//
// Nothing that a worker says here is believed for more than the order of turns: a worker that does not give
// back what it is to give back is ended (daemon/turns/memory_lender.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace fairgv::session {

struct alignas(64) DeviceResidency {
  // Daemon writes. Sequence of the terms: stored (release) behind `allowed`, pairs with the worker's acquire.
  std::atomic<std::uint32_t> terms{0};
  // Not 0: the device's memory is lent. Stored before the worker begins; relaxed.
  std::atomic<std::uint32_t> is_lent{0};
  // The bytes that the session may have on the device. Relaxed: ordered by `terms`.
  std::atomic<std::uint64_t> allowed{0};
  // A working set of more bytes never fits. Relaxed: ordered by `terms`.
  std::atomic<std::uint64_t> most{0};
  // For how long the worker keeps a turn for the program's next command, in nanoseconds: about as long as it
  // takes to bring another session's memory in. A hint, relaxed.
  std::atomic<std::uint64_t> keep_ns{0};
  // Not 0: objects come in only for the next command (oversubscribe_mode = "demand"). Relaxed, as is_lent.
  std::atomic<std::uint32_t> on_demand{0};
  // Bytes per second of a simulated link to the device, each way; 0: there is none. Relaxed, as is_lent.
  std::atomic<std::uint64_t> link{0};

  // Worker writes. The terms that it has read: stored (release) behind `agreed`, pairs with the daemon's
  // acquire.
  alignas(64) std::atomic<std::uint32_t> answered{0};
  // The most bytes that it has on the device, from the answer to the next terms on. It only falls. Release,
  // pairs with the daemon's acquire: the memory is free before it is lent again.
  std::atomic<std::uint64_t> agreed{0};
  // The bytes that its commands want there, for a turn. Relaxed: ordered by the turn's state, or by a knock.
  std::atomic<std::uint64_t> wants{0};
  // Bytes that its next command waits for. As `wants`.
  std::atomic<std::uint64_t> lacks{0};
  // For how long memory has come in and gone out so far, in nanoseconds. Turns grow with it, within bounds.
  // Relaxed.
  std::atomic<std::uint64_t> moving_ns{0};
  // For people: bytes that are there, and those that were brought in and taken out so far. Relaxed.
  std::atomic<std::uint64_t> resident{0};
  std::atomic<std::uint64_t> brought_in{0};
  std::atomic<std::uint64_t> taken_out{0};

  // Worker writes, as `wants`: of the bytes there, those that cannot go out.
  alignas(64) std::atomic<std::uint64_t> fixed{0};
};
static_assert(sizeof(DeviceResidency) == 192);

/// The daemon's part of one device's page. The worker writes to it at the same time.
class ResidencyLender {
 public:
  explicit ResidencyLender(DeviceResidency& page) : page_(&page) {}

  /// New terms. Ring the worker_bell afterwards.
  void allow(std::uint64_t bytes, std::uint64_t most) {
    page_->most.store(most, std::memory_order_relaxed);
    page_->allowed.store(bytes, std::memory_order_relaxed);
    page_->terms.store(++terms_, std::memory_order_release);
    allowed_ = bytes;
    most_ = most;
    held_ = std::max(held_, bytes);
  }
  /// Goes on where an earlier daemon has left the page.
  void adopt() {
    terms_ = page_->terms.load(std::memory_order_relaxed);
    allowed_ = page_->allowed.load(std::memory_order_relaxed);
    most_ = page_->most.load(std::memory_order_relaxed);
    held_ = std::max(allowed_, page_->agreed.load(std::memory_order_acquire));
  }
  /// The worker is gone, and nothing of its memory is there any more.
  void begin_anew(std::uint64_t most) {
    page_->agreed.store(0, std::memory_order_relaxed);
    page_->wants.store(0, std::memory_order_relaxed);
    page_->lacks.store(0, std::memory_order_relaxed);
    page_->resident.store(0, std::memory_order_relaxed);
    page_->fixed.store(0, std::memory_order_relaxed);
    held_ = 0;
    terms_ = page_->terms.load(std::memory_order_relaxed);
    allow(0, most);
  }

  /// Reads what the worker says.
  void look() {
    // Acquire: pairs with the worker's releases.
    const bool has_answered = page_->answered.load(std::memory_order_acquire) == terms_;
    if (has_answered) held_ = std::max(allowed_, page_->agreed.load(std::memory_order_acquire));
    wants_ = page_->wants.load(std::memory_order_relaxed);
    fixed_ = page_->fixed.load(std::memory_order_relaxed);
    lacks_ = page_->lacks.load(std::memory_order_relaxed);
  }

  // As of the latest look.

  std::uint64_t allowed() const { return allowed_; }
  /// The most bytes that may be there.
  std::uint64_t held() const { return held_; }
  /// The worker has not given back yet what it is to give back.
  bool shrinks() const { return held_ > allowed_; }
  std::uint64_t wants() const { return wants_; }
  std::uint64_t fixed() const { return fixed_; }
  /// As it was told.
  std::uint64_t most() const { return most_; }
  /// The next command need not wait for memory, as far as its worker knows.
  bool is_ready() const { return lacks_ == 0; }
  DeviceResidency& page() { return *page_; }

 private:
  DeviceResidency* page_;
  std::uint32_t terms_ = 0;
  std::uint64_t allowed_ = 0;
  std::uint64_t held_ = 0;
  std::uint64_t wants_ = 0;
  std::uint64_t fixed_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t lacks_ = 0;
};

}  // namespace fairgv::session
