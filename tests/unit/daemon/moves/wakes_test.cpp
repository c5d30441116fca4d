// Parked sessions that go on when their programs need their devices.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "runtime/daemon/sessions/worker_page.hpp"
#include "runtime/ring/doorbell.hpp"
#include "tests/unit/daemon/moves/move_fixture.hpp"

namespace fairgv::daemon {
namespace {

struct WakesTest : MoveTest {
  void park(bool wakes) {
    outcome.reset();
    const auto begun = table.moves().park(session(), {.by = {0, true}, .drained = {}, .wakes = wakes},
                                          [this](const MoveOutcome& result) { outcome = result; });
    ASSERT_TRUE(begun) << begun.error().message;
    run_until([&] { return outcome.has_value(); });
    ASSERT_FALSE(outcome->failure) << outcome->failure->message;
  }
  /// The program puts so many slots of calls into its ring.
  void call(std::uint64_t produced) {
    const auto ring = session().header.header().preamble.offsets.requests;
    ASSERT_EQ(::pwrite(session().segment_fd.get(), &produced, sizeof(produced), static_cast<off_t>(ring)),
              static_cast<ssize_t>(sizeof(produced)));
  }
};

TEST_F(WakesTest, ACallWakesASession) {
  start_two(honest_old(), say(ready()) + honest_new());
  park(true);
  EXPECT_FALSE(needs_its_device(session()));
  call(1);
  EXPECT_TRUE(needs_its_device(session()));
  run_until([&] { return !session().parked; });
  run_until([&] { return has_come_to(2); });
}

TEST_F(WakesTest, AThreadThatWaitsWakesASession) {
  start_two(honest_old(), say(ready()) + honest_new());
  park(true);
  session().header.header().completion_bell.word.fetch_or(ring::Doorbell::kSleeper);
  run_until([&] { return !session().parked; });
}

TEST_F(WakesTest, AThreadThatHasLeftWakesNobody) {
  start_two(honest_old(), say(ready()) + honest_new());
  session().header.header().completion_bell.word.fetch_or(ring::Doorbell::kSleeper);
  park(true);
  EXPECT_FALSE(needs_its_device(session()));
}

TEST_F(WakesTest, ASessionThatIsNotToBeWokenWaits) {
  start_two(honest_old(), say(ready()) + honest_new());
  park(false);
  call(1);
  // Nobody looks: there is nothing that the table waits for.
  run_until([&] { return table.settled(); });
  EXPECT_FALSE(table.deadline() && *table.deadline() < std::chrono::steady_clock::now() + Wakes::kLook);
  EXPECT_TRUE(session().parked);
  EXPECT_TRUE(house.report().tenants.at(0).sessions.at(0).image->wanted);
}

TEST_F(WakesTest, ASessionOnADrainedDeviceStaysParkedUntilThatEnds) {
  start_two(honest_old(), say(ready()) + honest_new());
  park(true);
  house.devices.set_drained(0, true);
  call(1);
  const auto until = std::chrono::steady_clock::now() + 4 * Wakes::kLook;
  run_until([&] { return std::chrono::steady_clock::now() > until; });
  EXPECT_TRUE(session().parked);
  house.devices.set_drained(0, false);
  run_until([&] { return !session().parked; });
}

}  // namespace
}  // namespace fairgv::daemon
