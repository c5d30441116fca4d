// A kernel leaves a process behind that tries to outlive everything: the process ends with its session,
// whatever means the daemon has to ensure that, and so does the session's memory.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherUser = "65534";

/// The daemon's log message where nothing holds a worker's processes together.
constexpr const char* kLookedFor = "processes that a worker starts are looked for when it ends";

using File = std::pair<dev_t, ino_t>;

std::optional<File> file_at(const fs::path& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  return File(file.st_dev, file.st_ino);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;  // processes end while they are looked at
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    entries.push_back(at->path());
  }
  return entries;
}

/// The processes that run this build's worker program, not only a daemon's own children.
std::vector<fs::path> worker_processes() {
  const auto program = file_at(harness::beside("fairgv-vgpu"));
  std::vector<fs::path> found;
  for (const fs::path& process : entries_of("/proc")) {
    if (file_at(process / "exe") == program) found.push_back(process);
  }
  return found;
}

std::set<File> memory_files_of(const std::vector<fs::path>& processes) {
  std::set<File> files;
  for (const fs::path& process : processes) {
    for (const fs::path& fd : entries_of(process / "fd")) {
      std::error_code error;
      if (!fs::read_symlink(fd, error).string().starts_with("/memfd:")) continue;
      if (const auto file = file_at(fd)) files.insert(*file);
    }
  }
  return files;
}

bool any_is_left(const std::set<File>& files) {
  const std::set<File> now = memory_files_of(entries_of("/proc"));
  return std::any_of(files.begin(), files.end(), [&](const File& file) { return now.contains(file); });
}

/// A daemon with limited rights, and the programs of its user. `prefix` takes rights away.
struct ProcessLeftBehind : ::testing::Test {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can take each of its rights away";
    ASSERT_TRUE(eventually([] { return worker_processes().empty(); })) << "another test's workers are there";
  }

  void be(std::vector<std::string> prefix, const std::string& user = "0") {
    prefix_ = std::move(prefix);
    const auto owner = static_cast<uid_t>(std::stoul(user));
    ASSERT_EQ(::chown(folder_.path().c_str(), owner, owner), 0);
    folder_.write("fairgvd.toml", "");
    const auto works = harness::run(command({harness::beside("fairgv"), "--version"}));
    if (!works || works->status != 0) GTEST_SKIP() << "the programs lie where this user cannot run them";
  }

  harness::CommandLine command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), prefix_.begin(), prefix_.end());
    return {std::move(arguments),
            {{"OCL_ICD_VENDORS", std::nullopt},
             {"TSAN_OPTIONS", std::nullopt},
             {"XDG_CACHE_HOME", (folder_ / "cache").string()}}};
  }

  harness::Finished fairgv(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), harness::beside("fairgv"));
    arguments.insert(arguments.end(), {"--socket", socket()});
    return std::move(harness::run(command(std::move(arguments)))).value();
  }

  std::string socket() const { return folder_ / "fairgvd.sock"; }

  void start_program() {
    auto started = harness::Child::start(
        command({harness::beside("fairgv"), "run", "--socket", socket(), "--config", folder_ / "fairgvd.toml",
                 "--tenant", "alice", "--", harness::beside("opencl_breakout"), "daemonize"}));
    ASSERT_TRUE(started);
    program_.emplace(std::move(started).value());
    ASSERT_TRUE(System::progresses(*program_));
    ASSERT_EQ(worker_processes().size(), 2u) << "the kernel has left no process behind";
    memory_ = memory_files_of(worker_processes());
    ASSERT_FALSE(memory_.empty());
  }

  bool log_has(const std::string& words) const {
    std::ifstream file(folder_ / "fairgvd.log");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str().find(words) != std::string::npos;
  }

  void end_program() {
    program_.reset();
    EXPECT_TRUE(eventually([] { return worker_processes().empty(); }));
    EXPECT_TRUE(eventually([&] { return !any_is_left(memory_); }));
  }

  void TearDown() override {
    if (::geteuid() == 0 && fs::exists(socket())) (void)fairgv({"stop"});
  }

  harness::TemporaryFolder folder_;
  std::vector<std::string> prefix_;
  std::optional<harness::Child> program_;
  std::set<File> memory_;
};

using WorkerAbort = ProcessLeftBehind;

TEST_F(ProcessLeftBehind, EndsWithItsSession) {
  be({"env"});
  start_program();
  end_program();
}

TEST_F(ProcessLeftBehind, EndsWhereTheDaemonMayNotMount) {
  be({"setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-all", "--"});
  start_program();
  if (log_has(kLookedFor)) GTEST_SKIP() << "this machine's control groups are not for us";
  end_program();
}

TEST_F(ProcessLeftBehind, EndsWhereTheDaemonMayMakeNoControlGroupsEither) {
  be({"unshare", "--mount", "sh", "-c",
      "for each in $(awk '$3 == \"cgroup2\" { print $2 }' /proc/self/mounts); do umount \"$each\"; done; "
      "exec setpriv --bounding-set -sys_admin --inh-caps -all -- \"$@\"",
      "sh"});
  start_program();
  EXPECT_TRUE(log_has(kLookedFor));
  end_program();
}

TEST_F(ProcessLeftBehind, EndsWithTheSessionOfAUsersOwnDaemon) {
  be({"setpriv", "--reuid", kOtherUser, "--regid", kOtherUser, "--clear-groups", "--"}, kOtherUser);
  start_program();
  end_program();
}

TEST_F(ProcessLeftBehind, IsKnownToADaemonAfterTheOneThatBeganTheSession) {
  be({"setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-all", "--"});
  start_program();
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_EQ(worker_processes().size(), 2u);
  end_program();
}

/// Process number 1 ignores the signal unless it has a handler, and PoCL's compiler installs a handler of its
/// own.
TEST_F(WorkerAbort, IsReportedAsAnAbort) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP()
      << "ThreadSanitizer holds signals back until the thread calls the C library, which a kernel never does";
#endif
  be({"env"});
  const auto program = harness::Child::start(
      command({harness::beside("fairgv"), "run", "--socket", socket(), "--config", folder_ / "fairgvd.toml",
               "--tenant", "alice", "--", harness::beside("opencl_breakout"), "abort"}));
  ASSERT_TRUE(program);
  EXPECT_TRUE(eventually([&] { return log_has("ends: its worker was killed by signal 6 (Aborted)"); }));
}

TEST_F(ProcessLeftBehind, EndsWithTheDaemon) {
  be({"setpriv", "--reuid", kOtherUser, "--regid", kOtherUser, "--clear-groups", "--"}, kOtherUser);
  start_program();
  EXPECT_EQ(fairgv({"stop"}).status, 0);
  EXPECT_TRUE(eventually([] { return worker_processes().empty(); }));
}

}  // namespace
}  // namespace fairgv::integration
