// The time for which threads that wait for an event spin while their session is switched in.
#include "runtime/session/client/completion_board.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/ring/support.hpp"

namespace fairgv::session {
namespace {

using namespace std::chrono_literals;

using std::chrono::nanoseconds;

std::atomic<nanoseconds::rep> clock_now{0};

std::chrono::steady_clock::time_point now() {
  return std::chrono::steady_clock::time_point(nanoseconds(clock_now));
}

class SpinningTogether : public ::testing::Test {
 protected:
  /// Waits so long, by the board's clock, for a new event; calls `meanwhile` when the wait has begun.
  template <class Meanwhile>
  void wait_once(nanoseconds took, Meanwhile meanwhile) {
    const wire::EventId event = board_.acquire();
    const std::uint32_t waits = coscheduling().synchronous_calls;
    std::thread peer([&] {
      while (coscheduling().synchronous_calls == waits) std::this_thread::yield();
      meanwhile();
      clock_now += took.count();
      board_.set(event, kComplete);
    });
    EXPECT_EQ(board_.wait(event), kComplete);
    peer.join();
    board_.release(event);
  }
  void wait_once(nanoseconds took) {
    wait_once(took, [] {});
  }

  ring::Coscheduling& coscheduling() { return segment_.header().coscheduling; }

  ring::Segment segment_ = ring::Segment::create(ring::small_sizes()).value();
  CompletionBoard board_{segment_, now};
};

TEST_F(SpinningTogether, StopsWhereTheWaitsTakeLonger) {
  EXPECT_EQ(board_.spins_together(), 500us);
  coscheduling().switch_in();
  wait_once(501us);
  EXPECT_EQ(board_.spins_together(), 250us);
  wait_once(2ms);
  EXPECT_EQ(board_.spins_together(), 125us);
  wait_once(500us);
  EXPECT_GT(board_.spins_together(), 125us) << "spinning on would have saved the sleep";
}

TEST_F(SpinningTogether, LearnsNothingFromWaitsThatATurnDoesNotHold) {
  wait_once(2ms);
  wait_once(2ms, [&] { coscheduling().switch_in(); });
  wait_once(2ms, [&] { coscheduling().switch_in(); });
  wait_once(2ms, [&] { coscheduling().switch_out(); });
  EXPECT_EQ(board_.spins_together(), 500us);
}

}  // namespace
}  // namespace fairgv::session
