// The recognition of interactive programs: by the rate of synchronous calls, on the program's own device
// time.
#include "sched/interactivity.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace {

using fairgv::sched::Duration;
using fairgv::sched::InteractivityClassifier;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// A program on a clock of its own.
struct Program {
  InteractivityClassifier classifier;
  InteractivityClassifier::Time now{};
  std::uint32_t calls = 0;

  /// The program has the device for so long, with synchronous calls spread evenly over that time.
  void run(Duration time, std::uint32_t calls_made) {
    classifier.observe(calls, now);
    for (std::uint32_t i = 0; i < calls_made; ++i) {
      now += time / calls_made;
      classifier.observe(++calls, now);
    }
    if (calls_made == 0) now += time;
    classifier.observe(calls, now);
  }
  void lose_device(Duration time) {
    classifier.suspend(now);
    now += time;
  }
};

TEST(Interactivity, NobodyIsInteractiveBeforeItHasWaited) {
  Program program;
  EXPECT_FALSE(program.classifier.interactive());
  program.run(milliseconds(100), 0);
  EXPECT_FALSE(program.classifier.interactive());
}

TEST(Interactivity, TenCallsInTenMillisecondsAreNotYetTooMany) {
  Program program;
  for (int window = 0; window < 10; ++window) program.run(milliseconds(10), 10);
  EXPECT_FALSE(program.classifier.interactive());
}

TEST(Interactivity, TheEleventhCallDecidesAtOnce) {
  Program program;
  program.run(milliseconds(1), 11);
  EXPECT_TRUE(program.classifier.interactive());
}

TEST(Interactivity, APhaseWithoutWaitsEndsIt) {
  Program program;
  program.run(milliseconds(10), 50);
  ASSERT_TRUE(program.classifier.interactive());
  program.run(milliseconds(9), 0);
  EXPECT_TRUE(program.classifier.interactive()) << "the window is not over";
  program.run(milliseconds(2), 0);
  EXPECT_FALSE(program.classifier.interactive());
  program.run(milliseconds(10), 50);
  EXPECT_TRUE(program.classifier.interactive());
}

// A hundred tenants: a turn of 6 ms each 600 ms, a call every 100 us of it.
TEST(Interactivity, TimeWithoutTheDeviceDoesNotCount) {
  Program program;
  for (int turn = 0; turn < 5; ++turn) {
    program.run(milliseconds(6), 60);
    EXPECT_TRUE(program.classifier.interactive()) << "turn " << turn;
    program.lose_device(milliseconds(594));
    EXPECT_TRUE(program.classifier.interactive()) << "when it is switched in, after turn " << turn;
  }
}

TEST(Interactivity, OneCallPerTurnIsPatienceHoweverLongTheTurnsAreApart) {
  Program program;
  for (int turn = 0; turn < 50; ++turn) {
    program.run(milliseconds(6), 1);
    program.lose_device(milliseconds(6));
    EXPECT_FALSE(program.classifier.interactive()) << "turn " << turn;
  }
}

TEST(Interactivity, CallsThatWaitedForTheDeviceCount) {
  Program program;
  program.run(milliseconds(1), 0);
  program.lose_device(milliseconds(50));
  program.calls += 11;
  program.run(microseconds(100), 0);
  EXPECT_TRUE(program.classifier.interactive());
}

TEST(Interactivity, ACountThatWrapsOrJumpsDoesNoHarm) {
  Program program;
  program.calls = 0xFFFF'FFFA;
  program.run(milliseconds(10), 0);  // a jump from zero
  program.run(milliseconds(20), 0);
  EXPECT_FALSE(program.classifier.interactive());
  program.run(milliseconds(10), 20);  // wraps
  EXPECT_TRUE(program.classifier.interactive());
  program.run(milliseconds(20), 0);
  EXPECT_FALSE(program.classifier.interactive());
}

}  // namespace
