// What code in a worker's place can do to the machine. A probe is started as a worker is, and tries.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "runtime/base/socket.hpp"
#include "runtime/daemon/cage/landlock.hpp"
#include "runtime/daemon/worker/process.hpp"
#include "runtime/session/protocol.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

const User kNobody{65'534, 65'534, "nobody", "/nonexistent", {65'534}};

/// What the probe said: its lines by their first word.
using Report = std::multimap<std::string, std::string>;

std::string only(const Report& report, const std::string& key) {
  const auto [first, last] = report.equal_range(key);
  return std::distance(first, last) == 1 ? first->second
                                         : "(" + std::to_string(std::distance(first, last)) + ")";
}

void expect_each(const Report& report, const std::vector<std::string>& paths, const std::string& access) {
  for (const std::string& path : paths) EXPECT_EQ(only(report, path), access) << path;
}

/// A program of the user's in a folder, which is what a session is for.
class Program {
 public:
  explicit Program(const fs::path& folder, uid_t uid = ::geteuid()) : pid_(::fork()) {
    if (pid_ == 0) {
      if (::chdir(folder.c_str()) != 0 || ::setuid(uid) != 0) ::_exit(1);
      ::execl("/bin/sleep", "sleep", "1000", nullptr);
      ::_exit(1);
    }
    // Until it is there.
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

struct Cage : ::testing::Test {
  Cage() {
    rule.cache = folder / "caches";
    fs::create_directory(folder / "vendors");
    fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    const std::string probe = fs::read_symlink("/proc/self/exe").parent_path() / "daemon_cage_probe";
    command.program = probe;
    command.vendors = folder / "vendors";
  }

  WorkerPlace place() const { return {command.program, command.vendors, drivers, command.run_as}; }

  void plan() {
    auto planned = plan_cage(rule, "/etc/OpenCL/vendors", place());
    ASSERT_TRUE(planned) << planned.error().message;
    command.cage = std::move(planned).value();
  }

  /// Starts the probe in the cage and lets it try these paths.
  Report probe(const std::vector<std::string>& paths = {}) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    command.arguments = paths;
    command.output = writer.get();
    auto worker = WorkerProcess::spawn(command);
    EXPECT_TRUE(worker);
    writer.reset();
    std::string text;
    char part[4096];
    for (ssize_t length; (length = ::read(reader.get(), part, sizeof(part))) > 0;) {
      text.append(part, static_cast<std::size_t>(length));
    }
    EXPECT_EQ(worker->reap(), "ended with status 0");
    Report report;
    std::istringstream lines(text);
    for (std::string key, value; lines >> key >> value;) report.emplace(key, value);
    return report;
  }

  harness::TemporaryFolder folder;
  WorkerRule rule;
  WorkerCommand command;
  std::vector<std::string> drivers;
};

struct RootsCage : Cage {
  void SetUp() override {
    if (view_means() != ViewMeans::mounts) GTEST_SKIP() << "needs root, who may mount";
  }
};

struct Call {
  const char* name;
  const char* end;
};

TEST_F(Cage, RefusesEveryCallOfTheTableAndNoOther) {
  plan();
  const Report report = probe();
  constexpr Call kExpected[] = {
      {"ptrace", "EPERM"},
      {"process_vm_readv", "EPERM"},
      {"process_vm_writev", "EPERM"},
      {"pidfd_getfd", "EPERM"},
      {"pidfd_send_signal", "EPERM"},
      {"signal_daemon", "EPERM"},
      {"signal_all", "EPERM"},
      {"limit_daemon", "EPERM"},
      {"setsid", "EPERM"},
      {"setpgid", "EPERM"},
      {"kexec_load", "EPERM"},
      {"init_module", "EPERM"},
      {"finit_module", "EPERM"},
      {"delete_module", "EPERM"},
      {"bpf", "EPERM"},
      {"perf_event_open", "EPERM"},
      {"userfaultfd", "EPERM"},
      {"reboot", "EPERM"},
      {"swapon", "EPERM"},
      {"acct", "EPERM"},
      {"settimeofday", "EPERM"},
      {"adjtimex", "EPERM"},
      {"mount", "EPERM"},
      {"umount", "EPERM"},
      {"pivot_root", "EPERM"},
      {"chroot", "EPERM"},
      {"open_tree", "EPERM"},
      {"move_mount", "EPERM"},
      {"fsopen", "EPERM"},
      {"mount_setattr", "EPERM"},
      {"open_by_handle_at", "EPERM"},
      {"setns", "EPERM"},
      {"unshare", "EPERM"},
      {"unshare_mounts", "EPERM"},
      {"clone_newuser", "EPERM"},
      {"clone3", "ENOSYS"},
      {"newer_call", "ENOSYS"},
      {"add_key", "EPERM"},
      {"request_key", "EPERM"},
      {"keyctl", "EPERM"},
      {"io_uring_setup", "EPERM"},
      {"io_uring_enter", "EPERM"},
      {"io_uring_register", "EPERM"},
      {"personality", "EPERM"},
      {"socket_inet", "EAFNOSUPPORT"},
      {"socket_netlink", "EAFNOSUPPORT"},
      {"socket_packet", "EAFNOSUPPORT"},
      {"setuid_root", "EPERM"},
      {"own_by_fcntl", "EPERM"},
      {"own_by_fcntl_ex", "EPERM"},
      {"choose_signal", "EPERM"},
      {"lease", "EPERM"},
      {"notify", "EPERM"},
      {"own_by_ioctl", "EPERM"},
      {"own_group_by_ioctl", "EPERM"},
      {"type_for_terminal", "EPERM"},
      {"paste_for_terminal", "EPERM"},
      {"outlive_parent", "EPERM"},
      {"give_up_orphans", "EPERM"},
      {"file_flags", "allowed"},
      {"waiting_bytes", "allowed"},
      {"name_itself", "allowed"},
      {"socket_unix", "allowed"},
      {"ask_personality", "allowed"},
      {"signal_itself", "allowed"},
      {"thread", "allowed"},
      {"name_thread", "allowed"},
      {"program", "allowed"},
      {"move_file", "allowed"},
  };
  for (const Call& call : kExpected) EXPECT_EQ(only(report, call.name), call.end) << call.name;
}

TEST_F(Cage, WithoutTheFilterStillHasNoCapabilities) {
  rule.syscall_filter = false;
  plan();
  const Report report = probe();
  EXPECT_EQ(only(report, "Seccomp:"), "0");
  for (const char* call : {"mount", "chroot", "reboot", "swapon"}) {
    EXPECT_EQ(only(report, call), "EPERM") << call;
  }
}

TEST_F(Cage, LeavesNoCapabilityAndNoWayToOne) {
  plan();
  const Report report = probe();
  const std::string none(16, '0');
  for (const char* set : {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"})
    EXPECT_EQ(only(report, set), none) << set;
  if (::geteuid() == 0) {
    EXPECT_EQ(only(report, "CapBnd:"), none);
  }
  EXPECT_EQ(only(report, "NoNewPrivs:"), "1");
  EXPECT_EQ(only(report, "Seccomp:"), "2");
}

TEST_F(Cage, LetsInOnlyTheDescriptorsThatAreNamed) {
  plan();
  const UniqueFd leaked(::fcntl(STDERR_FILENO, F_DUPFD, 50));
  const UniqueFd kept(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 60));
  command.inherited = {kept.get()};
  const Report report = probe();
  std::set<std::string> open;
  for (auto [at, last] = report.equal_range("fd"); at != last; ++at) open.insert(at->second);
  EXPECT_EQ(open, (std::set<std::string>{"0", "1", "2", std::to_string(kept.get())}));
}

TEST_F(Cage, LimitsWhatItIsTold) {
  rule.memory = std::uint64_t{1} << 50;  // a sanitizer's shadow takes terabytes, and this runs under each
  plan();
  const Report report = probe();
  EXPECT_EQ(only(report, "limit_core"), "0");
  EXPECT_LE(std::stoll(only(report, "limit_files")), 4'096);
  EXPECT_EQ(only(report, "limit_data"), std::to_string(std::uint64_t{1} << 50));
  EXPECT_EQ(only(report, "folder"), "/");
}

TEST_F(Cage, LimitsNothingThatItIsNotTold) {
  rule.core_dumps = true;
  plan();
  const Report report = probe();
  rlimit core{};
  rlimit data{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &core) | ::getrlimit(RLIMIT_DATA, &data), 0);
  EXPECT_EQ(only(report, "limit_core"), std::to_string(static_cast<long long>(core.rlim_max)));
  EXPECT_EQ(only(report, "limit_data"), std::to_string(static_cast<long long>(data.rlim_max)));
}

TEST_F(Cage, ThatCannotBeMadeEndsTheWorkerWithOneLineForItsProgram) {
  auto ends = std::move(Socket::pair()).value();
  command.channel = ends.second.fd();
  command.inherited = {ends.second.fd()};
  plan();
  command.cage.means = view_means();
  command.cage.view.push_back({Place::Kind::read_only, "/no/\"such\"/folder", {}, true});
  auto worker = WorkerProcess::spawn(command);
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->reap(), "ended with status 127");
  const auto said = session::parse_worker_message(ends.first.receive()->text);
  ASSERT_TRUE(said) << said.error().message;
  const auto* const failed = std::get_if<session::WorkerFailed>(&said.value());
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->reason, "a worker cannot be shown /no/?such?/folder: No such file or directory");
}

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

TEST_F(RootsCage, TakesInAnotherUser) {
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
  // With process numbers of its own it does not even see them.
  EXPECT_EQ(only(report, process + "/stat"), command.cage.own_processes ? "closed" : "read");
  expect_each(report, {process + "/root/etc/hostname", process + "/cwd", process + "/environ"}, "closed");
}

TEST_F(RootsCage, ShowsOfADriversOwnFolderTheDriverAndItsData) {
  const harness::TemporaryFolder environment;
  for (const char* part : {"lib", "share/pocl", "share/keys"}) fs::create_directories(environment / part);
  drivers = {environment / "lib/libpocl.so"};
  plan();
  const Report report = probe({environment / "lib", environment / "share/pocl", environment / "share/keys"});
  expect_each(report, {environment / "lib", environment / "share/pocl"}, "read");
  EXPECT_EQ(only(report, environment / "share/keys"), "closed");
}

TEST_F(RootsCage, ShowsWhatTheConfigurationNames) {
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

TEST_F(Cage, ByLandlockClosesAllButItsView) {
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

TEST_F(Cage, GivesCachesOfTheirOwnToUsers) {
  const auto mine = worker_cache(folder / "c", ::geteuid(), ::getegid());
  ASSERT_TRUE(mine) << mine.error().message;
  EXPECT_EQ(mine.value(), folder / "c" / std::to_string(::geteuid()));
  EXPECT_EQ(fs::status(mine.value()).permissions(), fs::perms::owner_all);
}

// Root would have given away what the link leads to.
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
}  // namespace fairgv::daemon
