// Plays a worker on a turn page of its own: makes the worker's moves of session/turn.hpp, one by one.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

#include "runtime/daemon/dispatch/dispatcher.hpp"

namespace fairgv::daemon {

struct FakeWorker {
  using State = session::TurnState;

  session::DeviceTurn turn;
  session::TurnPromise promise;
  ring::SegmentHeader header;

  State state() { return session::WorkerTurn(turn).look(); }
  std::chrono::nanoseconds slice() const {
    return std::chrono::nanoseconds(turn.slice_ns.load(std::memory_order_relaxed));
  }
  bool move(State from, State to) {
    auto expected = static_cast<std::uint32_t>(from);
    return turn.state.compare_exchange_strong(expected, static_cast<std::uint32_t>(to),
                                              std::memory_order_acq_rel);
  }

  void want() { EXPECT_TRUE(move(State::idle, State::wanting)); }
  void begin() { EXPECT_TRUE(session::WorkerTurn(turn).begin()); }
  void use(std::chrono::nanoseconds time) {
    turn.used_ns.fetch_add(static_cast<std::uint64_t>(time.count()), std::memory_order_relaxed);
    turn.commands.fetch_add(1, std::memory_order_relaxed);
  }
  /// The worker has drained, and nobody has asked for the turn.
  bool rest() { return session::WorkerTurn(turn).rest(); }
  void give_back(bool more) { session::WorkerTurn(turn).give_back(more); }
};

}  // namespace fairgv::daemon
