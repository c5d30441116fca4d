// Sessions that are parked: without a worker and without device memory, until they are resumed.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/daemon/moves/move_fixture.hpp"

namespace fairgv::daemon {
namespace {

using HeldBytes = std::vector<std::uint64_t>;

constexpr control::Pause kParker{0, true};

struct Parks : MoveTest {
  /// Parks the session, or lets it go on; returns why it failed.
  std::string park(const Parking& how = {.by = kParker}) {
    return wait_for(table.moves().park(session(), how, done()));
  }
  std::string unpark() { return wait_for(table.moves().unpark(session(), done())); }

  Moves::Done done() {
    outcome.reset();
    return [this](const MoveOutcome& result) { outcome = result; };
  }
  std::string wait_for(const Result<void>& begun) {
    if (!begun) return begun.error().message;
    run_until([&] { return outcome.has_value(); });
    return outcome->failure ? outcome->failure->message : "";
  }
};

TEST_F(Parks, ASessionHasNeitherWorkerNorMemoryUntilItGoesOn) {
  start_two(take_memory(300) + honest_old(), say(ready()) + honest_new());
  run_until([&] { return granted() == HeldBytes({300, 0}); });
  EXPECT_EQ(park(), "");
  settle();
  EXPECT_NE(::kill(old_worker, 0), 0);
  EXPECT_EQ(granted(), HeldBytes({0, 0}));
  const auto shown = house.report().tenants.at(0).sessions.at(0);
  EXPECT_TRUE(shown.parked);
  EXPECT_EQ(shown.worker_pid, 0);
  EXPECT_EQ(house.report().tenants.at(0).use.at(0).entitled_share, 0) << "it is due nothing";
  EXPECT_EQ(park(), "session 1 is parked already");
  EXPECT_EQ(move(1), "session 1 is parked: let it go on by 'fairgv resume' first");
  EXPECT_EQ(unpark(), "");
  run_until([&] { return has_come_to(2); });
  EXPECT_EQ(granted(), HeldBytes({300, 0}));
  EXPECT_FALSE(session().parked);
  EXPECT_EQ(unpark(), "session 1 is not parked");
  EXPECT_EQ(house.report().tenants.at(0).use.at(0).entitled_share, 1);
}

TEST_F(Parks, AWorkerThatRefusesServesOn) {
  start_two(hear() + say(to_text(session::CannotMove{"a pipe has contents"})) + note(1) + rest(), "");
  EXPECT_EQ(park(), "session 1 is not parked: a pipe has contents");
  run_until([&] { return has_come_to(1); });
  EXPECT_EQ(session().worker.pid(), old_worker);
}

TEST_F(Parks, ASessionWhoseMemoryIsGoneStaysParked) {
  start_two(take_memory(700) + honest_old(), say(ready()) + honest_new());
  run_until([&] { return granted() == HeldBytes({700, 0}); });
  ASSERT_EQ(park(), "");
  settle();
  Socket other;
  ASSERT_TRUE(begin(joins, ::getuid(), other));
  run_until([&] { return house.tenancies.memory().granted(SessionId{2}) == HeldBytes({700, 0}); });
  EXPECT_EQ(unpark(),
            "session 1 stays parked: it needs 700 B of device 0, and the device has 300 B more: 400 B are "
            "missing");
  EXPECT_TRUE(session().parked);
  EXPECT_EQ(granted(), HeldBytes({0, 0}));
  other.close();
  run_until([&] { return table.all().size() == 1; });
  EXPECT_EQ(unpark(), "");
  EXPECT_EQ(granted(), HeldBytes({700, 0}));
}

TEST_F(Parks, ANewWorkerThatDiesLeavesTheSessionParked) {
  start_two(honest_old(), say(ready()) + hear() + "exit 3\n");
  ASSERT_EQ(park(), "");
  EXPECT_EQ(unpark(), "session 1 stays parked: its new worker ended with status 3 (see the daemon's log)");
  EXPECT_TRUE(session().parked);
  EXPECT_EQ(counts().crashes, 0U);
}

TEST_F(Parks, AProgramThatEndsWhileItIsParkedLeavesNothing) {
  start_two(honest_old(), "");
  ASSERT_EQ(park(), "");
  client.close();
  run_until([&] { return table.empty(); });
  EXPECT_EQ(counts().crashes, 0U);
}

TEST_F(Parks, AProgramThatEndsWhileItIsResumedLeavesNothing) {
  start_two(honest_old(), say(ready()) + hear() + rest());
  ASSERT_EQ(park(), "");
  ASSERT_TRUE(table.moves().unpark(session(), done()));
  client.close();
  run_until([&] { return table.empty(); });
  EXPECT_EQ(outcome->failure->message, "session 1 stays parked: it has ended");
}

TEST_F(Parks, AKilledSessionIsNotWaitedFor) {
  start_two(honest_old(), "");
  ASSERT_EQ(park(), "");
  table.end(session().id, "ended by user 0");
  run_until([&] { return table.empty(); });
}

TEST_F(Parks, TheNextDaemonHasTheImage) {
  start_two(take_memory(300) + honest_old(), "");
  run_until([&] { return granted() == HeldBytes({300, 0}); });
  ASSERT_EQ(park(), "");
  settle();
  Handover handover;
  handover.listener = 3;
  handover.lock = 4;
  handover.devices = devices();
  handover.hardware = {0, 1};
  handover.sessions = table.handed();
  const auto read = parse_handover(to_text(handover));
  ASSERT_TRUE(read) << read.error().message;
  const HandedSession& handed = read->sessions.at(0);
  ASSERT_TRUE(handed.parked);
  EXPECT_EQ(handed.parked->image, session().parked->image.get());
  EXPECT_EQ(handed.parked->holdings, HeldBytes({300}));
  EXPECT_EQ(handed.parked->by, kParker);
  EXPECT_EQ(handed.channel, -1);
  EXPECT_EQ(handed.memory, HeldBytes({0, 0}));
}

}  // namespace
}  // namespace fairgv::daemon
