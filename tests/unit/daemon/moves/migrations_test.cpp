// `fairgv migrate`: which sessions, to which device, by whom, and the answers.
#include "runtime/daemon/migrations.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/moves/move_fixture.hpp"

namespace fairgv::daemon {
namespace {

constexpr uid_t kMovesOwner = 12'345;
constexpr std::uint64_t kPeer = 9;

struct MigrationsTest : MoveTest {
  static control::ControlRequest request_of(std::optional<std::uint32_t> session, const std::string& tenant,
                                            std::optional<std::uint32_t> device = {}) {
    control::ControlRequest request;
    request.command = control::ControlRequest::Command::migrate;
    request.session = session;
    request.tenant = tenant;
    request.device = device;
    return request;
  }
  /// The answer, whenever it comes.
  std::string ask(const control::ControlRequest& request, const Account& by = {0, true}) {
    answer.reset();
    auto now = migrations.ask(request, by, kPeer);
    if (!now) return now.error().message;
    if (now.value()) return *now.value();
    run_until([&] { return answer.has_value(); });
    return *answer;
  }
  static std::vector<control::MovedSession> moves_in(const std::string& text) {
    const auto report = control::parse_move_report(text);
    EXPECT_TRUE(report) << text;
    return report ? report->moves : std::vector<control::MovedSession>();
  }
  /// One more session of the same tenant.
  void join() {
    others.emplace_back();
    ASSERT_TRUE(begin(joins, ::getuid(), others.back()));
    run_until([&] { return table.settled(); });
  }

  std::optional<std::string> answer;
  std::vector<Socket> others;
  Migrations migrations{house.config, house.tenancies.registry(), table,
                        [this](std::uint64_t key, const std::string& text) {
                          EXPECT_EQ(key, kPeer);
                          answer = text;
                        }};
};

TEST_F(MigrationsTest, ASessionsMoveIsAnsweredWhenItIsDone) {
  start_two(honest_old(), say(ready()) + honest_new());
  const auto moves = moves_in(ask(request_of(1, "", 1)));
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].session, 1U);
  EXPECT_EQ(moves[0].from, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(moves[0].to, (std::vector<std::uint32_t>{1}));
  EXPECT_GT(moves[0].held_ms, 0);
  EXPECT_TRUE(moves[0].error.empty());
}

TEST_F(MigrationsTest, ASessionThatStaysIsAFailure) {
  start_two(hear() + say(to_text(session::CannotMove{"it speaks CUDA"})) + rest(),
            say(ready()) + honest_new());
  const auto outcome_of = control::parse_outcome(ask(request_of(1, "")));
  ASSERT_FALSE(outcome_of);
  EXPECT_EQ(outcome_of.error().message, "session 1 does not move: it speaks CUDA");
}

TEST_F(MigrationsTest, ATenantsSessionsMoveOneAfterAnotherAndAFailureStopsNone) {
  start_two(honest_old(), "if [ $(number_of session) = 1 ]; then exit 3; fi\n" + say(ready()) + honest_new());
  join();
  const auto moves = moves_in(ask(request_of({}, "bob")));
  ASSERT_EQ(moves.size(), 2U);
  EXPECT_NE(moves[0].error.find("session 1 does not move: its new worker ended with status 3"),
            std::string::npos)
      << moves[0].error;
  EXPECT_TRUE(moves[0].to.empty());
  EXPECT_EQ(moves[1].session, 2U);
  EXPECT_TRUE(moves[1].error.empty()) << moves[1].error;
}

TEST_F(MigrationsTest, ATenantNoneOfWhoseSessionsCanMoveIsAnsweredAtOnce) {
  start_two(honest_old(), "");
  table.refuse_moves("the daemon restarts");
  const auto now = migrations.ask(request_of({}, "bob"), {0, true}, kPeer);
  ASSERT_TRUE(now && now.value());
  EXPECT_EQ(moves_in(*now.value()).at(0).error, "session 1 cannot move now: the daemon restarts");
  EXPECT_FALSE(answer) << "a peer that has its answer waits for none";
}

TEST_F(MigrationsTest, OthersMayNotMoveASession) {
  start_two(honest_old(), say(ready()) + honest_new());
  const std::string owner = std::to_string(::getuid());
  EXPECT_EQ(ask(request_of(1, ""), {kMovesOwner, false}),
            "session 1 belongs to user " + owner + ": only that user or the administrator may move it");
  EXPECT_NE(ask(request_of({}, "bob"), {kMovesOwner, false}).find("bob"), std::string::npos);
  EXPECT_EQ(session().worker.pid(), old_worker);
}

TEST_F(MigrationsTest, UsersMoveTheirSessionsToDevicesThatTheTenantMayUse) {
  start_two(honest_old(), say(ready()) + honest_new());
  house.config.tenants.devices = parse_devices_wanted("0").value();
  const Account user{::getuid(), false};
  EXPECT_EQ(
      ask(request_of(1, "", 1), user),
      "tenant 'bob' may use device 0 (devices in the configuration): only an administrator may move its "
      "sessions to device 1");
  EXPECT_EQ(moves_in(ask(request_of(1, "", 1), {0, true})).size(), 1U);
  EXPECT_EQ(moves_in(ask(request_of(1, "", 0), user)).size(), 1U);
}

TEST_F(MigrationsTest, WhatIsNotThereIsSaidSo) {
  start_two(honest_old(), say(ready()) + honest_new());
  EXPECT_EQ(ask(request_of(5, "")),
            "there is no session 5 that runs: see 'fairgv ps' (a tenant of that name: --tenant)");
  EXPECT_EQ(ask(request_of(1, "", 7)), "session 1 does not see a device 7: see 'fairgv ps'");
}

}  // namespace
}  // namespace fairgv::daemon
