// Workers that are killed when the daemon has not noticed yet and tells them something: each is a crash, and
// no violation.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <string>

#include "tests/unit/daemon/moves/move_fixture.hpp"

namespace fairgv::daemon {
namespace {

struct DeadWorker : MoveTest {
  /// Waits for the worker's end, of which the daemon has not heard when this returns.
  void wait_for_end_of(pid_t worker) {
    siginfo_t end{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(worker), &end, WEXITED | WNOWAIT), 0);
  }
  void kill_worker() {
    ASSERT_EQ(::kill(old_worker, SIGKILL), 0);
    wait_for_end_of(old_worker);
  }
  void begin_move() {
    ASSERT_TRUE(table.moves().begin(session(), {}, [this](const MoveOutcome& result) { outcome = result; }));
  }
  void expect_crash(const std::string& how) {
    run_until([&] { return table.empty(); });
    EXPECT_EQ(log.count("ends: its worker " + how), 1U);
    EXPECT_EQ(counts().crashes, 1U);
    EXPECT_EQ(counts().violations, 0U);
  }
};

TEST_F(DeadWorker, IsACrashWhenItsMoveFails) {
  start_two(rest(), say(ready()) + rest());
  begin_move();
  kill_worker();
  table.refuse_moves("the daemon restarts");
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->failure->message, "session 1 does not move: the daemon restarts");
  expect_crash("was killed by signal 9");
}

TEST_F(DeadWorker, IsACrashWhenItIsToldToPark) {
  start_two(rest(), "");
  kill_worker();
  const auto begun =
      table.moves().park(session(), {.by = control::Pause{0, true}}, [](const MoveOutcome&) {});
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().message, "its worker has ended");
  expect_crash("was killed by signal 9");
}

TEST_F(DeadWorker, IsACrashWhenItHasRestedAndIsToldToGoOn) {
  start_two(honest_old(), "");
  bool rests = false;
  ASSERT_TRUE(table.moves().rest(
      session(), [&](Session&, const UniqueFd&, std::uint64_t) { rests = true; }, [](const MoveOutcome&) {}));
  run_until([&] { return rests; });
  kill_worker();
  EXPECT_TRUE(table.moves().end_rest(session()));
  expect_crash("was killed by signal 9");
}

TEST_F(DeadWorker, IsACrashWhenItsQuestionAboutMemoryIsAnswered) {
  start_two(take_memory(300) + "while [ ! -e " + (folder / "go").string() + " ]; do sleep 0.01; done\n" +
                take_memory(300),
            "");
  run_until([&] { return granted() == std::vector<std::uint64_t>({300, 0}); });
  folder.write("go", "");
  // It asks, and waits for an answer.
  const int ledger = session().ledger.fd();
  pollfd question{ledger, POLLIN, 0};
  ASSERT_EQ(::poll(&question, 1, -1), 1);
  kill_worker();
  expect_crash("was killed by signal 9");
}

TEST_F(DeadWorker, IsACrashWhenItIsTheNewOneOfASessionThatHasMoved) {
  start_two(honest_old(), say(ready()) + hear() + say(to_text(session::MadeAhead{})) + hear() +
                              say(to_text(session::MadeAgain{})) + "exit 3\n");
  const std::string failure = move();
  // It may have been told to go on before it ended.
  if (!failure.empty()) {
    EXPECT_EQ(failure, "session 1 has moved, and ends: its new worker has ended");
  }
  expect_crash("ended with status 3");
}

TEST_F(DeadWorker, IsNoneThatLivesAndDoesNotListen) {
  // The socket is full of orders that nobody reads.
  start_two(rest(), "");
  while (session().channel.offer(to_text(session::GoOn{}))) {
  }
  EXPECT_FALSE(table.moves().park(session(), {.by = control::Pause{0, true}}, [](const MoveOutcome&) {}));
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("ends: its worker does not listen"), 1U);
  EXPECT_EQ(counts().violations, 1U);
}

}  // namespace
}  // namespace fairgv::daemon
