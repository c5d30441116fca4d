// Sessions and tenants that people end, pause and resume by hand.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "runtime/daemon/interventions.hpp"
#include "tests/unit/daemon/session_table_fixture.hpp"

namespace fairgv::daemon {
namespace {

constexpr uid_t kOwner = 12'345;
constexpr uid_t kOther = 12'346;

struct InterventionsTest : SessionTableTest {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root serves other users";
    start({kReady});  // bob's, by root
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(folder / "worker", std::filesystem::perms(0755));
    // Two sessions of the owner's, with the same worker.
    for (Socket* const mine : {&first, &second}) ASSERT_TRUE(begin("owner", kOwner, *mine));
    run_until([&] {
      return std::all_of(table.all().begin(), table.all().end(),
                         [](const auto& entry) { return entry.second->stage == Session::Stage::running; });
    });
  }

  using Command = control::ControlRequest::Command;
  std::string on(std::uint32_t session, Command command, uid_t by, bool administrator = false) {
    control::ControlRequest request;
    request.command = command;
    request.session = session;
    const auto done = interventions.carry_out(request, {by, administrator});
    return done ? "" : done.error().message;
  }
  std::string on(const std::string& tenant, Command command, uid_t by, bool administrator = false) {
    control::ControlRequest request;
    request.command = command;
    request.tenant = tenant;
    const auto done = interventions.carry_out(request, {by, administrator});
    return done ? "" : done.error().message;
  }
  bool suspended(std::uint32_t session) {
    return is_suspended(*table.all().at(SessionId{session}), house.tenancies.registry());
  }
  std::optional<control::Pause> pause_of(const std::string& tenant) {
    for (const auto& each : house.report().tenants) {
      if (each.tenant == tenant) return each.paused;
    }
    return std::nullopt;
  }

  Interventions interventions{house.tenancies.registry(), table, house.log};
  Socket first, second, later;
};

TEST_F(InterventionsTest, EndASessionWithTheReasonInTheLog) {
  EXPECT_EQ(on(2, Command::kill, kOwner), "");
  EXPECT_EQ(log.count("session 2 of tenant owner ends: ended by user 12345"), 1u);
  run_until([&] { return table.all().size() == 2; });
  EXPECT_EQ(on(2, Command::kill, kOwner).find("there is no session 2: see 'fairgv ps'"), 0u);
  EXPECT_EQ(counts().crashes, 0u);
}

TEST_F(InterventionsTest, EndAllSessionsOfATenant) {
  EXPECT_EQ(on("owner", Command::kill, kOwner), "");
  run_until([&] { return table.all().size() == 1; });
  EXPECT_EQ(on("owner", Command::kill, 0, true),
            "there is no tenant 'owner' with a running program: see 'fairgv ps'");
  EXPECT_EQ(on("nobody", Command::kill, 0, true), "there is no tenant 'nobody': see 'fairgv ps'");
}

TEST_F(InterventionsTest, ArePermittedToTheOwnerAndToAdministrators) {
  for (const Command command : {Command::kill, Command::pause, Command::resume}) {
    EXPECT_NE(on(2, command, kOther)
                  .find("session 2 belongs to user 12345: only that user or the administrator may"),
              std::string::npos);
    EXPECT_NE(on("owner", command, kOther).find("tenant 'owner' belongs to user 12345"), std::string::npos);
    EXPECT_NE(on("bob", command, kOwner).find("belongs to user 0"), std::string::npos);
  }
  EXPECT_FALSE(suspended(2));
  EXPECT_EQ(on(2, Command::pause, 0, true), "");
  EXPECT_EQ(on("owner", Command::pause, 0, true), "");
}

TEST_F(InterventionsTest, PauseAndResumeOneSession) {
  EXPECT_EQ(on(2, Command::pause, kOwner), "");
  EXPECT_EQ(on(2, Command::pause, kOwner), "") << "again is no error";
  EXPECT_TRUE(suspended(2));
  EXPECT_FALSE(suspended(3));
  EXPECT_EQ(on(2, Command::resume, kOwner), "");
  EXPECT_EQ(on(2, Command::resume, kOwner), "");
  EXPECT_FALSE(suspended(2));
}

TEST_F(InterventionsTest, PauseATenantWithSessionsThatStartLater) {
  EXPECT_EQ(on("owner", Command::pause, kOwner), "");
  EXPECT_EQ(pause_of("owner"), (control::Pause{kOwner, false}));
  EXPECT_TRUE(suspended(2) && suspended(3));
  EXPECT_FALSE(suspended(1));
  ASSERT_TRUE(begin("owner", kOwner, later));
  EXPECT_TRUE(suspended(4));
  EXPECT_NE(on(2, Command::resume, kOwner).find("session 2 is paused with its tenant 'owner': resume that"),
            std::string::npos);
  EXPECT_EQ(on("owner", Command::resume, kOwner), "");
  EXPECT_FALSE(suspended(2) || suspended(3) || suspended(4));
}

TEST_F(InterventionsTest, LeaveASessionPausedByItselfWhenItsTenantResumes) {
  EXPECT_EQ(on(2, Command::pause, kOwner), "");
  EXPECT_EQ(on("owner", Command::pause, kOwner), "");
  EXPECT_EQ(on("owner", Command::resume, kOwner), "");
  EXPECT_TRUE(suspended(2));
  EXPECT_FALSE(suspended(3));
}

TEST_F(InterventionsTest, OfAnAdministratorCannotBeUndoneByTheUser) {
  for (const bool user_first : {false, true}) {
    if (user_first) {
      EXPECT_EQ(on("owner", Command::pause, kOwner), "");
    }
    EXPECT_EQ(on("owner", Command::pause, 0, true), "");
    EXPECT_EQ(on(2, Command::pause, 7, true), "");
    EXPECT_EQ(on("owner", Command::pause, kOwner), "") << "which changes nothing";
    EXPECT_EQ(on(2, Command::pause, kOwner), "");
    EXPECT_EQ(pause_of("owner"), (control::Pause{0, true}));
    EXPECT_EQ(on("owner", Command::resume, kOwner),
              "tenant 'owner' was paused by an administrator (user 0): only an administrator may resume it");
    EXPECT_EQ(on(2, Command::resume, kOwner),
              "session 2 was paused by an administrator (user 7): only an administrator may resume it");
    EXPECT_TRUE(suspended(2) && suspended(3));
    EXPECT_EQ(on("owner", Command::resume, 0, true), "");
    EXPECT_EQ(on(2, Command::resume, 0, true), "");
    EXPECT_FALSE(suspended(2) || suspended(3));
  }
}

TEST_F(InterventionsTest, KeepATenantPausedAfterItsSessionsHaveEndedUntilAnotherUserTakesTheName) {
  EXPECT_EQ(on("owner", Command::pause, kOwner), "");
  EXPECT_EQ(on("owner", Command::kill, kOwner), "");
  run_until([&] { return table.all().size() == 1; });
  EXPECT_EQ(pause_of("owner"), (control::Pause{kOwner, false})) << "ps shows it";
  ASSERT_TRUE(begin("owner", kOwner, later));
  EXPECT_TRUE(suspended(4));
  EXPECT_EQ(on("owner", Command::kill, kOwner), "");
  run_until([&] { return table.all().size() == 1; });
  ASSERT_TRUE(begin("owner", kOther, later));
  EXPECT_FALSE(suspended(5)) << "the name is another user's now";
}

}  // namespace
}  // namespace fairgv::daemon
