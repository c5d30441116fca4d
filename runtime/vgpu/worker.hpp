// The worker's loop: waits, reads calls from the request ring, has them handled, and lets the executor run.
//
// One thread, the loop thread, which is the only one that touches the back end's objects. While the front end
// is awake and calling, an iteration makes no system call, takes no lock and allocates nothing of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/ring/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/vgpu/dispatch.hpp"
#include "runtime/vgpu/executor.hpp"
#include "runtime/vgpu/replies.hpp"

namespace fairgv::vgpu {

class Worker {
 public:
  /// All three outlive the worker. `device_takes_our_cores`: commands run on the CPUs that this thread runs
  /// on.
  Worker(ring::Segment& segment, Executor& executor, CallHandler& calls, bool device_takes_our_cores);

  /// Serves the session until it is closed. An Error if the front end broke the protocol: the session is then
  /// closed from this side.
  Result<void> run();

 private:
  /// How many calls are handled before the device is looked after again.
  static constexpr int kCallsPerRound = 32;
  /// Spinning longer than this while the device is the host's own CPU takes more from the device than it
  /// saves: just enough to catch the next of a stream of launches.
  static constexpr std::chrono::microseconds kHostSpin{5};
  /// The longest message that is taken from the arena.
  static constexpr std::uint64_t kLongestIndirect = std::uint64_t{1} << 30;

  Result<void> read_calls();
  Result<void> handle(const ring::RecordHeader& header, std::span<const std::byte> payload);
  Result<void> handle_indirect(const ring::RecordHeader& header);
  bool deadline_passed() const;
  void wait();
  /// Private memory for a message of so many bytes, aligned to 8.
  std::span<std::byte> scratch(std::size_t bytes);

  ring::Segment& segment_;
  Executor& executor_;
  CallHandler& calls_;
  ring::RingConsumer requests_;
  Replies replies_;
  ring::SpinBudget budget_;
  ring::SpinBudget budget_at_work_;  // while the device has commands of this session
  std::vector<std::uint64_t> scratch_;
};

}  // namespace fairgv::vgpu
