// Sessions whose worker is a script: their begin, the messages to their programs, and their end.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/session_table_fixture.hpp"

namespace fairgv::daemon {
namespace {

TEST_F(SessionTableTest, ALongCommandIsReportedWithItsSessionAndLoggedOnce) {
  start({kReady, to_text(reduce(1)), to_text(reduce(2)), to_text(reduce(3))});
  run_until([&] { return reported() == std::vector{reduce(3)}; });
  EXPECT_EQ(log.count("session 1 of tenant bob: kernel reduce held device 0 for 4210.0 ms and cannot be "
                      "sliced: it uses pipes"),
            1u);
  EXPECT_EQ(log.count("ends"), 0u);
  EXPECT_EQ(counts().sessions, 1u);
  EXPECT_EQ(counts().violations, 0u);
}

TEST_F(SessionTableTest, TheLastWordsOfAWorkerAreLoggedBeforeItsEnd) {
  start({kReady}, "echo 'the driver has lost its device' >&2; kill -9 $$; exit 3");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("session 1 of tenant bob: its worker says: the driver has lost its device\n"), 1u);
  EXPECT_EQ(
      log.count("its worker says: the driver has lost its device\nsession 1 of tenant bob ends: its worker "),
      1u);
}

TEST_F(SessionTableTest, AProgramHearsItsDriversMessagesWhenItAsksAndMayNotAskForEver) {
  start({}, "echo 'a warning' >&2; printf %s '" + kReady + "' >&$channel; exec sleep 1000");
  run_until(
      [&] { return !table.all().empty() && table.all().begin()->second->stage == Session::Stage::running; });
  const auto welcome = client.receive();
  ASSERT_TRUE(welcome);
  EXPECT_NE(std::get<session::Welcome>(session::parse_hello_answer(welcome->text).value()).features &
                session::kDriverMessages,
            0u);
  ASSERT_TRUE(client.send(to_text(session::Hear{7})));
  std::vector<std::string> said;
  std::uint64_t answered = 0;
  run_until([&] {
    if (answered != 0) return true;
    pollfd there{client.fd(), POLLIN, 0};
    if (::poll(&there, 1, 0) != 1) return false;
    const auto message = session::parse_driver_says(client.receive()->text);
    said.insert(said.end(), message->lines.begin(), message->lines.end());
    answered = message->answers;
    return answered != 0;
  });
  EXPECT_EQ(said, std::vector<std::string>{"a warning"});
  EXPECT_EQ(answered, 7u);
  for (std::uint64_t number = 1; number < 60; ++number) {
    if (!client.offer(to_text(session::Hear{number}))) break;
  }
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("session 1 of tenant bob ends: its program ended"), 1u);
}

TEST_F(SessionTableTest, ASessionEndsOnceNoProcessOfItsWorkerIsLeft) {
  start({kReady}, "(sleep 1000 &); exit 3");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("session 1 of tenant bob ends: its worker ended with status 3"), 1u);
}

TEST_F(SessionTableTest, TheLimitOfSessionsHoldsForEachUserAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root serves other users";
  start({kReady});
  house.config.user_session_limit = 2;
  std::deque<Socket> clients;
  const auto join = [&](uid_t uid) { return begin({}, uid, clients.emplace_back()); };
  EXPECT_TRUE(join(12'345) && join(12'345));
  const auto third = join(12'345);
  ASSERT_FALSE(third);
  EXPECT_NE(third.error().message.find("user 12345 already has 2 sessions"), std::string::npos)
      << third.error().message;
  EXPECT_TRUE(join(12'346));
  EXPECT_TRUE(join(0) && join(0) && join(0));
}

TEST_F(SessionTableTest, ASessionThatStartsAfterKillsIsSuspendedForAWhile) {
  const std::string nonsense = "{\"worker\": \"nonsense\"}";
  for (int kill = 0; kill < 2; ++kill) {
    start({kReady, nonsense});
    run_until([&] { return table.empty(); });
  }
  EXPECT_EQ(counts().violations, 2u);
  start({kReady});
  run_until([&] { return table.settled() && !table.empty(); });
  const Session& session = *table.all().begin()->second;
  EXPECT_TRUE(is_suspended(session, house.tenancies.registry()));
  EXPECT_EQ(log.count("session 3 of tenant bob may run in"), 1u);
  ASSERT_TRUE(session.held_back_until);
  ASSERT_TRUE(table.deadline());
  EXPECT_LE(*table.deadline(), *session.held_back_until) << "somebody wakes it";
  table.expire(*session.held_back_until - std::chrono::milliseconds(1));
  EXPECT_TRUE(is_suspended(session, house.tenancies.registry()));
  table.expire(*session.held_back_until);
  EXPECT_FALSE(is_suspended(session, house.tenancies.registry()));
}

TEST_F(SessionTableTest, KillsDoNotSuspendASessionThatAlreadyRuns) {
  start({kReady});
  run_until([&] { return table.settled(); });
  Socket running = std::move(client);
  for (int kill = 0; kill < 3; ++kill) {
    start({kReady, "{}"});
    run_until([&] { return table.all().size() == 1; });
  }
  EXPECT_FALSE(is_suspended(*table.all().begin()->second, house.tenancies.registry()));
}

TEST_F(SessionTableTest, AWorkerThatCannotBeCagedIsRefusedInOneLine) {
  house.config.worker.cache = "/proc/no-place-for-caches";
  const auto started = begin({}, ::getuid(), client);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message.find("cannot make the folder /proc/no-place-for-caches"), 0u)
      << started.error().message;
  EXPECT_TRUE(table.empty());
}

TEST_F(SessionTableTest, TheReasonThatAWorkerGaveIsLoggedAfterTheWorkerHasEnded) {
  start({kReady, to_text(session::WorkerFailed{"its program broke the protocol: ?"})}, "exit 3");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("ends: its program broke the protocol: ?"), 1u);
  EXPECT_EQ(log.count("ends: "), 1u);
}

}  // namespace
}  // namespace fairgv::daemon
