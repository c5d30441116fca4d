// The connection of `fairgv top` to its daemon: it never waits, and it comes back. The test plays the daemon,
// on the same thread: if the connection waited, the test would never end.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/session/protocol.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/top/report.hpp"
#include "tools/fairgv/top/link.hpp"

namespace fairgv::tools::top {
namespace {

struct TopLink : ::testing::Test {
  TopLink() {
    link.emplace(
        path(),
        DaemonLink::Events{[this](const control::Report& report) { reports.push_back(report); },
                           [this](const Change& change, const Result<void>& outcome) {
                             answers.push_back(change.done + (outcome ? "" : ": " + outcome.error().message));
                           },
                           [this](const std::string& why) { losses.push_back(why); }});
  }
  std::string path() const { return folder / "s"; }
  void begin_daemon() {
    auto bound = Listener::bind(path(), 0600);
    ASSERT_TRUE(bound) << bound.error().message;
    listener.emplace(std::move(bound).value());
  }
  /// Takes the connection, and greets.
  void accept() {
    link->tick(now);
    auto accepted = listener->accept();
    ASSERT_TRUE(accepted && accepted.value());
    peer = std::move(accepted).value();
    ASSERT_TRUE(session::parse_hello(heard()));
    ASSERT_TRUE(peer.send(to_text(session::Welcome{})));
    link->readable(now);
  }
  /// The text that the link has sent, empty if none.
  std::string heard() {
    const auto packet = peer.receive();
    return packet && packet->kind == Packet::Kind::message ? packet->text : "";
  }
  void answer(const std::string& text) {
    ASSERT_TRUE(control::send_answer(peer, text));
    link->readable(now);
  }
  static Change weight_of_bob() { return tenant_change("bob", {.weight = {"7", "w"}}).value(); }

  harness::TemporaryFolder folder;
  std::optional<Listener> listener;
  Socket peer;
  std::optional<DaemonLink> link;
  DaemonLink::Time now{std::chrono::hours(1)};
  std::vector<control::Report> reports;
  std::vector<std::string> answers;
  std::vector<std::string> losses;
};

TEST_F(TopLink, BringsReports) {
  begin_daemon();
  accept();
  link->ask_report(now);
  EXPECT_EQ(heard(), R"({"command":"ps"})");
  answer(to_text(top_report()));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].tenants.size(), 3u);
  EXPECT_EQ(link->deadline(), DaemonLink::Time::max());
}

TEST_F(TopLink, BringsReportsThatAreTooLongForAPacket) {
  begin_daemon();
  accept();
  link->ask_report(now);
  control::Report report = top_report();
  for (std::uint32_t i = 0; i < 300; ++i)
    report.tenants.push_back(top_tenant("t" + std::to_string(i), 1, 0, 0));
  const std::string text = to_text(report);
  ASSERT_GT(text.size(), kMaxPacket);
  answer(text);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].tenants.size(), 303u);
}

TEST_F(TopLink, AsksOneThingAtATimeInOrder) {
  begin_daemon();
  accept();
  link->ask_report(now);
  link->ask(weight_of_bob(), now);
  link->ask_report(now);  // one report is asked for already
  EXPECT_EQ(heard(), R"({"command":"ps"})");
  EXPECT_EQ(heard(), "");
  answer(to_text(top_report()));
  EXPECT_EQ(heard(), R"({"command":"set","tenant":"bob","weight":7})");
  answer(control::success_text());
  EXPECT_EQ(answers, std::vector<std::string>{"bob: weight 7"});
  EXPECT_EQ(heard(), "");
}

TEST_F(TopLink, TellsWhatTheDaemonWarnsOf) {
  begin_daemon();
  accept();
  link->ask(weight_of_bob(), now);
  answer(control::success_text({"policy fifo has no weights"}));
  EXPECT_EQ(answers, std::vector<std::string>{"bob: weight 7; policy fifo has no weights"});
}

TEST_F(TopLink, TellsWhatTheDaemonRefuses) {
  begin_daemon();
  accept();
  link->ask(weight_of_bob(), now);
  answer(control::failure_text("not yours"));
  EXPECT_EQ(answers, std::vector<std::string>{"bob: weight 7: not yours"});
}

TEST_F(TopLink, TriesAgainUntilThereIsADaemonAndThenLooksAtOnce) {
  link->tick(now);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_NE(losses[0].find("no FairGV daemon answers"), std::string::npos);
  link->tick(now);
  EXPECT_EQ(losses.size(), 1u);  // not before its time
  now = link->deadline();
  link->tick(now);
  EXPECT_EQ(losses.size(), 2u);
  begin_daemon();
  now = link->deadline();
  accept();
  EXPECT_EQ(heard(), R"({"command":"ps"})");
}

TEST_F(TopLink, FailsAChangeThatIsUnderWayWhenTheDaemonGoes) {
  begin_daemon();
  accept();
  link->ask(weight_of_bob(), now);
  peer.close();
  link->readable(now);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(losses.size(), 1u);
  EXPECT_EQ(link->fd(), -1);
}

TEST_F(TopLink, ComesAgainWithoutAWordWhenTheDaemonHangsUpOnASilentConnection) {
  begin_daemon();
  accept();
  now += std::chrono::hours(1);
  ASSERT_TRUE(peer.send(control::failure_text("nothing was asked for")));
  peer.close();
  link->readable(now);
  EXPECT_EQ(link->deadline(), now) << "at once";
  accept();
  EXPECT_TRUE(losses.empty());
  link->ask_report(now);
  EXPECT_EQ(heard(), R"({"command":"ps"})");
}

TEST_F(TopLink, WaitsBeforeItComesAgainToADaemonThatHangsUpAtOnce) {
  begin_daemon();
  accept();
  peer.close();
  link->readable(now);
  EXPECT_EQ(losses.size(), 1u);
  EXPECT_GT(link->deadline(), now);
}

TEST_F(TopLink, FailsAChangeAtOnceWhenThereIsNoDaemon) {
  link->tick(now);
  link->ask(weight_of_bob(), now);
  EXPECT_EQ(answers.size(), 1u);
}

TEST_F(TopLink, GivesUpADaemonThatAnswersNothing) {
  begin_daemon();
  accept();
  link->ask_report(now);
  now = link->deadline();
  link->tick(now);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_NE(losses[0].find("does not answer"), std::string::npos);
  EXPECT_EQ(link->fd(), -1);
}

TEST_F(TopLink, TellsWhyADaemonDoesNotLetItIn) {
  begin_daemon();
  link->tick(now);
  peer = std::move(listener->accept()).value();
  ASSERT_TRUE(peer.send(to_text(session::Refused{"not you"})));
  link->readable(now);
  EXPECT_EQ(losses, std::vector<std::string>{"not you"});
}

TEST_F(TopLink, LeavesADaemonThatTalksNonsense) {
  begin_daemon();
  accept();
  link->ask_report(now);
  answer("{]");
  EXPECT_EQ(losses.size(), 1u);
  EXPECT_TRUE(reports.empty());
}

}  // namespace
}  // namespace fairgv::tools::top
