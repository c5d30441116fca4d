// How long threads that wait for an event spin while their session is switched in.
#include "runtime/session/completion_board.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/ring_support.hpp"

namespace fairgv::session {
namespace {

using namespace std::chrono_literals;

class SpinningTogether : public ::testing::Test {
 protected:
  /// Waits for a new event, which ends `after` its waiter has been counted; `meanwhile` comes before that.
  template <class Meanwhile>
  void wait_once(std::chrono::nanoseconds after, Meanwhile meanwhile) {
    const wire::EventId event = board_.acquire();
    const std::uint64_t waits = coscheduling().synchronous_calls;
    std::thread peer([&] {
      while (coscheduling().synchronous_calls == waits) std::this_thread::yield();
      meanwhile();
      std::this_thread::sleep_for(after);
      board_.set(event, kComplete);
    });
    EXPECT_EQ(board_.wait(event), kComplete);
    peer.join();
    board_.release(event);
  }
  void wait_once(std::chrono::nanoseconds after) {
    wait_once(after, [] {});
  }

  ring::Coscheduling& coscheduling() { return segment_.header().coscheduling; }

  ring::Segment segment_ = ring::Segment::create(ring::small_sizes()).value();
  CompletionBoard board_{segment_};
};

TEST_F(SpinningTogether, StopsWhereTheWaitsTakeLonger) {
  EXPECT_EQ(board_.spins_together(), CompletionBoard::kLongestTogether);
  coscheduling().switch_in();
  // A waiter that is kept from its core between being counted and looking finds a wait that was short.
  for (int wait = 0; wait < 100 && board_.spins_together() > CompletionBoard::kLongestTogether / 8; ++wait) {
    wait_once(2ms);
  }
  EXPECT_LE(board_.spins_together(), CompletionBoard::kLongestTogether / 8);
  const auto learned = board_.spins_together();
  for (int wait = 0; wait < 1'000 && board_.spins_together() <= learned; ++wait) wait_once(0ns);
  EXPECT_GT(board_.spins_together(), learned) << "short waits pay again";
}

TEST_F(SpinningTogether, LearnsNothingFromWaitsOutsideItsTurns) {
  wait_once(2ms);
  coscheduling().switch_in();
  wait_once(2ms, [&] { coscheduling().switch_out(); });
  EXPECT_EQ(board_.spins_together(), CompletionBoard::kLongestTogether);
}

}  // namespace
}  // namespace fairgv::session
