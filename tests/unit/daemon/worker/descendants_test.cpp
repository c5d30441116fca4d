// Processes that a worker has started end with it, by each of the daemon's means.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "runtime/daemon/cage/process_namespace.hpp"
#include "runtime/daemon/worker/control_group.hpp"
#include "runtime/daemon/worker/process.hpp"
#include "runtime/daemon/worker/process_session.hpp"
#include "runtime/daemon/worker/process_stat.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

/// A number that no session of a test's daemon has.
constexpr std::uint32_t kSession = 4'000'000'000;

/// Starts two processes below the worker, one of which tries to leave its session, and both without a parent.
constexpr const char* kDaemonize =
    "(sleep 1000 &); (setsid sleep 1000 2> /dev/null &); (sh -c 'sleep 1000 & sleep 1000' &); echo ready; ";

struct WorkersDescendants : ::testing::Test {
  void SetUp() override {
    WorkerRule rule;
    rule.cache = folder / "caches";
    auto planned = plan_cage(rule, "/etc/OpenCL/vendors", {"/usr/bin/sh", folder.path(), {}, std::nullopt});
    ASSERT_TRUE(planned) << planned.error().message;
    command.cage = std::move(planned).value();
    command.program = "/usr/bin/sh";
    command.vendors = folder.path();
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader.reset(ends[0]);
    writer.reset(ends[1]);
    command.output = writer.get();
  }

  /// As on a machine where the daemon may not give workers process numbers of their own.
  void share_process_numbers() {
    command.cage.own_processes = false;
    for (Place& place : command.cage.view) {
      if (place.kind == Place::Kind::processes) place.kind = Place::Kind::read_only;
    }
  }

  /// Starts a worker with descendants that hold the pipe as long as they live.
  WorkerProcess start(const std::string& then, std::optional<ControlGroup> group = {}) {
    command.arguments = {"-c", kDaemonize + then};
    auto worker = WorkerProcess::spawn(command, std::move(group));
    EXPECT_TRUE(worker) << worker.error().message;
    writer.reset();
    char word[6];
    EXPECT_EQ(::read(reader.get(), word, sizeof(word)), 6);
    return std::move(worker).value();
  }

  /// Whether no process can write to the pipe any more.
  bool nobody_is_left() {
    EXPECT_EQ(::fcntl(reader.get(), F_SETFL, O_NONBLOCK), 0);
    char rest = 0;
    return ::read(reader.get(), &rest, 1) == 0;
  }

  harness::TemporaryFolder folder;
  WorkerCommand command;
  UniqueFd reader, writer;
};

TEST_F(WorkersDescendants, EndWithItsProcessNumbers) {
  if (!command.cage.own_processes) GTEST_SKIP() << "this daemon may not make any";
  auto worker = start("exec sleep 1000");
  worker.kill();
  // No look is needed: the end of the worker is the end of all.
  EXPECT_EQ(worker.ending(), "was killed by signal 9 (Killed)");
  EXPECT_TRUE(nobody_is_left());
  EXPECT_TRUE(worker.clear());
}

TEST_F(WorkersDescendants, EndWithItsProcessNumbersAlsoWhenItEndsByItself) {
  if (!command.cage.own_processes) GTEST_SKIP() << "this daemon may not make any";
  auto worker = start("exit 7");
  EXPECT_EQ(worker.ending(), "ended with status 7");
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(WorkersDescendants, EndWithItsControlGroup) {
  if (!control_group_folder()) GTEST_SKIP() << "this daemon may not make any";
  share_process_numbers();
  auto group = ControlGroup::make(*control_group_folder(), kSession);
  ASSERT_TRUE(group) << group.error().message;
  const fs::path path = group->path();
  auto worker = start("exit 7", std::move(group).value());
  EXPECT_FALSE(worker.handed().sweeps);
  EXPECT_GT(worker.group_processor_time().value_or(std::chrono::nanoseconds(0)).count(), 0);
  EXPECT_EQ(worker.reap(), "ended with status 7");
  EXPECT_TRUE(nobody_is_left());
  EXPECT_FALSE(fs::exists(path));
  EXPECT_GT(worker.group_processor_time().value_or(std::chrono::nanoseconds(0)).count(), 0);
}

TEST_F(WorkersDescendants, EndWithItsSessionWhereNothingElseHoldsThem) {
  if (!command.cage.filter) GTEST_SKIP() << "nothing keeps them in their session";
  for (const std::string end : {"exit 7", "kill -9 $$"}) {
    SetUp();
    share_process_numbers();
    auto worker = start(end);
    EXPECT_TRUE(worker.handed().sweeps);
    worker.reap();
    EXPECT_TRUE(nobody_is_left());
  }
}

TEST_F(WorkersDescendants, ThatForkOnAndOnEndAsWell) {
  share_process_numbers();
  // A row of processes, each of which starts the next and ends.
  folder.write("again", "#!/bin/sh\n(\"$0\" &)\n");
  fs::permissions(folder / "again", fs::perms::owner_all | fs::perms::others_all);
  command.cage.means = ViewMeans::nothing;
  auto worker = start("(" + (folder / "again").string() + " &); exec sleep 1000");
  worker.kill();
  worker.reap();
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(WorkersDescendants, OfAnotherWorkerLiveOn) {
  share_process_numbers();
  auto ended = start("exec sleep 1000");
  SetUp();
  share_process_numbers();
  auto other = start("exec sleep 1000");
  ended.kill();
  EXPECT_EQ(ended.reap(), "was killed by signal 9 (Killed)");
  EXPECT_FALSE(nobody_is_left());
  EXPECT_EQ(::kill(other.pid(), 0), 0);
}

TEST_F(WorkersDescendants, AreKnownToTheDaemonAfterThisOne) {
  if (!control_group_folder()) GTEST_SKIP() << "this daemon may not make control groups";
  auto group = ControlGroup::make(*control_group_folder(), kSession);
  ASSERT_TRUE(group);
  const fs::path path = group->path();
  auto worker = start("exec sleep 1000", std::move(group).value());
  HandedWorker handed = worker.handed();
  handed.group = ::fcntl(handed.group, F_DUPFD_CLOEXEC, 0);
  auto adopted = WorkerProcess::adopt(handed);
  ASSERT_TRUE(adopted) << adopted.error().message;
  EXPECT_EQ(adopted->handed().group_path, path.string());
  EXPECT_EQ(adopted->handed().sweeps, worker.handed().sweeps);
  adopted->kill();
  adopted->reap();
  EXPECT_TRUE(nobody_is_left());
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(WorkersDescendants, HaveNumbersOfTheirOwnAndSeeNoOthers) {
  if (!command.cage.own_processes) GTEST_SKIP() << "this daemon may not make any";
  command.arguments = {"-c", "echo $$ $PPID; for each in /proc/[0-9]*; do echo $each; done"};
  auto worker = WorkerProcess::spawn(command);
  ASSERT_TRUE(worker);
  writer.reset();
  std::string text;
  char part[256];
  for (ssize_t length; (length = ::read(reader.get(), part, sizeof(part))) > 0;) {
    text.append(part, static_cast<std::size_t>(length));
  }
  EXPECT_EQ(text, "1 0\n/proc/1\n");
}

TEST_F(WorkersDescendants, TellOfAnAbortWhereItsSignalIsIgnored) {
  command.arguments = {"-c", "exit " + std::to_string(kAbortedStatus)};
  auto worker = WorkerProcess::spawn(command);
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->reap(), "was killed by signal 6 (Aborted)");
}

/// A session that moves again soon after a move: the group of its last worker but one is empty, and goes
/// soon.
TEST(ControlGroup, OfASessionIsNotThatOfAnEarlierWorkerWhichIsStillToBeRemoved) {
  if (!control_group_folder()) GTEST_SKIP() << "this daemon may not make any";
  auto earlier = ControlGroup::make(*control_group_folder(), kSession);
  auto later = ControlGroup::make(*control_group_folder(), kSession);
  ASSERT_TRUE(earlier && later);
  EXPECT_NE(earlier->path(), later->path());
  EXPECT_TRUE(earlier->remove());
  EXPECT_TRUE(fs::exists(later->path()));
  auto again = ControlGroup::make(*control_group_folder(), kSession);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(later->remove());
  EXPECT_TRUE(fs::exists(again->path()));
  EXPECT_TRUE(again->remove());
}

TEST(ControlGroup, OfADaemonThatDiedIsClearedAndOfOneThatLivesIsNot) {
  if (!control_group_folder()) GTEST_SKIP() << "this daemon may not make any";
  auto lives = ControlGroup::make(*control_group_folder(), kSession);
  ASSERT_TRUE(lives) << lives.error().message;
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    // This daemon dies with a process in its group.
    const auto group = ControlGroup::make(*control_group_folder(), kSession);
    const UniqueFd entrance = group->entrance();
    if (::fork() == 0) {
      if (::write(entrance.get(), "0", 1) != 1) ::_exit(1);
      ::execl("/bin/sleep", "sleep", "1000", nullptr);
    }
    while (group->processor_time().value().count() == 0) std::this_thread::yield();
    ::_exit(0);
  }
  ::waitpid(daemon, nullptr, 0);
  const fs::path left =
      *control_group_folder() / ("fairgv-" + std::to_string(daemon) + "-" + std::to_string(kSession));
  ASSERT_TRUE(fs::exists(left));
  // A process takes a moment to die.
  while (fs::exists(left)) clear_left_over_groups(*control_group_folder());
  EXPECT_TRUE(fs::exists(lives->path()));
  EXPECT_TRUE(lives->remove());
}

// A living daemon makes a group a moment before it locks it, and other programs' groups have such names, too.
TEST(ControlGroup, OfALivingDaemonIsNotClearedBeforeItIsLockedNorIsAnybodyElses) {
  if (!control_group_folder()) GTEST_SKIP() << "this daemon may not make any";
  const std::string living = std::to_string(::getppid());
  for (const std::string& name : {"fairgv-" + living + "-987654", "fairgv-test-" + living + ".slice",
                                  "fairgv-" + living + "-1.slice"}) {
    const fs::path group = *control_group_folder() / name;
    ASSERT_EQ(::mkdir(group.c_str(), 0755), 0) << group;
    clear_left_over_groups(*control_group_folder());
    EXPECT_EQ(::rmdir(group.c_str()), 0) << group << " is gone";
  }
}

TEST(ControlGroupFolder, IsBelowTheProcessOwnGroup) {
  const char* const unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(control_group_folder(unified, "0::/system.slice/fairgvd.service\n"),
            "/sys/fs/cgroup/system.slice/fairgvd.service");
  EXPECT_EQ(control_group_folder(unified, "0::/\n"), "/sys/fs/cgroup");
}

TEST(ControlGroupFolder, IsFoundBesideThoseOfVersion1) {
  const char* const hybrid =
      "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(control_group_folder(hybrid, "9:name=systemd:/\n4:memory:/jobs/7\n0::/jobs\n"),
            "/sys/fs/cgroup/unified/jobs");
  EXPECT_EQ(control_group_folder("32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "4:cpu:/\n"),
            std::nullopt);
}

TEST(ControlGroupFolder, OfAContainerIsWhatItIsShown) {
  const char* const part = "41 31 0:38 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(control_group_folder(part, "0::/docker/1/daemon\n"), "/sys/fs/cgroup/daemon");
  EXPECT_EQ(control_group_folder(part, "0::/docker/1\n"), "/sys/fs/cgroup");
  EXPECT_EQ(control_group_folder(part, "0::/docker/12\n"), std::nullopt);
  EXPECT_EQ(control_group_folder(part, "0::/../elsewhere\n"), std::nullopt);
}

TEST(ProcessStat, IsReadWhateverTheProcessCallsItself) {
  const std::string rest = " S 12 34 56 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 3 0 77 1 1\n";
  for (const char* name : {"sleep", "a b", ") R 1 1 1", "((", "x)\n(y"}) {
    const auto stat = parse_process_stat("7 (" + std::string(name) + ")" + rest);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->parent, 12);
    EXPECT_EQ(stat->session, 56);
    EXPECT_TRUE(stat->runs);
  }
  for (const char* broken : {"", "7 (a", "7 (a)", "7 (a) S", "7 (a) S 1 2", "7 (a) S x y z"}) {
    EXPECT_FALSE(parse_process_stat(broken)) << broken;
  }
}

TEST(ProcessStat, OfAZombieRunsIfAThreadOfItDoes) {
  const std::string before = "7 (a) Z 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 ";
  EXPECT_FALSE(parse_process_stat(before + "1 0 77")->runs);
  EXPECT_TRUE(parse_process_stat(before + "2 0 77")->runs);
}

}  // namespace
}  // namespace fairgv::daemon
