// A dispatcher's thread, and workers on threads of the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "runtime/daemon/dispatch/dispatch_loop.hpp"

namespace fairgv::daemon {

/// A worker's side of one session on every device: shared memory, a bell, an eventfd.
struct Member {
  using State = session::TurnState;

  explicit Member(std::uint32_t session, std::uint32_t tenant)
      : id{session}, tenant_id{tenant}, knock_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    auto memory = session::TurnMemory::create();
    EXPECT_TRUE(memory);
    turns.emplace(std::move(memory).value());
  }
  /// The session as the loop gets it: its worker sees so many of the host's devices.
  DispatchedSession for_loop(std::uint32_t weight = 1, std::size_t devices = 1) {
    return {id,
            tenant_id,
            {weight},
            &turns->page(),
            turns->promises(),
            &header,
            knock_fd.get(),
            DeviceView::first(devices)};
  }
  session::DeviceTurn& turn(std::uint32_t device = 0) { return turns->page().devices[device]; }
  State state(std::uint32_t device = 0) {
    return static_cast<State>(turn(device).state.load(std::memory_order_acquire));
  }
  bool move(State from, State to, std::uint32_t device = 0) {
    auto expected = static_cast<std::uint32_t>(from);
    return turn(device).state.compare_exchange_strong(expected, static_cast<std::uint32_t>(to),
                                                      std::memory_order_acq_rel);
  }
  void knock(std::uint32_t device = 0) { EXPECT_TRUE(session::knock(knock_fd.get())) << device; }
  void want(std::uint32_t device = 0) {
    EXPECT_TRUE(move(State::idle, State::wanting, device));
    knock(device);
  }
  /// Sleeps until the dispatcher has granted or taken something.
  void wait_while(State state_now, std::uint32_t device = 0) {
    ring::wait(header.worker_bell, budget, [&] { return state(device) != state_now; });
  }
  /// Waits by looking: a busy worker is not rung when its turn is asked for.
  void yield_until_asked(std::uint32_t device = 0) {
    while (state(device) == State::busy) std::this_thread::yield();
    EXPECT_EQ(state(device), State::busy_asked);
  }
  void give_back(bool more, std::uint32_t device = 0) {
    turn(device).state.store(static_cast<std::uint32_t>(more ? State::wanting : State::idle),
                             std::memory_order_release);
    knock(device);
  }

  SessionId id;
  TenantId tenant_id;
  std::optional<session::TurnMemory> turns;
  ring::SegmentHeader header;
  ring::SpinBudget budget{
      std::chrono::nanoseconds(0)};  // never spins: a wait without the ring that it needs hangs the test
  UniqueFd knock_fd;
};

inline std::unique_ptr<DispatchLoop> start_loop(
    std::size_t devices = 1, std::chrono::nanoseconds slice = std::chrono::milliseconds(6)) {
  DeviceRules rules;
  rules.common.slices = sched::SliceRule::constant(slice);
  auto loop = DispatchLoop::start(rules);
  EXPECT_TRUE(loop);
  while (devices-- > 0) loop.value()->add_device();
  return std::move(loop).value();
}

}  // namespace fairgv::daemon
