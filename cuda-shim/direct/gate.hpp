// The gate in front of one device: the program's own threads look at the turn here before each command, and
// wait here without one.
//
// Commands go through in runs. A run begins when the turn admits one, ends when it has as many commands as
// the window says, when the turn is asked back, or when the program pauses; then marks are put behind its
// commands (marks.hpp), and it is over when the device has passed them. The turn's state machine and its
// meter are the worker's (runtime/vgpu/turn): a run is one command to them. The window follows the measured
// time of runs, so that each takes about a millisecond: a turn that is asked back ends within two of them,
// however long the program's commands are or however many it would queue.
//
//          open ◀──────────────────────────── sealing ───nobody inside──▶ (marks are put) none
//           │▲    alone, and one inside is stuck   ▲                               │
//           │└───────the turn admits another run───│───────────────────────────────┘
//           └──────full, asked back, pausing───────┘
//
// A thread that passes an open gate pays two additions and two loads (enter(), leave()); everything else is
// the way of those who find it shut, and of the keeper, a thread of ours that looks at the turn when nobody
// else does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda-shim/direct/cuda.hpp"
#include "cuda-shim/direct/marks.hpp"
#include "runtime/ring/doorbell.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/vgpu/turn/turn_client.hpp"

namespace fairgv::cuda::direct {

class Gate {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  using Duration = std::chrono::nanoseconds;

  struct Session {
    ring::SegmentHeader& header;  // its worker_bell, and whether it is closed
    std::function<void()> knock;
    std::function<void()> tell_loss;  // one line, once
    bool apart = true;                // the device has processors of its own
  };

  /// The pages and the header outlive this.
  Gate(const vgpu::TurnPages& pages, const vgpu::TurnSettings& settings, Session session);

  // ---- of a thread with a command

  /// Goes through if the gate is open; then leave() follows, after the command was given to the driver.
  bool enter() {
    // Acquire: pairs with the release of open_run(), so that its number is seen.
    const std::uint64_t before = word_.fetch_add(kInside + 1, std::memory_order_acquire);
    if ((before & kOpen) != 0 && (before & kIssued) < limit_.load(std::memory_order_relaxed)) [[likely]] {
      // Relaxed: the dispatcher's wish to have the turn back orders nothing here.
      if (page_.state.load(std::memory_order_relaxed) == kBusy) [[likely]]
        return true;
      // No command after all. Relaxed: leave() publishes it, and the run is not over before.
      withdrawn_.fetch_add(1, std::memory_order_relaxed);
    }
    leave();
    return false;
  }
  /// Waits until it can go through; leave() follows unless there is an error.
  CUresult wait_and_enter();
  void leave() {
    // Release: pairs with the acquire of inside(); what the command has noted is seen with its leaving.
    const std::uint64_t before = word_.fetch_sub(kInside, std::memory_order_release);
    if ((before & kSealing) != 0 && (before & kInsideMask) == kInside) [[unlikely]]
      change();
  }
  /// The number of the open run, of a thread inside.
  std::uint64_t run() const { return run_number_.load(std::memory_order_relaxed); }
  /// The thread's first command of the run in this stream, while inside.
  void note(const StreamUse& use);
  /// A mark of the calling thread behind its command in its own default stream, while inside.
  Mark mark_own(CUcontext context);
  /// The command is no launch of a kernel or graph: a statistic.
  void note_other() { others_.fetch_add(1, std::memory_order_relaxed); }

  /// The thread has put something into a stream that waits for the program's own host code.
  void note_host();

  // ---- of the program's objects

  /// The stream is about to go: what it was given is waited for all the same.
  void before_stream_goes(const StreamUse& use);
  /// The context is about to go, with its streams and our events.
  void before_context_goes(CUcontext context);
  /// Whether functions of after_what_runs() are to be called yet.
  bool frees();
  /// Calls the function when everything that was let through so far has ended; from any thread, with the
  /// gate's lock: it must not come here.
  void after_what_runs(std::function<void()> function);

  // ---- of the process

  /// The keeper's work, until stop() or, in a session that is over, until everything has drained.
  void keep();
  /// No more calls into the driver from here, once it returns: the process ends.
  void stop();

 private:
  // word_: who is inside, and how many commands have been counted since the open run began. Tries at a shut
  // gate and beyond the limit count, too.
  static constexpr std::uint64_t kIssued = 0xffff'ffff;
  static constexpr std::uint64_t kInside = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kInsideMask = std::uint64_t{0xff'ffff} << 32;
  static constexpr std::uint64_t kOpen = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kSealing = std::uint64_t{1} << 62;
  static constexpr auto kBusy = static_cast<std::uint32_t>(session::TurnState::busy);

  /// The time that a run is to take, and the most commands of one.
  static constexpr Duration kRunTime = std::chrono::milliseconds(1);
  static constexpr Duration kShortestRun = std::chrono::microseconds(100);
  static constexpr int kRunsPerSlice = 6;
  static constexpr std::uint64_t kLongestWindow = 4096;
  /// Runs whose marks are not passed; while one drains the next is filled.
  static constexpr std::size_t kMostRuns = 2;
  /// A run of a program that gives nothing for so long is ended: alone, and while others wait.
  static constexpr Duration kPauseAlone = std::chrono::milliseconds(1);
  static constexpr Duration kPauseContended = std::chrono::microseconds(50);
  /// How often the keeper looks for the end of a run: more seldom, the longer it is overdue.
  static constexpr Duration kLookAgain = std::chrono::microseconds(50);
  static constexpr Duration kLookSeldom = std::chrono::milliseconds(1);
  static constexpr int kOverduePart = 8;
  /// Alone, commands that wait for the program's own host code must not keep further commands of it. Where
  /// the program has host functions in its streams, further runs go through at once; else after so long, or
  /// several times the expected time, without an end: a kernel may poll a flag.
  static constexpr Duration kStuck = std::chrono::milliseconds(5);
  static constexpr int kStuckTimes = 4;

  enum class Phase { none, open, sealing };

  struct Run {
    Time began{};
    std::uint64_t commands = 0;
    std::uint64_t launches = 0;
    std::uint64_t window = 1;
    bool awaits_host = false;  // its commands may be behind the program's own functions
    std::vector<Mark> marks{};
    std::vector<std::function<void()>> at_end{};
  };

  std::uint64_t inside() const { return word_.load(std::memory_order_acquire) & kInsideMask; }
  bool closed() const { return session_.header.closed.load(std::memory_order_acquire) != 0; }
  bool admit();
  void advance(Time now);
  void open_run(const vgpu::Offer& offer, Time now);
  /// Whether it has the turn, and nobody waits for it.
  bool is_alone() const;
  void shut(Time now);
  void open_again();
  void open_word(std::uint64_t issued);
  void put_marks();
  void collect(Time now);
  void adapt(const Run& run, Duration took);
  bool pauses(Time now);
  /// Whether one more run may go through although as many drain as the turn allows.
  bool may_exceed(Time now) const;
  Duration target() const;
  vgpu::Offer offer() const;
  std::optional<Time> deadline(Time now) const;
  /// Has every waiting thread look again.
  void change();
  /// The state of things, taken before a waiting thread looks at anything else: a change after that is not
  /// slept over.
  struct Seen {
    std::uint32_t changes;
    bool closed;
  };
  Seen look() const;
  void wait(std::unique_lock<std::mutex>& lock, const Seen& seen, const std::optional<Time>& until,
            ring::SpinBudget& budget);

  // Written by every thread with a command, on a line of its own.
  alignas(64) std::atomic<std::uint64_t> word_{0};
  alignas(64) std::atomic<std::uint64_t> limit_{0};  // commands of the open run; changes while it is shut
  std::atomic<std::uint64_t> run_number_{0};         // ordered by word_
  std::atomic<std::uint64_t> others_{0};             // of the run's commands; relaxed, a statistic
  std::atomic<std::uint64_t> withdrawn_{0};          // of the run's counted commands; see enter()
  std::atomic<std::uint32_t> changes_{0};            // release in change(), acquire in the waits

  session::DeviceTurn& page_;
  const Session session_;

  std::mutex mutex_;  // guards all below
  vgpu::TurnClient turn_;
  MarkPool pool_;
  Phase phase_ = Phase::none;
  Run open_;
  std::vector<StreamUse> uses_;  // of the open run
  std::deque<Run> draining_;
  std::uint64_t window_ = 1;
  Duration expected_{0};      // time of a run
  Time last_end_{};           // of a run
  Time shut_at_{};            // while sealing
  std::uint64_t issued_ = 0;  // the same: counted until the gate was shut
  std::uint32_t waiting_ = 0;
  std::uint64_t issued_seen_ = 0;
  Time issued_changed_{};
  bool host_pending_ = false;  // see note_host(): for the next run
  bool stopped_ = false;
  ring::SpinBudget waits_;
  ring::SpinBudget keeps_{std::chrono::nanoseconds::zero()};
};

}  // namespace fairgv::cuda::direct
