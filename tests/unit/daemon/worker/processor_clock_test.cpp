// The kernel's clocks of real processes.
#include "runtime/daemon/worker/processor_clock.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

/// Runs until this process has used so much processor time itself.
void burn(std::chrono::nanoseconds time) {
  timespec used{};
  do {
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  } while (std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec) < time);
}

/// Forks a child that does not outlive the process which made it.
pid_t fork_bound() {
  const pid_t child = ::fork();
  if (child == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child;
}

/// A child that does some work, reports that, and waits to be killed.
class BusyChild {
 public:
  explicit BusyChild(const std::function<void()>& work) {
    int said[2];
    EXPECT_EQ(::pipe(said), 0);
    pid_ = fork_bound();
    if (pid_ == 0) {
      work();
      [[maybe_unused]] const ssize_t written = ::write(said[1], "x", 1);
      for (;;) ::pause();
    }
    char done = 0;
    EXPECT_EQ(::read(said[0], &done, 1), 1);
    ::close(said[0]);
    ::close(said[1]);
  }
  ~BusyChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  BusyChild(const BusyChild&) = delete;
  BusyChild& operator=(const BusyChild&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST(ProcessorClock, CountsTheProcess) {
  const BusyChild worker([] { burn(100ms); });
  EXPECT_GE(ProcessorClock(worker.pid()).read(), 100ms);
  EXPECT_GE(processor_time(worker.pid()), 100ms);
}

TEST(ProcessorClock, CountsChildrenThatRun) {
  const BusyChild worker([] {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    if (fork_bound() == 0) {
      burn(100ms);
      [[maybe_unused]] const ssize_t written = ::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    char done = 0;
    [[maybe_unused]] const ssize_t length = ::read(ready[0], &done, 1);
  });
  EXPECT_GE(ProcessorClock(worker.pid()).read(), 100ms);
  EXPECT_LT(processor_time(worker.pid()), 100ms);
}

TEST(ProcessorClock, CountsChildrenThatHaveEnded) {
  const BusyChild worker([] {
    const pid_t child = ::fork();
    if (child == 0) {
      burn(100ms);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  });
  EXPECT_GE(ProcessorClock(worker.pid()).read(), 80ms) << "in ticks of 10 ms";
}

TEST(ProcessorClock, NeverGoesDownWhenAChildEndsUnwaitedFor) {
  int again[2];
  ASSERT_EQ(::pipe(again), 0);
  const BusyChild worker([&] {
    ::signal(SIGCHLD, SIG_IGN);  // nobody waits for it, and nobody has to
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    if (fork_bound() == 0) {
      burn(200ms);
      [[maybe_unused]] const ssize_t written = ::write(ready[1], "x", 1);
      char go = 0;
      [[maybe_unused]] const ssize_t length = ::read(again[0], &go, 1);
      ::_exit(0);
    }
    char done = 0;
    [[maybe_unused]] const ssize_t length = ::read(ready[0], &done, 1);
  });
  ProcessorClock clock(worker.pid());
  const auto before = clock.read();
  ASSERT_GE(before, 200ms);
  ASSERT_EQ(::write(again[1], "x", 1), 1);
  const std::string children =
      "/proc/" + std::to_string(worker.pid()) + "/task/" + std::to_string(worker.pid()) + "/children";
  char left = 'x';
  do {
    FILE* const file = ::fopen(children.c_str(), "re");
    ASSERT_NE(file, nullptr);
    left = static_cast<char>(::fread(&left, 1, 1, file));
    ::fclose(file);
  } while (left != 0);
  EXPECT_LT(processor_time(worker.pid()), 200ms);
  EXPECT_GE(clock.read(), before);
  ::close(again[0]);
  ::close(again[1]);
}

TEST(ProcessorClock, HasNothingToSayOfAProcessThatIsGone) {
  pid_t gone = -1;
  {
    gone = BusyChild([] {}).pid();
  }
  EXPECT_EQ(ProcessorClock(gone).read(), std::nullopt);
  EXPECT_EQ(processor_time(gone), std::nullopt);
}

}  // namespace
}  // namespace fairgv::daemon
