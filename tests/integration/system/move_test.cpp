// `fairgv migrate` and `park`: programs that go on while their session moves from one worker, and one device,
// to another, over two devices of PoCL that are set apart as if each had hardware of its own.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include "tests/integration/system/moves/moving.hpp"

namespace fairgv::integration {
namespace {

struct Migration : Moving {};

TEST_F(Migration, AProgramGoesOnWhileItIsMovedAgainAndAgain) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const pid_t daemon_pid = daemon();
  ASSERT_GE(memory("alice", 0), kBallast);
  for (const char* const device : {"1", "0", "1"}) {
    const pid_t before = worker("alice");
    const auto answer = migrate({number("alice"), "--device", device});
    const auto& move = answer["moves"][0];
    EXPECT_EQ(move["to"], nlohmann::json::array({std::atoi(device)})) << answer;
    EXPECT_GT(move["held_ms"].get<double>(), 0);
    EXPECT_NE(worker("alice"), before);
    ASSERT_TRUE(progresses(alice)) << "on device " << device;
    const std::size_t here = static_cast<std::size_t>(std::atoi(device));
    EXPECT_GE(memory("alice", here), kBallast);
    EXPECT_TRUE(eventually([&] { return memory("alice", 1 - here) == 0; }));
    EXPECT_EQ(session("alice")["moved"].contains("0"), here == 1);
    EXPECT_TRUE(eventually([&] { return children_of(daemon_pid) == std::set<pid_t>({worker("alice")}); }))
        << "something is left of " << before;
  }
  EXPECT_GT(session("alice")["device_time_ns"][1].get<std::uint64_t>(), 0U);
  EXPECT_EQ(session("alice")["moved"], nlohmann::json({{"0", 1}}));
  expect_right(std::move(alice));
}

TEST_F(Migration, WithoutADeviceASessionGetsANewWorkerWhereItIs) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const pid_t before = worker("alice");
  const std::uint64_t held = memory("alice", 0);
  const auto printed = fairgv({"migrate", "alice"});
  EXPECT_EQ(printed.status, 0) << joined(printed);
  EXPECT_NE(joined(printed).find("a new worker on device 0,1, image "), std::string::npos) << joined(printed);
  EXPECT_NE(worker("alice"), before);
  EXPECT_EQ(memory("alice", 0), held);
  EXPECT_TRUE(session("alice")["moved"].empty());
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(Migration, AllSessionsOfATenantAreMovedOneAfterAnother) {
  auto first = start_wanderer("alice");
  auto second = start_wanderer("alice");
  ASSERT_TRUE(progresses(first) && progresses(second));
  const auto answer = migrate({"alice", "--device", "1"});
  ASSERT_EQ(answer["moves"].size(), 2U) << answer;
  ASSERT_TRUE(progresses(first) && progresses(second));
  EXPECT_TRUE(eventually([&] { return tenant("alice")["memory_used"][0] == 0; }));
  expect_right(std::move(first));
  expect_right(std::move(second));
}

TEST_F(Migration, ADeviceThatTheProgramCouldTellFromItsOwnIsTakenByForceOnly) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "both devices would have one sub-device";
  // PoCL's device `basic` comes first; the program's own is the other.
  start("[tenants]\ndevices = \"1\"\n", "basic pthread");
  auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  const pid_t before = worker("alice");
  const std::string line = failure({"alice", "--device", "0"});
  EXPECT_NE(line.find("the program could tell device 0 from 1: its sub-devices would be 1 instead of "),
            std::string::npos)
      << line;
  EXPECT_NE(line.find("('fairgv migrate --force' moves it all the same)"), std::string::npos) << line;
  EXPECT_EQ(worker("alice"), before);
  ASSERT_TRUE(progresses(alice));
  stop_idle(alice, "alice");
  migrate({"alice", "--device", "0", "--force"});
  const nlohmann::json there{{"1", 0}};
  EXPECT_EQ(session("alice")["moved"], there);
  EXPECT_GE(memory("alice", 0), kBallast);
  // A place taken by force stays so while the session lies there.
  migrate({"alice"});
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_EQ(fairgv({"park", "alice"}).status, 0);
  const auto resumed = tried({"resume", "alice"});
  EXPECT_EQ(resumed.status, 0) << joined(resumed);
  EXPECT_EQ(session("alice")["moved"], there);
  migrate({"alice", "--device", "1"});
  EXPECT_NE(failure({"alice", "--device", "0"}).find("could tell device 0 from 1"), std::string::npos);
  ::kill(alice.pid(), SIGCONT);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(Migration, ATargetWithoutRoomIsToldAndNothingMoves) {
  start("memory = \"4MiB\"\n");
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const pid_t before = worker("alice");
  const auto held = session("alice")["memory_used"];
  const std::string line = failure({number("alice"), "--device", "1"});
  EXPECT_NE(line.find("of device 1, and the device has 4.0 MiB more: "), std::string::npos) << line;
  EXPECT_EQ(worker("alice"), before);
  EXPECT_EQ(session("alice")["memory_used"], held);
  EXPECT_EQ(ps()["devices"][1]["memory_used"], 0);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(Migration, ANewWorkerThatFindsNoDriverLeavesTheSessionWhereItIs) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const pid_t before = worker("alice");
  const auto config = std::filesystem::path(tenancy->socket()).replace_filename("fairgvd.toml");
  const auto empty = std::filesystem::path(tenancy->socket()).replace_filename("no-drivers");
  std::filesystem::create_directory(empty);
  std::ofstream(config, std::ios::app) << "[opencl]\nvendors = \"" << empty.string() << "\"\n";
  EXPECT_EQ(fairgv({"reload"}).status, 0);
  const std::string line = failure({"alice"});
  EXPECT_NE(line.find("does not move: its new worker "), std::string::npos) << line;
  EXPECT_EQ(worker("alice"), before);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(Migration, TheNewWorkersDeathLeavesTheSessionToTheOldOne) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const pid_t before = worker("alice");
  const pid_t daemon_pid = daemon();
  const auto held = session("alice")["memory_used"];
  auto asked = harness::Child::start(
      {{harness::beside("fairgv"), "migrate", "alice", "--device", "1", "--socket", tenancy->socket()}, {}});
  ASSERT_TRUE(asked);
  ASSERT_EQ(::kill(next_worker(daemon_pid, before), SIGKILL), 0);
  EXPECT_EQ(harness::finish(std::move(asked).value()).status, 1);
  EXPECT_EQ(worker("alice"), before);
  EXPECT_TRUE(eventually([&] { return session("alice")["memory_used"] == held; }));
  EXPECT_EQ(session("alice")["moving"], false);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(Migration, TheOldWorkersDeathEndsTheSessionAndLeavesNothing) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const pid_t before = worker("alice");
  const pid_t daemon_pid = daemon();
  auto asked = harness::Child::start(
      {{harness::beside("fairgv"), "migrate", "alice", "--device", "1", "--socket", tenancy->socket()}, {}});
  ASSERT_TRUE(asked);
  (void)next_worker(daemon_pid, before);
  ASSERT_EQ(::kill(before, SIGKILL), 0);
  EXPECT_EQ(harness::finish(std::move(asked).value()).status, 1);
  EXPECT_NE(harness::finish(std::move(alice)).status, 0) << "its calls fail";
  EXPECT_TRUE(eventually([&] { return children_of(daemon_pid).empty(); }));
  EXPECT_TRUE(eventually([&] { return ps()["devices"][0]["memory_used"] == 0; }));
  EXPECT_TRUE(eventually([&] { return ps()["devices"][1]["memory_used"] == 0; }));
}

TEST_F(Migration, ARestartOfTheDaemonKnowsWhereASessionLies) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  migrate({"alice", "--device", "1"});
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(session("alice")["moved"], nlohmann::json({{"0", 1}}));
  EXPECT_GE(memory("alice", 1), kBallast);
  migrate({"alice", "--device", "0"});
  ASSERT_TRUE(progresses(alice));
  EXPECT_GE(memory("alice", 0), kBallast);
  expect_right(std::move(alice));
}

TEST_F(Migration, APausedSessionMovesAndGoesOnOnceItIsResumed) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(fairgv({"pause", "alice"}).status, 0);
  migrate({"alice", "--device", "1"});
  EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
  ASSERT_TRUE(progresses(alice));
  EXPECT_GE(memory("alice", 1), kBallast);
  expect_right(std::move(alice));
}

TEST_F(Migration, ASessionMovesToADeviceThatIsHiddenFromItsProgram) {
  start("[tenant.alice]\ndevices = \"0\"\n");
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(session("alice")["devices"], nlohmann::json::array({0}));
  migrate({"alice", "--device", "1"});
  ASSERT_TRUE(progresses(alice));
  EXPECT_TRUE(eventually([&] { return tenant("alice")["device_time_ns"][1].get<std::uint64_t>() > 0; }));
  EXPECT_EQ(tenant("alice")["use"][0]["entitled_share"], 0.0);
  EXPECT_EQ(tenant("alice")["use"][1]["entitled_share"], 1.0);
  migrate({"alice", "--device", "0"});
  ASSERT_TRUE(progresses(alice));
  EXPECT_TRUE(session("alice")["moved"].empty());
  expect_right(std::move(alice));
}

TEST_F(Migration, AParkedProgramWaitsWithoutDeviceMemoryUntilItIsResumed) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const auto held = session("alice")["memory_used"];
  const pid_t daemon_pid = daemon();
  const auto parked = fairgv({"park", "alice"});
  EXPECT_EQ(parked.status, 0) << joined(parked);
  EXPECT_NE(joined(parked).find(": parked, image "), std::string::npos) << joined(parked);
  EXPECT_TRUE(eventually([&] { return children_of(daemon_pid).empty(); }));
  EXPECT_TRUE(eventually([&] { return ps()["devices"][0]["memory_used"] == 0; }));
  EXPECT_EQ(session("alice")["parked"], true);
  EXPECT_NE(joined(fairgv({"ps"})).find("parked"), std::string::npos);
  EXPECT_EQ(fairgv({"restart"}).status, 0) << "the next daemon keeps the image";
  EXPECT_EQ(session("alice")["parked"], true);
  (void)alice.read_lines();
  EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
  EXPECT_EQ(session("alice")["parked"], false);
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(session("alice")["memory_used"], held);
  expect_right(std::move(alice));
}

TEST_F(Migration, AProgramThatIsKilledWhileItIsParkedLeavesNothing) {
  {
    const auto alice = start_wanderer("alice");
    ASSERT_TRUE(eventually([&] { return sessions_of("alice") == 1 && memory("alice", 0) >= kBallast; }));
    EXPECT_EQ(fairgv({"park", "alice"}).status, 0);
  }
  EXPECT_TRUE(eventually([&] { return sessions_of("alice") == 0; }));
  EXPECT_TRUE(eventually([&] { return ps()["devices"][0]["memory_used"] == 0; }));
}

TEST_F(Migration, WhatCannotBeMovedIsALineThatSaysWhy) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  EXPECT_NE(failure({"7777"}).find("there is no session 7777 that runs"), std::string::npos);
  EXPECT_NE(failure({"nobody"}).find("nobody"), std::string::npos);
  EXPECT_NE(failure({number("alice"), "--device", "0"}).find("has all that it uses on device 0 already"),
            std::string::npos);
  EXPECT_NE(failure({number("alice"), "--device", "5"}).find("does not see a device 5"), std::string::npos);
}

}  // namespace
}  // namespace fairgv::integration
