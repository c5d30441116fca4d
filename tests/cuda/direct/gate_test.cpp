// A gate by itself: the turn page with the dispatcher's moves on the other side, and no driver, so that
// commands end at once.
#include "cuda-shim/direct/gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/session/turn.hpp"

using fairgv::cuda::direct::Gate;
using fairgv::session::DispatcherTurn;
using fairgv::session::TurnState;

namespace {

struct House {
  House() {
    keeper = std::thread([this] { gate.keep(); });
  }
  ~House() {
    gate.stop();
    keeper.join();
  }
  /// The dispatcher's side: waits until the session wants the turn, and grants it.
  void grant(std::chrono::nanoseconds slice = {}) {
    while (dispatcher.look() != TurnState::wanting) std::this_thread::yield();
    EXPECT_TRUE(dispatcher.grant({.slice = slice}));
    fairgv::ring::ring(header.worker_bell);
  }
  void ask_back() {
    EXPECT_TRUE(dispatcher.ask());
    fairgv::ring::ring(header.worker_bell);
  }
  void await(TurnState state) {
    while (dispatcher.look() != state) std::this_thread::yield();
  }
  CUresult pass() {
    if (gate.enter()) return CUDA_SUCCESS;
    return gate.wait_and_enter();
  }

  fairgv::session::DeviceTurn page;
  fairgv::session::TurnPromise promise;
  fairgv::ring::SegmentHeader header;
  DispatcherTurn dispatcher{page, &promise};
  std::atomic<int> knocks{0}, losses{0};
  Gate gate{{page, &promise}, {}, {header, [this] { ++knocks; }, [this] { ++losses; }}};
  std::thread keeper;
};

}  // namespace

TEST(Gate, LetsNobodyThroughWithoutATurn) {
  House house;
  EXPECT_FALSE(house.gate.enter());
  std::atomic<bool> through{false};
  std::thread program([&] {
    EXPECT_EQ(CUDA_SUCCESS, house.pass());
    through = true;
    house.gate.leave();
  });
  house.await(TurnState::wanting);
  EXPECT_FALSE(through);
  house.grant();
  program.join();
  EXPECT_GE(house.knocks, 1);
}

TEST(Gate, ATurnThatIsAskedBackEndsWhenNobodyIsInside) {
  House house;
  std::thread dispatcher([&] { house.grant(); });
  ASSERT_EQ(CUDA_SUCCESS, house.pass());
  dispatcher.join();
  house.ask_back();
  EXPECT_FALSE(house.gate.enter()) << "the turn is asked back";
  EXPECT_EQ(TurnState::busy_asked, house.dispatcher.look()) << "a command is on its way to the driver";
  house.gate.leave();
  house.await(TurnState::idle);
  EXPECT_FALSE(house.gate.enter());
}

TEST(Gate, CountsEveryCommandOnceWhateverThreadsDo) {
  constexpr int kThreads = 8, kCommands = 2'000;
  House house;
  std::atomic<bool> done{false};
  // Turns come and go: some are asked back in the midst.
  std::thread dispatcher([&] {
    for (int turn = 0; !done; ++turn) {
      const TurnState state = house.dispatcher.look();
      if (state == TurnState::wanting && house.dispatcher.grant({}))
        fairgv::ring::ring(house.header.worker_bell);
      if (turn % 64 == 0 && house.dispatcher.ask()) fairgv::ring::ring(house.header.worker_bell);
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kCommands; ++i) {
        ASSERT_EQ(CUDA_SUCCESS, house.pass());
        house.gate.leave();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  constexpr std::uint64_t kAll = kThreads * kCommands;
  while (house.page.commands.load() < kAll) std::this_thread::yield();
  done = true;
  dispatcher.join();
  EXPECT_EQ(kAll, house.page.commands.load());
  EXPECT_EQ(kAll, house.page.launches.load());
}

TEST(Gate, ASessionThatIsOverRefusesWithOneLine) {
  House house;
  std::thread program([&] { EXPECT_EQ(CUDA_ERROR_DEVICE_UNAVAILABLE, house.pass()); });
  house.await(TurnState::wanting);
  house.header.closed.store(1, std::memory_order_release);
  fairgv::ring::ring(house.header.worker_bell);
  program.join();
  EXPECT_GE(house.losses, 1);
}

TEST(Gate, WhatFreesMemoryIsCalledAfterWhatRuns) {
  House house;
  bool at_once = false;
  house.gate.after_what_runs([&] { at_once = true; });
  EXPECT_TRUE(at_once) << "nothing runs";
  std::thread dispatcher([&] { house.grant(); });
  ASSERT_EQ(CUDA_SUCCESS, house.pass());
  dispatcher.join();
  std::atomic<bool> later{false};
  house.gate.after_what_runs([&] { later = true; });
  EXPECT_TRUE(house.gate.frees());
  EXPECT_FALSE(later) << "a command is on its way to the driver";
  house.gate.leave();
  while (!later) std::this_thread::yield();
}
