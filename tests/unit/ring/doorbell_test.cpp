// The hybrid wait: sleeping and waking, deadlines, lost wake-ups, and learning of the spin budget.
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/ring/support.hpp"

namespace fairgv::ring {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

TEST(Doorbell, AWaitForWhatIsTrueAlreadyDoesNotTouchTheBell) {
  Doorbell bell;
  SpinBudget budget(kNever);
  EXPECT_TRUE(wait(bell, budget, [] { return true; }));
  EXPECT_EQ(bell.word.load(), 0U);
}

TEST(Doorbell, RingingWithNobodyAsleepOnlyCounts) {
  Doorbell bell;
  ring(bell);
  ring(bell);
  EXPECT_EQ(bell.word.load(), 2 * Doorbell::kOneRing);
}

TEST(Doorbell, TheCountMayWrapWithoutSettingTheSleeperFlag) {
  Doorbell bell;
  bell.word = UINT32_MAX - Doorbell::kSleeper;
  ring(bell);
  EXPECT_EQ(bell.word.load(), 0U);
}

TEST(Doorbell, AWaiterWhoseDeadlineHasPassedReturnsWhatReadySays) {
  Doorbell bell;
  SpinBudget budget;
  const auto past = steady_clock::now() - milliseconds(1);
  EXPECT_FALSE(wait(
      bell, budget, [] { return false; }, past));
  EXPECT_TRUE(wait(
      bell, budget, [] { return true; }, past));
}

TEST(Doorbell, AWaiterSleepsNoShorterThanToItsDeadline) {
  Doorbell bell;
  for (const nanoseconds longest : {kNever, nanoseconds(SpinBudget::kLongest)}) {
    SpinBudget budget(longest);
    const auto deadline = steady_clock::now() + milliseconds(5);
    EXPECT_FALSE(wait(
        bell, budget, [] { return false; }, deadline));
    EXPECT_GE(steady_clock::now(), deadline);
  }
}

TEST(Doorbell, ARingWakesTheSleeper) {
  Doorbell bell;
  std::atomic<bool> ready{false};
  bool woken = false;
  std::thread sleeper([&] {
    SpinBudget budget(kNever);
    woken = wait(
        bell, budget, [&] { return ready.load(std::memory_order_relaxed); }, lost_by());
  });
  await_sleeper(bell);
  ready.store(true, std::memory_order_relaxed);  // only the bell orders it
  ring(bell);
  sleeper.join();
  EXPECT_TRUE(woken);
}

/// A thread that waits until `ready` is set and the bell rings, and counts its looks.
struct Sleeper {
  explicit Sleeper(Doorbell& bell)
      : thread([this, &bell] {
          id = gettid();
          SpinBudget budget(kNever);
          EXPECT_TRUE(wait(
              bell, budget,
              [this] {
                ++looks;
                return ready.load();
              },
              lost_by()));
        }) {}
  ~Sleeper() {
    if (thread.joinable()) thread.join();
  }

  std::atomic<int> looks{0};
  std::atomic<bool> ready{false};
  std::atomic<pid_t> id{0};
  std::thread thread;  // the last member: it uses the others
};

TEST(Doorbell, ARingForSomebodyElseLeavesTheSleeperAsleep) {
  Doorbell bell;
  Sleeper sleeper(bell);
  for (int round = 0; round < 3; ++round) {
    await_sleeper(bell);
    const int before = sleeper.looks;
    ring(bell);
    while (sleeper.looks == before) std::this_thread::yield();  // it looked, and sleeps again
  }
  await_sleeper(bell);
  sleeper.ready = true;
  ring(bell);
  sleeper.thread.join();
  EXPECT_GE(sleeper.looks, 5);
}

/// Whether the kernel has put the thread to sleep.
bool is_asleep(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string number, name, state;
  stat >> number >> name >> state;
  return state == "S";
}

// GPU-centric coscheduling wakes the threads that wait on one CPU (FairGV, section 3.2.3).
TEST(Doorbell, ARingOnACpuWakesOnlyTheThreadsThatSleptThere) {
  Doorbell bell;
  std::atomic<int> looks{0};
  std::atomic<bool> ready{false};
  std::atomic<uint32_t> cpu{0};
  std::atomic<pid_t> thread{0};
  std::thread sleeper([&] {
    thread = gettid();
    cpu_set_t here;
    CPU_ZERO(&here);
    cpu = static_cast<uint32_t>(sched_getcpu());
    CPU_SET(cpu, &here);
    ASSERT_EQ(sched_setaffinity(0, sizeof(here), &here), 0);
    SpinBudget budget(kNever);
    EXPECT_TRUE(wait(
        bell, budget,
        [&] {
          ++looks;
          return ready.load();
        },
        lost_by()));
  });
  await_sleeper(bell);
  while (!is_asleep(thread)) std::this_thread::yield();
  const int before = looks;
  for (uint32_t other = 1; other < 32; ++other) ring_on_cpu(bell, cpu + other);
  // A thread that was woken is no longer asleep when the ring returns, or has looked before it slept again.
  EXPECT_TRUE(is_asleep(thread));
  EXPECT_EQ(looks, before);
  ring_on_cpu(bell, cpu + 32);
  while (looks == before) std::this_thread::yield();  // the same group: it looked, and sleeps again
  await_sleeper(bell);
  ready = true;
  ring(bell);
  sleeper.join();
}

TEST(Doorbell, AStandInLeavesTheSleepersAsleepUntilItStandsDown) {
  Doorbell bell;
  Sleeper sleeper(bell);
  await_sleeper(bell);
  while (!is_asleep(sleeper.id)) std::this_thread::yield();
  const int before = sleeper.looks;
  stand_in_for_sleepers(bell);
  for (int i = 0; i < 100; ++i) ring(bell);
  EXPECT_TRUE(is_asleep(sleeper.id));
  EXPECT_EQ(sleeper.looks, before);
  stand_down(bell);
  sleeper.ready = true;
  ring(bell);
}

TEST(Doorbell, AThreadThatGoesToSleepWhileAnotherStandsInIsWoken) {
  Doorbell bell;
  stand_in_for_sleepers(bell);
  Sleeper sleeper(bell);
  await_sleeper(bell);
  sleeper.ready = true;
  ring(bell);
}

TEST(Doorbell, RingAlwaysWakesASleeperWhoseFlagWasScribbledOver) {
  Doorbell bell;
  Sleeper sleeper(bell);
  while (sleeper.looks < 2) std::this_thread::yield();  // it has armed
  bell.word.fetch_and(~Doorbell::kSleeper);             // the hostile peer
  sleeper.ready = true;
  ring_always(bell);
}

TEST(Doorbell, SleepersTakingTurnsOnTwoBellsNeverLoseAWakeUp) {
  constexpr int kRounds = 3'000;
  Doorbell ping;
  Doorbell pong;
  std::atomic<int> pings{0};
  std::atomic<int> pongs{0};
  std::thread peer([&] {
    SpinBudget budget(kNever);
    for (int round = 1; round <= kRounds; ++round) {
      ASSERT_TRUE(wait(
          ping, budget, [&] { return pings.load() == round; }, lost_by()));
      await_sleeper(pong);
      pongs = round;
      ring(pong);
    }
  });
  SpinBudget budget(kNever);
  for (int round = 1; round <= kRounds; ++round) {
    await_sleeper(ping);
    pings = round;
    ring(ping);
    ASSERT_TRUE(wait(
        pong, budget, [&] { return pongs.load() == round; }, lost_by()));
  }
  peer.join();
}

/// Threads hand a token round through one bell, all sleeping or spinning on it for their own turn.
class TokenRing : public testing::TestWithParam<nanoseconds> {};

TEST_P(TokenRing, ManyWaitersOnOneBellNeverLoseAWakeUp) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kTurns = 20'000;
  Doorbell bell;
  SpinBudget budget(GetParam());
  std::atomic<uint64_t> token{0};
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (uint64_t me = 0; me < kThreads; ++me) {
    threads.emplace_back([&, me] {
      for (uint64_t turn = me; turn < kTurns; turn += kThreads) {
        // Relaxed: the bell must show the others the token in time.
        if (!wait(
                bell, budget, [&] { return token.load(std::memory_order_relaxed) == turn; }, lost_by())) {
          ++lost;
          return;
        }
        token.store(turn + 1, std::memory_order_relaxed);
        ring(bell);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(token, kTurns);
}

INSTANTIATE_TEST_SUITE_P(Budgets, TokenRing, testing::Values(kNever, nanoseconds(SpinBudget::kLongest)),
                         [](const auto& budget) { return budget.param == kNever ? "Sleeping" : "Spinning"; });

TEST(SpinBudget, ALimitHoldsWhateverTheWaitsTeach) {
  SpinBudget budget;
  budget.limit(std::chrono::microseconds(5));
  EXPECT_LE(budget.current(), std::chrono::microseconds(5));
  for (int i = 0; i < 100; ++i) budget.succeeded(std::chrono::microseconds(40));
  EXPECT_LE(budget.current(), std::chrono::microseconds(5));
  budget.limit(std::chrono::microseconds(50));
  EXPECT_LE(budget.current(), std::chrono::microseconds(5)) << "a limit is not lifted";

  SpinBudget never(kNever);
  never.limit(std::chrono::microseconds(5));
  EXPECT_EQ(never.current(), std::chrono::nanoseconds(0));
}

/// These need a machine on which spinning makes sense.
class SpinBudgetOnManyCpus : public testing::Test {
 protected:
  void SetUp() override {
    if (budget.current() == kNever) GTEST_SKIP() << "this process may use only one CPU";
  }
  SpinBudget budget;
};

TEST_F(SpinBudgetOnManyCpus, StartsAtTheLongest) {
  EXPECT_EQ(budget.current(), SpinBudget::kLongest);
  EXPECT_EQ(SpinBudget(microseconds(20)).current(), microseconds(20));
  EXPECT_EQ(SpinBudget(std::chrono::seconds(1)).current(), SpinBudget::kLongest);
}

TEST_F(SpinBudgetOnManyCpus, AWaitThatOutlastsTheLongestHalvesIt) {
  budget.slept(milliseconds(1));
  EXPECT_EQ(budget.current(), SpinBudget::kLongest / 2);
}

TEST_F(SpinBudgetOnManyCpus, IsLongerForADeviceApartOnlyWhereThereAreCpusToSpare) {
  budget.extend(SpinBudget::kLongestApart, SpinBudget::kManyCpus - 1);
  EXPECT_EQ(budget.current(), SpinBudget::kLongest);
  budget.extend(2 * SpinBudget::kLongestApart, SpinBudget::kManyCpus);
  EXPECT_EQ(budget.current(), SpinBudget::kLongestApart);
  budget.slept(2 * SpinBudget::kLongestApart);
  EXPECT_EQ(budget.current(), SpinBudget::kLongestApart / 2);
}

TEST_F(SpinBudgetOnManyCpus, IsShortForADeviceThatIsTheseCpus) {
  budget.suit(false);
  EXPECT_EQ(budget.current(), SpinBudget::kLongestShared);
}

TEST_F(SpinBudgetOnManyCpus, NeverFallsBelowTheShortest) {
  for (int i = 0; i < 100; ++i) budget.slept(milliseconds(1));
  EXPECT_EQ(budget.current(), SpinBudget::kShortest);
  for (int i = 0; i < 100; ++i) budget.succeeded(nanoseconds(0));
  EXPECT_EQ(budget.current(), SpinBudget::kShortest);
}

TEST_F(SpinBudgetOnManyCpus, NeverRisesAboveTheLongest) {
  for (int i = 0; i < 100; ++i) budget.succeeded(milliseconds(40));
  EXPECT_EQ(budget.current(), SpinBudget::kLongest);
}

TEST_F(SpinBudgetOnManyCpus, SettlesAtTwiceTheTimeThatWaitsTake) {
  for (int i = 0; i < 100; ++i) budget.succeeded(microseconds(8));
  EXPECT_NEAR(static_cast<double>(budget.current().count()), 16'000, 10);
  for (int i = 0; i < 100; ++i) budget.succeeded(microseconds(12));
  EXPECT_NEAR(static_cast<double>(budget.current().count()), 24'000, 10);
}

TEST_F(SpinBudgetOnManyCpus, ANapThatSpinningWouldHaveSavedRaisesIt) {
  for (int i = 0; i < 100; ++i) budget.slept(milliseconds(1));
  for (int i = 0; i < 100; ++i) budget.slept(microseconds(10));
  EXPECT_NEAR(static_cast<double>(budget.current().count()), 20'000, 10);
}

TEST(SpinBudget, MayBeOfAnyLengthWhateverTheCpus) {
  SpinBudget budget = SpinBudget::of_any_length(microseconds(500));
  EXPECT_EQ(budget.current(), microseconds(500));
  budget.slept(microseconds(501));
  EXPECT_EQ(budget.current(), microseconds(250));
  budget.slept(microseconds(500));
  EXPECT_GT(budget.current(), microseconds(250)) << "a nap that spinning would have saved";
}

TEST(SpinBudget, ABudgetOfZeroStaysZero) {
  SpinBudget budget(kNever);
  budget.succeeded(microseconds(10));
  budget.slept(microseconds(10));
  budget.slept(milliseconds(10));
  budget.extend(SpinBudget::kLongestApart, SpinBudget::kManyCpus);
  EXPECT_EQ(budget.current(), kNever);
}

/// Restricts every thread of this process to `cpus` (a sanitizer may have started a thread of its own).
bool restrict_process_to(const cpu_set_t& cpus) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t thread = std::stoi(task.path().filename());
    if (sched_setaffinity(thread, sizeof(cpus), &cpus) != 0) return false;
  }
  return true;
}

TEST(SpinBudget, IsZeroForAProcessThatMayUseOneCpuOnly) {
  const pid_t child = start_child([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
    return restrict_process_to(one) && SpinBudget().current() == kNever;
  });
  EXPECT_EQ(await_child(child), 0);
}

TEST_F(SpinBudgetOnManyCpus, IsNotZeroForAThreadThatIsPinnedWhileOthersAreNot) {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(SpinBudget().current(), SpinBudget::kLongest);
  }).join();
}

}  // namespace
}  // namespace fairgv::ring
