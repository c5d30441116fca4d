// Devices that workers call failed, with workers and trials that are honest, hostile, or die.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/moves/move_fixture.hpp"

namespace fairgv::daemon {
namespace {

using Verdict = session::TrialEnded::Verdict;

struct FailingTest : MoveTest {
  static std::string says_failed(std::uint32_t device = 0) {
    return say(to_text(session::DeviceFailed{device, "CL_GONE"}));
  }
  static std::string ends_with(Verdict verdict, const std::string& reason = "CL_GONE (a launch)") {
    return say(to_text(session::TrialEnded{verdict, reason})) + rest();
  }
  /// Notes 7 when the worker is told to use the device.
  static std::string expect_use(std::uint32_t device = 0) {
    return hear() + "case \"$order\" in *'\"device\":" + std::to_string(device) +
           "'*'use device'*) ;; *) exit 3;; esac\n" + note(7);
  }
  std::optional<std::string> failure() { return house.report().devices.at(0).failed; }
  std::size_t trials() const { return log.count("device 0 is tried: "); }
};

TEST_F(FailingTest, ADeviceThatFailsInATrialTooIsLeft) {
  start_two(says_failed() + honest_old(), say(ready()) + honest_new(), ends_with(Verdict::failed));
  run_until([&] { return !session().moved.moved().empty(); });
  settle();
  EXPECT_EQ(failure(), "CL_GONE (a launch)");
  EXPECT_TRUE(house.report().devices.at(0).drained);
  EXPECT_EQ(session().moved.place_of(0), 1U);
  EXPECT_EQ(log.count("device 0 has failed: the driver of session 1 says CL_GONE, and a trial of it ends so: "
                      "CL_GONE (a launch)"),
            1U);
  // Nobody begins there; an administrator has it used again.
  Socket late;
  ASSERT_TRUE(begin(joins, ::getuid(), late));
  run_until([&] { return table.settled() && table.all().size() == 2; });
  EXPECT_EQ(table.all().at(SessionId{2})->devices.shown(), std::vector<std::uint32_t>{1});
  house.answers.clear();
  ASSERT_TRUE(table.drains().end(0, {0, true}, 1));
  run_until([&] { return !house.answers.empty(); });
  EXPECT_EQ(failure(), std::nullopt);
  EXPECT_FALSE(house.report().devices.at(0).drained);
  EXPECT_TRUE(session().moved.moved().empty());
}

TEST_F(FailingTest, ADeviceThatWorksInATrialStaysAndTheWorkerIsTold) {
  start_two(says_failed() + expect_use() + rest(), "exit 3\n", ends_with(Verdict::works, ""));
  run_until([&] { return has_come_to(7); });
  EXPECT_EQ(failure(), std::nullopt);
  EXPECT_FALSE(house.report().devices.at(0).drained);
  EXPECT_EQ(log.count("device 0 stays in service, though the driver of session 1 says CL_GONE: it works"),
            1U);
}

struct NoVerdict : FailingTest, ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(NoVerdict, LeavesTheDeviceInService) {
  start_two(says_failed() + expect_use() + rest(), "exit 3\n", GetParam().second);
  run_until([&] { return has_come_to(7); });
  EXPECT_EQ(failure(), std::nullopt);
  EXPECT_EQ(log.count("it could not be tried: "), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Trial, NoVerdict,
    ::testing::Values(
        std::pair{"Dies", "exit 5\n"}, std::pair{"IsKilled", "kill -9 $$\n"},
        std::pair{"TalksNonsense", "printf '{' >&$channel\nexec sleep 1000\n"},
        std::pair{"SpeaksOutOfTurn", "printf '{\"worker\":\"made again\"}' >&$channel\nexec sleep 1000\n"},
        std::pair{"CannotBegin",
                  "printf '{\"worker\":\"failed\",\"reason\":\"no driver\"}' >&$channel\nexec sleep 1000\n"},
        std::pair{"FindsNoMemory",
                  "printf '{\"worker\":\"trial\",\"verdict\":\"unknown\",\"reason\":\"error -5\"}' "
                  ">&$channel\nexec sleep 1000\n"}),
    [](const auto& test) { return std::string(test.param.first); });

TEST_F(FailingTest, AUserCausesNoSecondTrialSoonAfter) {
  start_two(says_failed() + expect_use() + says_failed() + expect_use() + note(8) + rest(), "exit 3\n",
            ends_with(Verdict::works, ""));
  run_until([&] { return has_come_to(8); });
  EXPECT_EQ(trials(), 1U);
}

TEST_F(FailingTest, AllWorkersThatSpokeMeanwhileAreTold) {
  start_two(says_failed() + expect_use() + rest(), "exit 3\n",
            "while [ ! -e " + (folder / "go").string() + " ]; do sleep 0.01; done\n" +
                ends_with(Verdict::works, ""));
  joins = "alice";
  Socket other;
  ASSERT_TRUE(begin(joins, ::getuid(), other));
  const auto& sessions = table.all();
  run_until([&] { return trials() == 1 && sessions.rbegin()->second->stage == Session::Stage::running; });
  // The second worker speaks at once, too.
  folder.write("go", "");
  const auto told = [&] {
    std::size_t count = 0;
    for (const auto& [id, each] : sessions) {
      for (const auto& command : each->long_commands.all()) count += command.count == 7 ? 1 : 0;
    }
    return count;
  };
  run_until([&] { return told() == 2; });
  EXPECT_EQ(trials(), 1U);
}

TEST_F(FailingTest, ASessionThatCannotLeaveUsesTheDevice) {
  const std::string refusal = hear() + say(to_text(session::CannotMove{"its contents are lost"})) + hear();
  start_two(says_failed() + refusal + refusal + expect_use() + rest(), say(ready()) + honest_new(),
            ends_with(Verdict::failed));
  run_until([&] { return has_come_to(7); });
  EXPECT_EQ(session().worker.pid(), old_worker);
  EXPECT_TRUE(failure());
  EXPECT_EQ(log.count("session 1 of tenant bob does not move: its contents are lost"), 1U);
}

TEST_F(FailingTest, ARestartDoesNotWaitForATrial) {
  start_two(says_failed() + expect_use() + rest(), "exit 3\n", rest());
  run_until([&] { return trials() == 1; });
  EXPECT_FALSE(table.settled());
  table.refuse_moves("the daemon restarts");
  run_until([&] { return table.settled() && has_come_to(7); });
  EXPECT_EQ(log.count("it could not be tried: the daemon restarts"), 1U);
}

TEST_F(FailingTest, CrashesOfTwoTenantsCauseATrialAndThoseOfOneDoNot) {
  const std::string crash =
      "while [ ! -e " + (folder / "crash").string() + " ]; do sleep 0.01; done\nkill -9 $$\n";
  start_two(crash, "exit 3\n", ends_with(Verdict::failed));
  Socket again, other;
  const auto crash_all = [&] {
    folder.write("crash", "");
    run_until([&] { return table.all().empty(); });
    std::filesystem::remove(folder / "crash");
  };
  crash_all();
  ASSERT_TRUE(begin(joins, ::getuid(), again));
  run_until([&] { return session().stage == Session::Stage::running; });
  crash_all();
  EXPECT_EQ(trials(), 0U);
  ASSERT_TRUE(begin("alice", ::getuid(), other));
  run_until([&] { return session().stage == Session::Stage::running; });
  crash_all();
  run_until([&] { return failure().has_value(); });
  EXPECT_EQ(trials(), 1U);
  EXPECT_EQ(log.count("device 0 is tried: workers of two tenants have crashed on it"), 1U);
}

TEST_F(FailingTest, TheNextDaemonHasWhyItHasFailed) {
  Handover handover;
  handover.listener = 3;
  handover.lock = 4;
  handover.devices = devices();
  handover.hardware = {0, 1};
  handover.drained = {1};
  handover.failed = {{1, "CL_GONE"}};
  const auto read = parse_handover(to_text(handover));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->failed, handover.failed);
  handover.failed = {{2, "CL_GONE"}};
  EXPECT_FALSE(parse_handover(to_text(handover)));
}

}  // namespace
}  // namespace fairgv::daemon
