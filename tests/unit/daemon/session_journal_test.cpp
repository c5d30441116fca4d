// Questions for a session's journal, and workers that answer them badly.
#include <gtest/gtest.h>

#include <string>

#include "runtime/control/protocol.hpp"
#include "tests/unit/daemon/session_table_fixture.hpp"

namespace fairgv::daemon {
namespace {

struct JournalQuestion : SessionTableTest {
  /// Begins a session whose worker does this once it has heard an order.
  void start_and_answer(const std::string& answer) {
    start({kReady}, "dd bs=65536 count=1 status=none <&$channel >/dev/null\n" + answer + "\nexec sleep 1000");
    run_until([&] { return session().stage == Session::Stage::running; });
  }
  const Session& session() { return *table.all().begin()->second; }
  Result<void> ask(std::uint64_t key) {
    return table.journals().ask(session(), key, std::chrono::steady_clock::now());
  }
  void run_until_answered(std::size_t answers) {
    run_until([&] { return house.answers.size() == answers; });
  }
};

TEST_F(JournalQuestion, OfSeveralPeersHasOneAnswer) {
  start_and_answer("exit");
  EXPECT_TRUE(ask(3));
  EXPECT_TRUE(ask(4));
  run_until_answered(2);
  EXPECT_EQ(house.answers[0].first, 3U);
  EXPECT_EQ(house.answers[1].first, 4U);
  const auto outcome = control::parse_outcome(house.answers[0].second);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "session 1 has ended");
  EXPECT_FALSE(table.journals().deadline());
}

TEST_F(JournalQuestion, ThatIsAnsweredWithoutAReportEndsTheSession) {
  start_and_answer(R"(printf %s '{"worker":"journal","bytes":100}' >&$channel)");
  EXPECT_TRUE(ask(3));
  run_until_answered(1);
  EXPECT_NE(house.answers[0].second.find("the worker's journal cannot be read"), std::string::npos)
      << house.answers[0].second;
  run_until([&] { return table.empty(); });
  EXPECT_EQ(counts().violations, 1U);
}

TEST_F(JournalQuestion, ThatWasNotAskedIsNoOffence) {
  start_and_answer(R"(printf %s '{"worker":"journal","bytes":0}' >&$channel
printf %s ')" + to_text(reduce(1)) +
                   "' >&$channel");
  ASSERT_TRUE(session().channel.send("{}"));
  run_until([&] { return reported().size() == 1; });
  EXPECT_EQ(session().stage, Session::Stage::running);
}

TEST_F(JournalQuestion, ThatIsAnsweredLateIsGivenUpAndNotAskedAgain) {
  start_and_answer("");
  const auto now = std::chrono::steady_clock::now();
  EXPECT_TRUE(table.journals().ask(session(), 3, now));
  EXPECT_EQ(table.journals().deadline(), now + Journals::kPatience);
  table.journals().expire(now + Journals::kPatience);
  ASSERT_EQ(house.answers.size(), 1U);
  EXPECT_NE(house.answers[0].second.find("session 1 does not answer"), std::string::npos)
      << house.answers[0].second;
  const auto again = ask(4);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "session 1 has not answered an earlier question yet");
  EXPECT_FALSE(table.journals().deadline());
}

}  // namespace
}  // namespace fairgv::daemon
