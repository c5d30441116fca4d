// Devices that are drained, with workers that refuse, die or are slow.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/moves/move_fixture.hpp"

namespace fairgv::daemon {
namespace {

using Hosts = std::vector<std::uint32_t>;

constexpr Account kDrainer{0, true};

struct Drained : MoveTest {
  /// The answer, which says what has come of each session, or why nothing is done.
  std::string drain(std::uint32_t device) { return wait_for(table.drains().begin(device, kDrainer, 1)); }
  std::string undrain(std::uint32_t device) { return wait_for(table.drains().end(device, kDrainer, 1)); }
  std::string wait_for(const Result<std::optional<std::string>>& answer) {
    if (!answer) return answer.error().message;
    if (answer.value()) return *answer.value();
    house.answers.clear();
    run_until([&] { return !house.answers.empty(); });
    return house.answers.at(0).second;
  }
  static control::MovedSession only(const std::string& text) {
    const auto report = control::parse_move_report(text);
    EXPECT_TRUE(report && report->moves.size() == 1) << text;
    return report && report->moves.size() == 1 ? report->moves[0] : control::MovedSession{};
  }
};

TEST_F(Drained, ASessionGoesElsewhereAndComesBackWithItsMemory) {
  start_two(take_memory(300) + honest_old(), say(ready()) + honest_new());
  run_until([&] { return granted() == std::vector<std::uint64_t>({300, 0}); });
  const auto gone = only(drain(0));
  EXPECT_EQ(gone.to, Hosts({1})) << gone.error;
  settle();
  EXPECT_EQ(granted(), std::vector<std::uint64_t>({0, 300}));
  EXPECT_TRUE(house.report().devices.at(0).drained);
  const auto back = only(undrain(0));
  EXPECT_EQ(back.to, Hosts({0, 1})) << back.error;
  settle();
  EXPECT_EQ(granted(), std::vector<std::uint64_t>({300, 0}));
  EXPECT_TRUE(session().moved.moved().empty());
  EXPECT_TRUE(session().evacuated.empty());
}

TEST_F(Drained, ASessionThatNoDeviceTakesIsParkedAndSaysWhy) {
  start_two(take_memory(700) + honest_old(), say(ready()) + honest_new());
  run_until([&] { return granted() == std::vector<std::uint64_t>({700, 0}); });
  const auto gone = only(drain(0));
  EXPECT_TRUE(gone.error.empty()) << gone.error;
  EXPECT_EQ(gone.reason,
            "session 1 does not move: it needs 700 B of device 1, and the device has 500 B more: 200 B are "
            "missing");
  ASSERT_TRUE(session().parked);
  EXPECT_EQ(session().parked->how.drained, 0U);
  const auto resumed = table.moves().unpark(session(), [](const MoveOutcome&) {});
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error().message,
            "session 1 stays parked: device 0, where it lies, is drained: 'fairgv undrain 0' ends that");
  EXPECT_EQ(only(undrain(0)).to, Hosts({0, 1}));
  EXPECT_FALSE(session().parked);
}

TEST_F(Drained, ASessionThatCannotMoveStaysAndTheDeviceIsDrainedAllTheSame) {
  const std::string refusal = hear() + say(to_text(session::CannotMove{"it speaks CUDA"}));
  start_two(refusal + refusal + rest(), say(ready()) + honest_new());
  EXPECT_EQ(only(drain(0)).error,
            "session 1 does not move: it speaks CUDA; session 1 is not parked: it speaks CUDA");
  EXPECT_EQ(session().worker.pid(), old_worker);
  EXPECT_TRUE(house.report().devices.at(0).drained);
}

TEST_F(Drained, ANewWorkerThatDiesLeavesTheSessionToBeParked) {
  start_two(honest_old(), "exit 3\n");
  const auto gone = only(drain(0));
  EXPECT_NE(gone.reason.find("its new worker ended with status 3"), std::string::npos) << gone.reason;
  EXPECT_TRUE(session().parked);
}

TEST_F(Drained, ASessionThatMovesAlreadyIsWaitedFor) {
  start_two(honest_old(), say(ready()) + honest_new());
  bool moved = false;
  ASSERT_TRUE(table.moves().begin(session(), {}, [&](const MoveOutcome&) { moved = true; }));
  EXPECT_EQ(only(drain(0)).to, Hosts({1}));
  EXPECT_TRUE(moved);
}

TEST_F(Drained, ASessionThatEndsMeanwhileIsNoFailure) {
  start_two(honest_old(), say(ready()) + hear() + rest());
  const auto asked = table.drains().begin(0, kDrainer, 1);
  ASSERT_TRUE(asked && !asked.value());
  client.close();
  run_until([&] { return !house.answers.empty(); });
  const auto report = control::parse_move_report(house.answers.at(0).second);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->moves.empty());
  run_until([&] { return table.empty(); });
}

TEST_F(Drained, NoSessionBeginsOnADrainedDevice) {
  start_two(honest_old(), say(ready()) + honest_new());
  (void)drain(0);
  Socket late;
  ASSERT_TRUE(begin(joins, ::getuid(), late));
  run_until([&] { return table.settled() && table.all().size() == 2; });
  EXPECT_EQ(table.all().at(SessionId{2})->devices.shown(), Hosts({1}));
  EXPECT_TRUE(house.devices.placements().prospect("bob", {}, {}).refusal == std::nullopt);
  (void)drain(1);
  Socket later;
  ASSERT_TRUE(begin(joins, ::getuid(), later));
  run_until([&] { return table.all().size() == 2; });
  EXPECT_NE(later.receive()->text.find("is drained"), std::string::npos);
  const auto refusal = house.devices.placements().prospect("bob", {}, {}).refusal;
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->message,
            "device 0,1 is drained (fairgv drain), and a program of tenant 'bob' may use no other: try again "
            "later");
}

TEST_F(Drained, TheNextDaemonHasWhatIsDrainedAndWhoComesBack) {
  start_two(honest_old(), say(ready()) + honest_new());
  (void)drain(0);
  Handover handover;
  handover.listener = 3;
  handover.lock = 4;
  handover.devices = devices();
  handover.hardware = {0, 1};
  handover.drained = {0};
  handover.sessions = table.handed();
  const auto read = parse_handover(to_text(handover));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->drained, Hosts({0}));
  const auto& evacuated = read->sessions.at(0).evacuated;
  ASSERT_EQ(evacuated.size(), 1U);
  EXPECT_EQ(evacuated[0].device, 0U);
  EXPECT_EQ(evacuated[0].home, 0U);
  EXPECT_EQ(evacuated[0].place, 1U);
}

TEST_F(Drained, WhatIsNotThereIsSaidSo) {
  start_two(honest_old(), say(ready()) + honest_new());
  EXPECT_EQ(drain(5), "there is no device 5: see 'fairgv ps' (devices are known once a program runs)");
  EXPECT_EQ(undrain(0), "device 0 is not drained");
}

}  // namespace
}  // namespace fairgv::daemon
