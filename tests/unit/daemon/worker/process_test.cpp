// A worker's process: its environment, its descriptors, its end. The programs are the system's own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/daemon/worker/process.hpp"

namespace fairgv::daemon {
namespace {

/// A pipe whose write end the worker inherits.
struct Output {
  Output() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader.reset(ends[0]);
    writer.reset(ends[1]);
  }
  std::string read_all() {
    writer.reset();
    std::string text;
    char part[256];
    for (ssize_t length; (length = ::read(reader.get(), part, sizeof(part))) > 0;) {
      text.append(part, static_cast<std::size_t>(length));
    }
    return text;
  }
  UniqueFd reader, writer;
};

std::string output_of(const std::string& script, std::optional<User> run_as = {}) {
  Output output;
  const int fd = output.writer.get();
  WorkerCommand command;
  command.program = "/bin/sh";
  command.arguments = {"-c", "exec >&" + std::to_string(fd) + "; " + script};
  command.inherited = {fd};
  command.vendors = "/vendors";
  command.run_as = std::move(run_as);
  auto worker = WorkerProcess::spawn(command);
  EXPECT_TRUE(worker) << worker.error().message;
  return output.read_all();
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

TEST(WorkerEnvironment, LeadsTheLoaderToTheDriversAndNowhereElse) {
  const char* const environment[] = {"PATH=/bin",
                                     "HOME=/root",
                                     "OCL_ICD_VENDORS=/ours",
                                     "OCL_ICD_FILENAMES=x",
                                     "OPENCL_VENDOR_PATH=x",
                                     "FAIRGV_TENANT=a",
                                     "NOTIFY_SOCKET=/run/systemd/notify",
                                     "WATCHDOG_USEC=1",
                                     "LISTEN_FDS=1",
                                     "POCL_DEVICES=cpu",
                                     nullptr};
  WorkerCommand command;
  command.vendors = "/vendors";
  const auto cleaned = worker_environment(const_cast<char* const*>(environment), command);
  const std::vector<std::string> expected{"OCL_ICD_VENDORS=/vendors", "PATH=/bin", "HOME=/root",
                                          "POCL_DEVICES=cpu"};
  EXPECT_EQ(cleaned, expected);
}

TEST(WorkerEnvironment, OfAnotherUserHasThatUsersHome) {
  const char* const environment[] = {"HOME=/root", "XDG_RUNTIME_DIR=/run/user/0", "LANG=C", nullptr};
  WorkerCommand command;
  command.vendors = "/vendors";
  command.run_as = User{1'000, 1'000, "alice", "/home/alice", {1'000}};
  const auto cleaned = worker_environment(const_cast<char* const*>(environment), command);
  EXPECT_TRUE(contains(cleaned, "HOME=/home/alice"));
  EXPECT_TRUE(contains(cleaned, "USER=alice"));
  EXPECT_TRUE(contains(cleaned, "LANG=C"));
  EXPECT_FALSE(contains(cleaned, "HOME=/root"));
  EXPECT_FALSE(contains(cleaned, "XDG_RUNTIME_DIR=/run/user/0"));
}

TEST(WorkerEnvironment, OfACagedWorkerIsAtHomeInItsCache) {
  const char* const environment[] = {"HOME=/root", "XDG_CONFIG_HOME=/root/.config", "TMPDIR=/scratch",
                                     "LANG=C", nullptr};
  WorkerCommand command;
  command.vendors = "/vendors";
  command.cage.cache = "/var/cache/fairgv/1000";
  command.cage.means = ViewMeans::mounts;
  std::vector<std::string> expected{"OCL_ICD_VENDORS=/vendors", "LANG=C", "HOME=/var/cache/fairgv/1000",
                                    "XDG_CACHE_HOME=/var/cache/fairgv/1000"};
  EXPECT_EQ(worker_environment(const_cast<char* const*>(environment), command), expected);
  command.cage.means = ViewMeans::landlock;
  expected.emplace_back("TMPDIR=/var/cache/fairgv/1000");
  EXPECT_EQ(worker_environment(const_cast<char* const*>(environment), command), expected);
}

TEST(WorkerProcess, InheritsOnlyWhatItIsGiven) {
  const UniqueFd leaked(::fcntl(STDERR_FILENO, F_DUPFD, 50));  // without close-on-exec
  ASSERT_GE(leaked.get(), 50);
  // The shell itself opens the folder that it lists, with a low number.
  const std::string listing = output_of("for fd in /proc/$$/fd/*; do echo ${fd##*/}; done");
  EXPECT_NE(listing.find("0\n1\n2\n"), std::string::npos) << listing;
  EXPECT_EQ(listing.find("\n" + std::to_string(leaked.get()) + "\n"), std::string::npos) << listing;
}

TEST(WorkerProcess, HasNoInputAndNoWayToMoreRights) {
  EXPECT_EQ(output_of("read line || echo end"), "end\n");
  EXPECT_EQ(output_of("grep NoNewPrivs /proc/self/status"), "NoNewPrivs:\t1\n");
}

TEST(WorkerProcess, RunsAsItsUserWhenTheDaemonIsRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const User nobody{65'534, 65'534, "nobody", "/nonexistent", {65'534}};
  EXPECT_EQ(output_of("id -u; id -g; id -G; echo $HOME", nobody), "65534\n65534\n65534\n/nonexistent\n");
}

TEST(WorkerProcess, TellsHowItEnded) {
  WorkerCommand command;
  command.program = "/bin/sh";
  command.arguments = {"-c", "exit 7"};
  auto exits = WorkerProcess::spawn(command);
  ASSERT_TRUE(exits);
  pollfd end{exits->pidfd(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, -1), 1);
  EXPECT_EQ(exits->reap(), "ended with status 7");

  // Not a child of the shell, which would outlive the shell and hold this test's output open.
  command.arguments = {"-c", "exec sleep 1000"};
  auto killed = WorkerProcess::spawn(command);
  ASSERT_TRUE(killed);
  killed->kill();
  EXPECT_EQ(killed->reap(), "was killed by signal 9 (Killed)");

  command.program = "/no/such/program";
  auto missing = WorkerProcess::spawn(command);
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->reap(), "ended with status 127");
}

TEST(WorkerProcess, IsKilledAndReapedWithItsObject) {
  WorkerCommand command;
  command.program = "/bin/sleep";
  command.arguments = {"1000"};
  pid_t pid = 0;
  {
    auto worker = WorkerProcess::spawn(command);
    ASSERT_TRUE(worker);
    pid = worker->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

/// A child that no WorkerProcess has started.
struct Stranger {
  Stranger() : pid(::fork()) {
    if (pid == 0) {
      for (;;) ::pause();
    }
    pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }
  ~Stranger() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  bool ended() const {
    pollfd end{pidfd.get(), POLLIN, 0};
    return ::poll(&end, 1, 0) == 1;
  }
  pid_t pid;
  UniqueFd pidfd;
};

TEST(WorkerProcess, OfADirectProgramOutlivesItsObjectAndCanBeKilled) {
  const Stranger stranger;
  const auto open = [&] {
    return WorkerProcess::of_program(stranger.pid,
                                     UniqueFd(::fcntl(stranger.pidfd.get(), F_DUPFD_CLOEXEC, 0)));
  };
  {
    WorkerProcess program = open();
    EXPECT_TRUE(program.is_program());
    EXPECT_TRUE(program.clear()) << "nothing of it is the daemon's to clear up";
  }
  { const WorkerProcess forgotten = open(); }
  EXPECT_FALSE(stranger.ended()) << "the object's end has killed it";
  WorkerProcess program = open();
  const HandedWorker handed = program.handed();
  auto adopted = WorkerProcess::adopt(
      {.pid = handed.pid, .sweeps = handed.sweeps, .program = ::fcntl(handed.program, F_DUPFD_CLOEXEC, 0)});
  ASSERT_TRUE(adopted);
  EXPECT_TRUE(adopted->is_program());
  adopted->kill();
  pollfd end{adopted->pidfd(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, -1), 1);
}

}  // namespace
}  // namespace fairgv::daemon
