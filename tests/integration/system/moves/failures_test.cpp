// Moves that fail at any moment: a worker, the daemon or both are ended while a session moves, is parked or
// goes on. Its program goes on as if nothing had been asked, or, if its own worker died, gets the error that
// it gets today. The moments are random within the time that a move takes, so that each step is hit in some
// run.
//
// FAIRGV_FAILURES: how many moments each test takes (default 4).
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>

#include "tests/harness/seed.hpp"
#include "tests/integration/system/moves/moving.hpp"

namespace fairgv::integration {
namespace {

using Clock = std::chrono::steady_clock;

unsigned moments() {
  const char* const value = std::getenv("FAIRGV_FAILURES");
  return value != nullptr ? static_cast<unsigned>(std::stoul(value)) : 4;
}

struct FailingMoves : Moving {
  void SetUp() override {
    Moving::SetUp();
    ASSERT_FALSE(HasFailure());
    daemon_ = daemon();
    // The time that an undisturbed move takes.
    revive();
    const auto began = Clock::now();
    migrate({"alice"});
    length_ = Clock::now() - began;
  }
  void TearDown() override {
    if (alice_) expect_right(std::move(*alice_));
    alice_.reset();
  }

  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  /// Starts the program if it has ended. From then on it must go on, until lose().
  void revive() {
    if (alice_) return;
    std::vector<std::string> environment;
    if (draw(2) == 0) environment.emplace_back("FAIRGV_DIRECT_MEMORY=off");
    alice_.emplace(start_wanderer("alice", environment));
    ASSERT_TRUE(progresses(*alice_));
    held_ = held();
    ASSERT_GE(held_, kBallast);
  }

  /// By the session, on all devices together.
  std::uint64_t held() {
    std::uint64_t sum = 0;
    const nlohmann::json its = session("alice");
    for (const auto& used : its["memory_used"]) sum += used.get<std::uint64_t>();
    return sum;
  }
  std::uint64_t held_of_devices() {
    std::uint64_t sum = 0;
    const nlohmann::json report = ps();
    for (const auto& device : report["devices"]) sum += device["memory_used"].get<std::uint64_t>();
    return sum;
  }

  /// A command that moves the session to the other device, or to a new worker where it is.
  std::vector<std::string> migration() {
    if (draw(2) == 0) return {"migrate", "alice"};
    return {"migrate", "alice", "--device", memory("alice", 0) > 0 ? "1" : "0"};
  }

  /// A worker that was not there before, as soon as there is one; none if the command ends without one.
  std::optional<pid_t> new_worker(harness::Child& asked, const std::set<pid_t>& before) {
    for (;;) {
      (void)asked.read_lines();
      const bool ended = asked.ended();
      for (const pid_t child : children_of(daemon_)) {
        if (!before.contains(child)) return child;
      }
      if (ended) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void wait_within_a_move() {
    const auto length_us = std::chrono::duration_cast<std::chrono::microseconds>(length_).count();
    std::this_thread::sleep_for(
        std::chrono::microseconds(draw(static_cast<std::uint64_t>(length_us) * 5 / 4)));
  }

  /// The program goes on, its session has one worker and holds what it held.
  void expect_goes_on() {
    ASSERT_TRUE(progresses(*alice_));
    EXPECT_TRUE(eventually([&] { return children_of(daemon_) == std::set<pid_t>({worker("alice")}); }));
    EXPECT_TRUE(eventually([&] { return held() == held_ && held_of_devices() == held_; }))
        << held() << " bytes of the session, " << held_of_devices() << " of the devices, " << held_
        << " before";
    EXPECT_EQ(session("alice")["moving"], false);
  }

  /// The program's calls fail, and nothing is left of its session.
  void expect_lost() {
    EXPECT_NE(harness::finish(std::move(*alice_)).status, 0);
    alice_.reset();
    EXPECT_TRUE(eventually([&] { return children_of(daemon_).empty(); }));
    EXPECT_TRUE(eventually([&] { return held_of_devices() == 0 && sessions_of("alice") == 0; }));
    const nlohmann::json report = ps();
    ASSERT_FALSE(report["kills"].empty());
    const std::string reason = report["kills"].back()["reason"];
    EXPECT_NE(reason.find("its worker was killed by signal 9"), std::string::npos) << reason;
  }

  /// The status of `fairgv park`, during which the worker is killed if it is there.
  int park_and_kill() {
    const pid_t own = worker("alice");
    auto asked = begin({"park", "alice"});
    wait_within_a_move();
    ::kill(own, SIGKILL);
    return harness::finish(std::move(asked)).status;
  }

  std::mt19937_64 random_{harness::printed_seed()};
  std::optional<harness::Child> alice_;
  std::uint64_t held_ = 0;
  Clock::duration length_{};
  pid_t daemon_ = 0;
};

TEST_F(FailingMoves, TheNewWorkerIsKilledAtAnyMoment) {
  for (unsigned moment = 0; moment < moments() && !HasFailure(); ++moment) {
    revive();
    const pid_t own = worker("alice");
    auto asked = begin(migration());
    const auto next = new_worker(asked, {own});
    wait_within_a_move();
    if (next) ::kill(*next, SIGKILL);
    // If the session had moved by then, this was its worker.
    if (harness::finish(std::move(asked)).status == 0) {
      expect_lost();
      continue;
    }
    EXPECT_EQ(worker("alice"), own);
    expect_goes_on();
  }
}

TEST_F(FailingMoves, TheOldWorkerIsKilledAtAnyMoment) {
  for (unsigned moment = 0; moment < moments() && !HasFailure(); ++moment) {
    revive();
    const pid_t own = worker("alice");
    auto asked = begin(migration());
    (void)new_worker(asked, {own});
    wait_within_a_move();
    ::kill(own, SIGKILL);
    harness::finish(std::move(asked)).status == 0 ? expect_goes_on() : expect_lost();
  }
}

TEST_F(FailingMoves, TheDaemonIsReplacedAtAnyMoment) {
  for (unsigned moment = 0; moment < moments() && !HasFailure(); ++moment) {
    const pid_t own = worker("alice");
    auto asked = begin(migration());
    wait_within_a_move();
    EXPECT_EQ(fairgv({"restart"}).status, 0);
    if (harness::finish(std::move(asked)).status != 0) {
      EXPECT_EQ(worker("alice"), own);
    }
    expect_goes_on();
  }
}

TEST_F(FailingMoves, TheDaemonIsReplacedWhileASessionIsParkedOrGoesOn) {
  for (unsigned moment = 0; moment < moments() && !HasFailure(); ++moment) {
    for (const char* const command : {"park", "resume"}) {
      auto asked = begin({command, "alice"});
      wait_within_a_move();
      EXPECT_EQ(fairgv({"restart"}).status, 0);
      (void)harness::finish(std::move(asked));
    }
    EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
    expect_goes_on();
  }
}

TEST_F(FailingMoves, TheWorkerIsKilledWhileTheSessionIsParked) {
  for (unsigned moment = 0; moment < moments() && !HasFailure(); ++moment) {
    revive();
    if (park_and_kill() != 0) {
      expect_lost();
      continue;
    }
    EXPECT_EQ(session("alice")["parked"], true);
    EXPECT_TRUE(eventually([&] { return held_of_devices() == 0; }));
    EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
    expect_goes_on();
  }
}

TEST_F(FailingMoves, TheNewWorkerOfAParkedSessionIsKilledAtAnyMoment) {
  for (unsigned moment = 0; moment < moments() && !HasFailure(); ++moment) {
    revive();
    EXPECT_EQ(fairgv({"park", "alice"}).status, 0);
    EXPECT_TRUE(eventually([&] { return children_of(daemon_).empty(); }));
    auto asked = begin({"resume", "alice"});
    const auto next = new_worker(asked, {});
    wait_within_a_move();
    if (next) ::kill(*next, SIGKILL);
    if (harness::finish(std::move(asked)).status == 0) {
      expect_lost();
      continue;
    }
    EXPECT_EQ(session("alice")["parked"], true);
    EXPECT_TRUE(eventually([&] { return held_of_devices() == 0; }));
    EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
    expect_goes_on();
  }
}

TEST_F(FailingMoves, TheDaemonIsKilledAtAnyMomentAndNothingIsLeft) {
  for (unsigned moment = 0; moment < moments() && !HasFailure(); ++moment) {
    revive();
    auto asked = begin(migration());
    wait_within_a_move();
    ::kill(daemon_, SIGSTOP);
    const auto workers = children_of(daemon_);
    ::kill(daemon_, SIGKILL);
    EXPECT_FALSE(workers.empty());
    (void)harness::finish(std::move(asked));
    EXPECT_NE(harness::finish(std::move(*alice_)).status, 0) << "its calls fail";
    alice_.reset();
    for (const pid_t each : workers) EXPECT_TRUE(eventually([&] { return !alive(each); })) << each;
    const auto config = std::filesystem::path(tenancy->socket()).replace_filename("fairgvd.toml").string();
    const auto started = harness::run({{harness::beside("fairgvd"), "--daemonize", "--exit-idle", "600",
                                        "--socket", tenancy->socket(), "--config", config},
                                       {{"POCL_DEVICES", "pthread pthread"}}});
    ASSERT_TRUE(started);
    ASSERT_EQ(started->status, 0);
    daemon_ = daemon();
    EXPECT_TRUE(ps()["tenants"].empty());
    EXPECT_EQ(held_of_devices(), 0U);
    revive();
    expect_goes_on();
  }
}

}  // namespace
}  // namespace fairgv::integration
