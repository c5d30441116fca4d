// The cage hides the machine from code in a worker's place: folders, other processes, caches.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <utility>

#include "runtime/daemon/cage/landlock.hpp"
#include "tests/unit/daemon/cage/cage_fixture.hpp"

namespace fairgv::daemon::caged {
namespace {

const User kNobody{65'534, 65'534, "nobody", "/nonexistent", {65'534}};

/// A program of the user's in a folder, for which a session is started.
class Program {
 public:
  explicit Program(const fs::path& folder, uid_t uid = ::geteuid()) : pid_(::fork()) {
    if (pid_ == 0) {
      if (::chdir(folder.c_str()) != 0 || ::setuid(uid) != 0) ::_exit(1);
      ::execl("/bin/sleep", "sleep", "1000", nullptr);
      ::_exit(1);
    }
    // Waits until the program runs.
    while (name() != "sleep") ::usleep(1'000);
  }
  ~Program() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  std::string name() const {
    std::string text;
    std::ifstream("/proc/" + std::to_string(pid_) + "/comm") >> text;
    return text;
  }

  pid_t pid_;
};

TEST_F(RootsCage, ShowsTheSystemReadOnlyAndNothingOfOthers) {
  folder.write("secret", "");
  plan();
  const std::string cache = folder / "caches" / std::to_string(::geteuid());
  const std::string secret = folder / "secret";
  const Report report = probe({"/usr",
                               "/etc/passwd",
                               "/dev/null",
                               "/proc/self/status",
                               "/tmp",
                               "/dev/shm",
                               cache,
                               command.vendors,
                               secret,
                               "/etc/shadow",
                               "/etc/ssh",
                               "/home",
                               "/root",
                               "/var",
                               "/run",
                               "/dev/tty",
                               "/dev/kmsg",
                               "/proc/sysrq-trigger",
                               "/proc/sys/kernel/core_pattern",
                               "/"});
  expect_each(report, {"/usr", "/etc/passwd", "/proc/self/status", "/proc/sys/kernel/core_pattern", "/"},
              "read");
  EXPECT_EQ(only(report, command.vendors), "read");
  expect_each(report, {cache, "/tmp", "/dev/shm", "/dev/null"}, "write");
  expect_each(report,
              {"/etc/shadow", "/etc/ssh", "/home", "/root", "/var", "/run", "/dev/tty", "/dev/kmsg",
               "/proc/sysrq-trigger"},
              "closed");
  EXPECT_EQ(only(report, secret), "closed");
}

TEST_F(RootsCage, OfAnotherUserShowsThatUsersCacheOnly) {
  command.run_as = kNobody;
  plan();
  const std::string cache = folder / "caches" / "65534";
  const auto others = worker_cache(rule.cache, 1, 1);
  ASSERT_TRUE(others);
  const Report report = probe({cache, others.value(), "/usr"});
  EXPECT_EQ(only(report, cache), "write");
  EXPECT_EQ(only(report, others.value()), "closed");
  EXPECT_EQ(only(report, "/usr"), "read");
  EXPECT_EQ(only(report, "setuid_root"), "EPERM");
  EXPECT_EQ(only(report, "name_thread"), "allowed");
}

TEST_F(RootsCage, HasNoWayOutThroughOtherProcessesOfItsUser) {
  if (landlock_version() == 0) GTEST_SKIP() << "the kernel has no Landlock";
  const Program program("/", kNobody.uid);
  command.run_as = kNobody;
  plan();
  const std::string process = "/proc/" + std::to_string(program.pid());
  const Report report =
      probe({process + "/root/etc/hostname", process + "/cwd", process + "/environ", process + "/stat"});
  // With process numbers of its own the probe does not even see the processes.
  EXPECT_EQ(only(report, process + "/stat"), command.cage.own_processes ? "closed" : "read");
  expect_each(report, {process + "/root/etc/hostname", process + "/cwd", process + "/environ"}, "closed");
}

TEST_F(RootsCage, ShowsOnlyTheDriverAndItsDataOfADriversOwnFolder) {
  const harness::TemporaryFolder environment;
  for (const char* part : {"lib", "share/pocl", "share/keys"}) fs::create_directories(environment / part);
  drivers = {environment / "lib/libpocl.so"};
  plan();
  const Report report = probe({environment / "lib", environment / "share/pocl", environment / "share/keys"});
  expect_each(report, {environment / "lib", environment / "share/pocl"}, "read");
  EXPECT_EQ(only(report, environment / "share/keys"), "closed");
}

TEST_F(RootsCage, ShowsTheFoldersThatTheConfigurationNames) {
  const harness::TemporaryFolder where;
  rule.readable = {where.path()};
  plan();
  EXPECT_EQ(only(probe({where.path()}), where.path()), "read");
}

TEST_F(RootsCage, MayBeTheSystemsViewIfTheConfigurationSaysSo) {
  const harness::TemporaryFolder where;
  rule.private_view = false;
  plan();
  EXPECT_EQ(only(probe({where.path()}), where.path()), "write");
}

TEST_F(Cage, ByLandlockClosesEverythingOutsideItsView) {
  if (landlock_version() == 0) GTEST_SKIP() << "the kernel has no Landlock";
  folder.write("secret", "");
  plan();
  command.cage.means = ViewMeans::landlock;
  if (std::exchange(command.cage.own_processes, false)) {
    command.cage.view.push_back({Place::Kind::writable, "/proc/self/task", {}, true});
  }
  const std::string cache = folder / "caches" / std::to_string(::geteuid());
  const std::string secret = folder / "secret";
  const Report report =
      probe({"/usr", "/etc/passwd", "/dev/null", cache, secret, "/etc/shadow", "/home", "/root", "/tmp"});
  EXPECT_EQ(only(report, "/usr"), "read");
  EXPECT_EQ(only(report, "/etc/passwd"), "read");
  EXPECT_EQ(only(report, "/dev/null"), "write");
  EXPECT_EQ(only(report, cache), "write");
  expect_each(report, {secret, "/etc/shadow", "/home", "/root", "/tmp"}, "closed");
  EXPECT_EQ(only(report, "name_thread"), "allowed");
}

TEST_F(Cage, GivesEachUserACacheOfItsOwn) {
  const auto mine = worker_cache(folder / "c", ::geteuid(), ::getegid());
  ASSERT_TRUE(mine) << mine.error().message;
  EXPECT_EQ(mine.value(), folder / "c" / std::to_string(::geteuid()));
  EXPECT_EQ(fs::status(mine.value()).permissions(), fs::perms::owner_all);
}

// Root would have given away the target of the link.
TEST_F(Cage, TakesNoCacheThatSomebodyElseHasPrepared) {
  fs::create_directory(folder / "precious");
  fs::create_directory(folder / "c");
  fs::create_directory_symlink(folder / "precious", folder / "c" / "1");
  EXPECT_FALSE(worker_cache(folder / "c", 1, 1));
  struct stat found {};
  ASSERT_EQ(::stat((folder / "precious").c_str(), &found), 0);
  EXPECT_EQ(found.st_uid, ::geteuid());
  if (::geteuid() != 0) return;
  fs::create_directory(folder / "c" / "2");
  ASSERT_EQ(::chown((folder / "c" / "2").c_str(), 3, 3), 0);
  EXPECT_FALSE(worker_cache(folder / "c", 2, 2)) << "it is user 3's";
  fs::permissions(folder / "c", fs::perms(01777));
  EXPECT_FALSE(worker_cache(folder / "c", 4, 4)) << "others can prepare it";
}

}  // namespace
}  // namespace fairgv::daemon::caged
