// One device's turn, with the test as the dispatcher and the device, and time as an argument.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "runtime/vgpu/turn/turn_client.hpp"

namespace fairgv::vgpu {

using namespace std::chrono_literals;
using session::TurnState;

class TurnTest : public ::testing::Test {
 protected:
  TurnState state() const { return static_cast<TurnState>(turn.state.load()); }
  Duration used() const { return Duration(turn.used_ns.load()); }

  void grant(Duration slice) {
    ASSERT_EQ(state(), TurnState::wanting);
    turn.slice_ns = static_cast<std::uint64_t>(slice.count());
    turn.state = static_cast<std::uint32_t>(TurnState::held);
  }
  /// The dispatcher asks for the turn, or takes it if it is not used.
  void ask_back() {
    if (state() == TurnState::busy) turn.state = static_cast<std::uint32_t>(TurnState::busy_asked);
    if (state() == TurnState::held) turn.state = static_cast<std::uint32_t>(TurnState::idle);
  }

  /// The next command to issue: always the same kernel.
  static Next next(bool work) { return work ? Next(kKernel) : std::nullopt; }

  std::uint64_t may_issue(bool work = true) { return keeper.may_issue(next(work), now).count; }
  void settle(bool work) { keeper.settle(next(work), now); }
  void issue(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) keeper.issued(kKernel, kCpu, now);
  }
  void complete_after(Duration time, std::uint64_t count, bool more_work) {
    now += time;
    keeper.completed(count, count, now);
    settle(more_work);
  }
  /// Issues all commands that are allowed, and more as they end, until the device is idle; each command takes
  /// `each`. Returns the number of commands.
  std::uint64_t run_allowed(Duration each, bool more_work = true) {
    std::uint64_t issued = 0, in_flight = 0;
    do {
      const bool work = more_work || issued == in_flight;
      for (; work && may_issue() > 0; ++issued, ++in_flight) issue(1);
      if (in_flight == 0) break;
      --in_flight;
      complete_after(each, 1, more_work || in_flight > 0);
    } while (in_flight > 0);
    return issued;
  }

  void run_one(Duration each, bool more_work) {
    ASSERT_GT(may_issue(), 0U);
    issue(1);
    complete_after(each, 1, more_work);
  }

  static constexpr sched::CommandKind kKernel = 7;
  static constexpr std::uint32_t kCpu = 3;

  session::DeviceTurn turn;
  TimePoint now{1h};
  int knocks = 0;
  TurnClient keeper{{turn}, TurnSettings{6ms, 5}, [this] { ++knocks; }};
};

}  // namespace fairgv::vgpu
