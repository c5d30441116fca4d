// The time that commands take, by kind: the history that lets a known kernel skip its samples.
//
// FairGV (section 3.3.2) measures the first five commands of every turn singly, because the times of
// successive kernels of a program are alike. They are as much alike from turn to turn. So a kind of command
// (a function with its grid and block, whatever its arguments) is measured singly only until it is known.
// Then it runs freely, and each synchronisation after a free run corrects the times of all kinds in the run.
//
// Pure logic, not thread-safe: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sched/types.hpp"

namespace fairgv::sched {

// Commands that are expected to take the same time have the same number.
using CommandKind = std::uint64_t;

class CommandHistory {
 public:
  static constexpr std::uint32_t kDefaultSamples = 5;
  static constexpr std::size_t kDefaultCapacity = 1024;

  // No command is taken to be shorter than this: it bounds a prediction from samples too short to measure.
  static constexpr Duration kShortestCommand = std::chrono::microseconds(1);

  // samples: how often a kind is measured singly before it is known; at least once. capacity: the most kinds
  // remembered, at least two; the kinds unused for longest are forgotten first.
  explicit CommandHistory(std::uint32_t samples = kDefaultSamples, std::size_t capacity = kDefaultCapacity);

  // The time that a command of this kind takes; nothing while it is unknown. Never below kShortestCommand.
  std::optional<Duration> expected(CommandKind kind) const;

  // The best guess, from however few samples, or else the bound; nothing if there is neither.
  std::optional<Duration> estimate(CommandKind kind) const;

  // A command that was not measured by itself took no longer than this. The smallest bound counts.
  void bounded(CommandKind kind, Duration at_most);

  // One command was measured by itself. A negative time counts as zero.
  void sampled(CommandKind kind, Duration used);

  struct Count {
    CommandKind kind;
    std::uint64_t commands;
  };

  // These known commands together kept the device busy for `used`: each kind's time moves half of the way
  // towards the time that fits. If the expectation was far off (by a factor of four), the program has
  // changed, and these kinds are sampled again. Unknown kinds are ignored.
  void ran(std::span<const Count> run, Duration used);

  // The time of commands of one kind, for another history that goes on with it.
  struct Known {
    CommandKind kind{};
    Duration time{0};
    std::uint32_t samples = 0;
  };
  // All kinds; those unused for longest come first.
  std::vector<Known> known() const;
  // Begins with what another history knew, in that order.
  void take_over(const Known& known);

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Duration mean{0};  // the bound, while there is no sample
    std::uint32_t samples = 0;
    std::uint64_t used_at = 0;  // the clock's tick of the last report
  };

  Entry& touch(CommandKind kind);
  void forget_old();

  const std::uint32_t samples_;
  const std::size_t capacity_;
  std::uint64_t clock_ = 0;  // counts reports
  std::unordered_map<CommandKind, Entry> entries_;
};

}  // namespace fairgv::sched
