// Sessions that move from one worker to another, and moves that fail in each of their steps.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/daemon/moves/move_fixture.hpp"

namespace fairgv::daemon {
namespace {

using Numbers = std::vector<std::uint32_t>;
using Bytes = std::vector<std::uint64_t>;

TEST_F(MoveTest, TheNewWorkerServesTheSessionAndTheOldOneIsGone) {
  start_two(honest_old(), say(ready()) + honest_new());
  EXPECT_EQ(move(), "");
  EXPECT_NE(session().worker.pid(), old_worker);
  EXPECT_EQ(session().stage, Session::Stage::running);
  EXPECT_FALSE(session().moving);
  run_until([&] { return has_come_to(2); });
  settle();
  EXPECT_NE(::kill(old_worker, 0), 0) << "it was waited for";
  EXPECT_EQ(counts().crashes + counts().violations, 0U);
  EXPECT_EQ(outcome->from, Numbers({0, 1}));
  EXPECT_EQ(outcome->to, Numbers({0, 1}));
  // The new one's end is the session's from now on.
  ASSERT_EQ(::kill(session().worker.pid(), SIGKILL), 0);
  run_until([&] { return table.empty(); });
  EXPECT_EQ(counts().crashes, 1U);
}

TEST_F(MoveTest, WhatTheSessionHoldsIsChargedOnItsNewDevice) {
  start_two(take_memory(300) + honest_old(), say(ready()) + honest_new());
  run_until([&] { return granted() == Bytes({300, 0}); });
  EXPECT_EQ(move(1), "");
  settle();
  EXPECT_EQ(granted(), Bytes({0, 300}));
  EXPECT_EQ(outcome->from, Numbers({0, 1}));
  EXPECT_EQ(outcome->to, Numbers({1})) << "nothing lies on the first device any more";
  EXPECT_EQ(session().moved.moved(), DeviceMap::Pairs({{0, 1}}));
  const auto report = house.report();
  const auto& shown = report.tenants.at(0).sessions.at(0);
  EXPECT_EQ(shown.moved.size(), 1U);
  EXPECT_EQ(shown.devices, Numbers({0, 1})) << "that its program sees";
  EXPECT_EQ(move(1), "session 1 has all that it uses on device 1 already");
}

TEST_F(MoveTest, ATargetWithoutRoomFailsTheMoveAndChargesNothing) {
  start_two(take_memory(700) + honest_old(), say(ready()) + honest_new());
  run_until([&] { return granted() == Bytes({700, 0}); });
  EXPECT_EQ(move(1),
            "session 1 does not move: it needs 700 B of device 1, and the device has 500 B more: 200 B are "
            "missing");
  EXPECT_EQ(granted(), Bytes({700, 0}));
  EXPECT_EQ(session().worker.pid(), old_worker);
  run_until([&] { return has_come_to(1); });
  settle();
}

TEST_F(MoveTest, AWorkerThatRefusesServesOn) {
  start_two(hear() + say(to_text(session::CannotMove{"a pipe has contents"})) + note(1) + rest(),
            say(ready()) + honest_new());
  EXPECT_EQ(move(), "session 1 does not move: a pipe has contents");
  run_until([&] { return has_come_to(1); });
  EXPECT_EQ(session().worker.pid(), old_worker);
  settle();
}

TEST_F(MoveTest, ANewWorkerThatCannotStartLeavesTheOldOneAlone) {
  start_two(note(1) + rest(), say(to_text(session::WorkerFailed{"the driver is not there"})));
  EXPECT_EQ(move(), "session 1 does not move: its new worker failed: the driver is not there");
  run_until([&] { return has_come_to(1); });
  settle();
  EXPECT_EQ(counts().crashes, 0U);
}

TEST_F(MoveTest, ANewWorkerThatSeesOtherDevicesIsNotTaken) {
  start_two(note(1) + rest(), say(to_text(session::WorkerReady{{devices().at(1)}})) + honest_new());
  EXPECT_EQ(
      move(),
      "session 1 does not move: its new worker sees other devices than the session has, 1 instead of 2: "
      "the drivers, or their order, have changed");
  settle();
}

TEST_F(MoveTest, ANewWorkerThatDiesWhileItMakesTheSessionLeavesItToTheOldOne) {
  start_two(take_memory(300) + honest_old(), say(ready()) + hear() + "exit 3\n");
  run_until([&] { return granted() == Bytes({300, 0}); });
  const std::string failure = move(1);
  EXPECT_NE(failure.find("its new worker ended with status 3"), std::string::npos) << failure;
  run_until([&] { return has_come_to(1); });
  settle();
  EXPECT_EQ(granted(), Bytes({300, 0}));
  EXPECT_EQ(counts().crashes, 0U);
}

TEST_F(MoveTest, AWorkerIsCopiedAheadAsLongAsThatPays) {
  const auto copied = [](std::uint64_t left) { return hear() + say_copied(left << 20); };
  start_two(copied(900) + copied(400) + copied(350) + hear() + note(1) +
                say(to_text(session::ImageWritten{0})) + rest(),
            say(ready()) + honest_new());
  EXPECT_EQ(move(), "");
  EXPECT_NE(session().worker.pid(), old_worker);
  settle();
}

TEST_F(MoveTest, OverALinkEachImageArrivesLate) {
  using namespace std::chrono_literals;
  house.config.session.move_link = MoveLink{MoveLink::kMostBandwidth, 40ms};
  start_two(honest_old(), say(ready()) + honest_new());
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(move(), "");
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 80ms) << "the copy ahead, and the image";
  EXPECT_GE(outcome->held, 40ms) << "the image";
  EXPECT_NE(session().worker.pid(), old_worker);
  settle();
}

TEST_F(MoveTest, AWorkerMayTakeMemoryWhileACopyIsOnItsWay) {
  using namespace std::chrono_literals;
  house.config.session.move_link = MoveLink{MoveLink::kMostBandwidth, 100ms};
  start_two(hear() + say_copied() + take_memory(300) + honest_old(), say(ready()) + honest_new());
  EXPECT_EQ(move(1), "");
  settle();
  EXPECT_EQ(granted(), Bytes({0, 300}));
}

TEST_F(MoveTest, AWorkerThatAsksForMemoryWhileItsImageIsOnItsWayEndsItsSession) {
  using namespace std::chrono_literals;
  house.config.session.move_link = MoveLink{MoveLink::kMostBandwidth, 10'000ms};
  start_two(hear() + say(to_text(session::ImageWritten{0})) + "sleep 0.2\n" + take_memory(1) + rest(),
            say(ready()) + honest_new());
  table.set_pause(session().id, control::Pause{0, true});  // nothing is copied ahead
  EXPECT_EQ(move(), "session 1 does not move: it has ended");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(counts().violations, 1U);
}

TEST_F(MoveTest, WhatTheSessionTakesWhileItIsCopiedIsChargedToo) {
  start_two(take_memory(100) + hear() + take_memory(50) + say_copied(std::uint64_t{64} << 20) + hear() +
                take_memory(70) + say_copied() + honest_old(),
            say(ready()) + honest_new());
  EXPECT_EQ(move(1), "");
  settle();
  EXPECT_EQ(granted(), Bytes({0, 220}));
}

TEST_F(MoveTest, ATargetThatHasTooLittleInTheEndFailsTheMove) {
  start_two(take_memory(400) + hear() + say_copied() + hear() + take_memory(200) +
                say(to_text(session::ImageWritten{0})) + hear() + note(1) + rest(),
            say(ready()) + honest_new());
  EXPECT_EQ(move(1),
            "session 1 does not move: it needs 200 B of device 1, and the device has 100 B more: 100 B are "
            "missing");
  run_until([&] { return has_come_to(1); });
  settle();
  EXPECT_EQ(granted(), Bytes({600, 0}));
}

TEST_F(MoveTest, AWorkerThatCopiesForTooLongWritesItsImageInstead) {
  house.config.session.move_patience = std::chrono::seconds(1);  // which it has to write, too
  start_two(hear() + "first=$order\nnumber=0\n" + hear() + expect_copied() + "order=$first\n" +
                say_copied() +  // late
                say(to_text(session::ImageWritten{0})) + rest(),
            say(ready()) + honest_new());
  EXPECT_EQ(move(), "");
  EXPECT_NE(session().worker.pid(), old_worker);
  settle();
}

TEST_F(MoveTest, AnOrderToWriteNamesTheLatestCopyThatTheNewWorkerHas) {
  start_two(hear_write() + expect_copied() + say(to_text(session::ImageWritten{0})) + rest(),
            say(ready()) + honest_new());
  EXPECT_EQ(move(), "");
  settle();
}

TEST_F(MoveTest, ACopyThatIsLateIsNoOffence) {
  start_two(hear() + "first=$order\n" + hear() + "order=$first\n" + say_copied() + note(1) + honest_old(),
            say(ready()) + "exit 3\n");
  const std::string failure = move();
  EXPECT_NE(failure.find("its new worker ended with status 3"), std::string::npos) << failure;
  run_until([&] { return has_come_to(1); });
  settle();
  EXPECT_EQ(session().stage, Session::Stage::running);
  EXPECT_EQ(counts().violations, 0U);
}

TEST_F(MoveTest, ARefusalToCopyThatIsLateIsNoOffence) {
  start_two(
      hear() + hear() + say(to_text(session::CannotMove{"a pipe has contents"})) + note(1) + honest_old(),
      say(ready()) + "exit 3\n");
  const std::string failure = move();
  EXPECT_NE(failure.find("its new worker ended with status 3"), std::string::npos) << failure;
  run_until([&] { return has_come_to(1); });
  settle();
  EXPECT_EQ(session().stage, Session::Stage::running);
  EXPECT_EQ(counts().violations, 0U);
}

TEST_F(MoveTest, TheOldWorkersDeathEndsTheSessionAndTheMove) {
  start_two(hear() + "exit 3\n", say(ready()) + honest_new());
  EXPECT_EQ(move(), "session 1 does not move: it has ended");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(counts().crashes, 1U);
}

TEST_F(MoveTest, TheProgramsEndEndsBothWorkers) {
  start_two(honest_old(), say(ready()) + hear() + rest());
  ASSERT_TRUE(table.moves().begin(session(), {}, [this](const MoveOutcome& result) { outcome = result; }));
  run_until([&] { return session().moving; });
  client.close();
  run_until([&] { return table.empty(); });
  EXPECT_EQ(outcome->failure->message, "session 1 does not move: it has ended");
}

TEST_F(MoveTest, AWorkerThatDoesNotComeToRestInTimeGoesOn) {
  house.config.session.move_patience = std::chrono::milliseconds(100);
  // It answers when it has heard that it may go on: too late.
  start_two(hear_write() + hear() + note(1) + "while [ ! -e " + (folder / "go").string() +
                " ]; do sleep 0.01; done\n" + say(to_text(session::ImageWritten{0})) + hear_write() +
                say(to_text(session::ImageWritten{0})) + hear() + rest(),
            say(ready()) + honest_new());
  const std::string failure = move();
  EXPECT_NE(failure.find("within 0.1 s (move_patience_s)"), std::string::npos) << failure;
  run_until([&] { return has_come_to(1); });
  EXPECT_EQ(move(),
            "session 1 has not come to rest since it was told to, and cannot move before: try again later");
  house.config.session.move_patience = std::chrono::seconds(60);
  folder.write("go", "");
  // Its late answer is no offence, and none to the next order.
  std::string refusal = "none yet";
  run_until([&] {
    if (!refusal.empty()) refusal = move();
    return refusal.empty();
  });
  EXPECT_NE(session().worker.pid(), old_worker);
  settle();
}

TEST_F(MoveTest, AWorkerThatAsksForMemoryWhileItRestsEndsItsSession) {
  start_two(hear_write() + say(to_text(session::ImageWritten{0})) + "sleep 0.2\n" + take_memory(1) + rest(),
            say(ready()) + hear() + say(to_text(session::MadeAhead{})) + hear() + rest());
  EXPECT_EQ(move(), "session 1 does not move: it has ended");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(counts().violations, 1U);
}

TEST_F(MoveTest, AnImageThatIsShorterThanItsWorkerSaysIsNotTaken) {
  start_two(hear_write() + say(to_text(session::ImageWritten{1})) + hear() + note(1) + rest(),
            say(ready()) + honest_new());
  EXPECT_EQ(move(), "session 1 does not move: its worker's image is shorter than it should be");
  run_until([&] { return has_come_to(1); });
  settle();
}

TEST_F(MoveTest, AnAnswerThatNobodyAskedForEndsTheSession) {
  start_two(say(to_text(session::ImageWritten{0})) + rest(), "");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("ends: its worker spoke out of turn"), 1U);
}

TEST_F(MoveTest, ASessionIsMovedOnceAtATime) {
  start_two(honest_old(), say(ready()) + honest_new());
  ASSERT_TRUE(table.moves().begin(session(), {}, [this](const MoveOutcome& result) { outcome = result; }));
  EXPECT_TRUE(house.report().tenants.at(0).sessions.at(0).moving);
  EXPECT_FALSE(table.settled());
  const auto again = table.moves().begin(session(), {}, [](const MoveOutcome&) {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "session 1 is moving already");
  run_until([&] { return outcome.has_value(); });
  EXPECT_FALSE(outcome->failure);
}

TEST_F(MoveTest, ADaemonThatRestartsEndsMovesAndBeginsNone) {
  start_two(honest_old(), say(ready()) + hear() + rest());
  ASSERT_TRUE(table.moves().begin(session(), {}, [this](const MoveOutcome& result) { outcome = result; }));
  table.refuse_moves("the daemon restarts");
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->failure->message, "session 1 does not move: the daemon restarts");
  settle();
  EXPECT_EQ(move(), "session 1 cannot move now: the daemon restarts");
  table.refuse_moves("");
  const auto begun = table.moves().begin(session(), {}, [](const MoveOutcome&) {});
  EXPECT_TRUE(begun);
}

TEST_F(MoveTest, APausedSessionMovesAndStaysPaused) {
  start_two(honest_old(), say(ready()) + honest_new());
  table.set_pause(session().id, control::Pause{0, true});
  EXPECT_EQ(move(), "");
  EXPECT_TRUE(is_suspended(session(), house.tenancies.registry()));
}

TEST_F(MoveTest, TheNextDaemonKnowsWhereTheDevicesOfASessionLie) {
  start_two(take_memory(300) + honest_old(), say(ready()) + honest_new());
  run_until([&] { return granted() == Bytes({300, 0}); });
  ASSERT_EQ(move(1), "");
  settle();
  const HandedSession handed = handed_to_the_next_daemon();
  EXPECT_EQ(handed.moved.moved(), DeviceMap::Pairs({{0, 1}}));
  EXPECT_EQ(handed.moved.visited(), 0b10U);
  EXPECT_EQ(handed.holdings, Bytes({300, 0}));
}

TEST_F(MoveTest, TheNextDaemonKnowsThatAWorkerOwesAnAnswer) {
  house.config.session.move_patience = std::chrono::milliseconds(100);
  start_two(hear_write() + rest(), say(ready()) + honest_new());
  EXPECT_FALSE(handed_to_the_next_daemon().owes_answer);
  EXPECT_NE(move(), "");
  EXPECT_TRUE(handed_to_the_next_daemon().owes_answer);
}

}  // namespace
}  // namespace fairgv::daemon
