// `fairgv drain` and `undrain`: the sessions of a device go elsewhere, or are parked, and come back.
#include <string>
#include <utility>

#include "tests/integration/system/moves/moving.hpp"

namespace fairgv::integration {
namespace {

struct Draining : Moving {
  bool drained(std::size_t device) { return ps()["devices"][device]["drained"].get<bool>(); }
  /// Whether anything of the tenant's program lies on the device.
  bool lies_on_first(const std::string& name) { return !session(name)["moved"].contains("0"); }
};

TEST_F(Draining, SessionsGoToAnotherDeviceAndComeBack) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const auto gone = fairgv({"drain", "0"});
  EXPECT_EQ(gone.status, 0) << joined(gone);
  EXPECT_NE(joined(gone).find(": moved from device 0,1 to 1, image "), std::string::npos) << joined(gone);
  ASSERT_TRUE(progresses(alice));
  EXPECT_GE(memory("alice", 1), kBallast);
  EXPECT_TRUE(eventually([&] { return memory("alice", 0) == 0; }));
  EXPECT_TRUE(drained(0));
  EXPECT_FALSE(drained(1));
  EXPECT_NE(joined(fairgv({"ps"})).find("drained"), std::string::npos);
  const auto back = fairgv({"undrain", "0"});
  EXPECT_EQ(back.status, 0) << joined(back);
  EXPECT_FALSE(drained(0));
  EXPECT_TRUE(session("alice")["moved"].empty());
  ASSERT_TRUE(progresses(alice));
  EXPECT_GE(memory("alice", 0), kBallast);
  expect_right(std::move(alice));
}

TEST_F(Draining, ProgramsThatStartMeanwhileGetAnotherDeviceOrNone) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  answer_of({"drain", "0"});
  auto bob = start_wanderer("bob");
  ASSERT_TRUE(progresses(bob));
  EXPECT_EQ(session("bob")["devices"], nlohmann::json::array({1}));
  EXPECT_NE(failure({"bob", "--device", "0"}).find("device 0 is drained: 'fairgv undrain 0' ends that"),
            std::string::npos);
  EXPECT_EQ(fairgv({"park", "alice"}).status, 0);
  EXPECT_EQ(fairgv({"kill", "bob"}).status, 0);
  answer_of({"drain", "1"});
  const auto refused = harness::run(tenancy->tenant("carol", 1, {"/bin/sh", "-c", "echo started"}));
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->status, 0);
  EXPECT_TRUE(refused->lines.empty()) << joined(refused.value());
}

TEST_F(Draining, WithoutRoomElsewhereSessionsAreParkedUntilTheDeviceIsBack) {
  start("memory = \"4MiB\"\n");
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const auto held = session("alice")["memory_used"];
  const auto gone = fairgv({"drain", "0"});
  EXPECT_EQ(gone.status, 0) << joined(gone);
  EXPECT_NE(joined(gone).find(": parked, image "), std::string::npos) << joined(gone);
  EXPECT_NE(joined(gone).find("of device 1, and the device has 4.0 MiB more: "), std::string::npos)
      << joined(gone);
  EXPECT_TRUE(session("alice")["parked"].get<bool>());
  EXPECT_NE(failure_of({"resume", "alice"}).find("stays parked: device 0, where it lies, is drained"),
            std::string::npos);
  const auto back = answer_of({"undrain", "0"});
  EXPECT_EQ(back["moves"].size(), 1U) << back;
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(session("alice")["memory_used"], held);
  expect_right(std::move(alice));
}

TEST_F(Draining, AWorkerThatIsToldToGoOnAndToWriteAgainDoesBoth) {
  start("memory = \"4MiB\"\n");
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  // Each drain fails to move the session, and parks it at once.
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(answer_of({"drain", "0"})["moves"].size(), 1U);
    ASSERT_TRUE(session("alice")["parked"].get<bool>()) << "round " << round;
    answer_of({"undrain", "0"});
  }
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(Draining, ANewWorkerThatDiesIsNotTheEnd) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const pid_t before = worker("alice");
  const pid_t daemon_pid = daemon();
  auto asked = begin({"drain", "0"});
  ASSERT_EQ(::kill(next_worker(daemon_pid, before), SIGKILL), 0);
  const auto finished = harness::finish(std::move(asked));
  EXPECT_EQ(finished.status, 0) << joined(finished);
  EXPECT_NE(joined(finished).find(": parked, image "), std::string::npos) << joined(finished);
  answer_of({"undrain", "0"});
  ASSERT_TRUE(progresses(alice));
  EXPECT_GE(memory("alice", 0), kBallast);
  expect_right(std::move(alice));
}

TEST_F(Draining, TheNextDaemonKnowsWhatIsDrainedAndWhoComesBack) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  answer_of({"drain", "0"});
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_TRUE(drained(0));
  ASSERT_TRUE(progresses(alice));
  answer_of({"undrain", "0"});
  EXPECT_TRUE(session("alice")["moved"].empty());
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(Draining, ARestartInTheMiddleIsTakenUpByTheNextDaemon) {
  auto alice = start_wanderer("alice");
  auto bob = start_wanderer("bob");
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  const pid_t daemon_pid = daemon();
  const auto before = children_of(daemon_pid);
  auto asked = begin({"drain", "0"});
  ASSERT_TRUE(eventually([&] { return children_of(daemon_pid) != before || drained(0); }));
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  (void)harness::finish(std::move(asked));
  EXPECT_TRUE(eventually([&] { return !lies_on_first("alice") && !lies_on_first("bob"); })) << ps();
  EXPECT_TRUE(eventually([&] { return ps()["devices"][0]["memory_used"] == 0; }));
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  expect_right(std::move(alice));
  expect_right(std::move(bob));
}

TEST_F(Draining, TheEndOfTheDaemonLeavesNoWorker) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const pid_t daemon_pid = daemon();
  const pid_t before = worker("alice");
  auto asked = begin({"drain", "0"});
  const pid_t next = next_worker(daemon_pid, before);
  ASSERT_EQ(::kill(daemon_pid, SIGKILL), 0);
  EXPECT_NE(harness::finish(std::move(asked)).status, 0);
  EXPECT_NE(harness::finish(std::move(alice)).status, 0) << "its calls fail, as ever";
  EXPECT_TRUE(eventually([&] { return !alive(before) && !alive(next); }));
}

TEST_F(Draining, TheConfigurationNamesTheDeviceWhereSessionsGoFirst) {
  start("[device.2]\nsame_as = 2\n[device.0]\nevacuate_to = 2\n", "pthread pthread pthread");
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  answer_of({"drain", "0"});
  EXPECT_EQ(session("alice")["moved"], nlohmann::json({{"0", 2}}));
  // With that one drained, too, the next is the other; from there all of it comes back at once.
  answer_of({"drain", "2"});
  EXPECT_EQ(session("alice")["moved"], nlohmann::json({{"0", 1}, {"2", 1}}));
  answer_of({"undrain", "0"});
  EXPECT_EQ(session("alice")["moved"], nlohmann::json({{"2", 1}}));
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(Draining, WhatCannotBeDrainedIsALineThatSaysWhy) {
  EXPECT_NE(failure_of({"drain", "0"}).find("there is no device 0"), std::string::npos);
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  EXPECT_NE(failure_of({"drain", "7"}).find("there is no device 7"), std::string::npos);
  EXPECT_NE(failure_of({"undrain", "0"}).find("device 0 is not drained"), std::string::npos);
  expect_right(std::move(alice));
}

}  // namespace
}  // namespace fairgv::integration
