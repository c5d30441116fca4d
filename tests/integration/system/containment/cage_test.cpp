// Root's daemon serves another user: the worker runs as that user, in its cage, and the program notices
// nothing.
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUser = "65534";

struct CagedSystem : System {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root serves other users";
    System::SetUp();
    fs::permissions(fs::path(tenancy->socket()).parent_path(), fs::perms(0755));
    const auto reachable = harness::run(as_user({{"test", "-x", harness::beside("fairgv")}, {}}));
    if (!reachable || reachable->status != 0)
      GTEST_SKIP() << "the programs lie where other users cannot run them";
  }

  static harness::CommandLine as_user(harness::CommandLine command) {
    command.arguments.insert(command.arguments.begin(),
                             {"setpriv", "--reuid", kUser, "--regid", kUser, "--clear-groups", "--"});
    return command;
  }

  /// The lines of /proc/PID/status by their first word.
  static std::map<std::string, std::string> status_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/status");
    std::map<std::string, std::string> status;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string key;
      words >> key;
      words >> status[key];
    }
    return status;
  }
};

TEST_F(CagedSystem, ServesAnotherUserRightly) {
  const auto result = harness::run_measured(
      as_user(tenancy->tenant("theirs", 1, {workload("matrixMul"), "--repetitions", "3"})));
  ASSERT_TRUE(result) << result.error().message;
}

/// The program's own process reads its include files: here from folders that only its user may enter, and
/// that the worker does not see.
const std::vector<std::string> kIncludes{harness::beside("opencl_api_test"), "--gtest_filter=Includes.*"};

TEST_F(CagedSystem, BuildsWithHeadersThatOnlyTheirUserMayRead) {
  const auto finished = harness::run(as_user(tenancy->tenant("theirs", 1, kIncludes)));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 0) << joined(finished.value());
}

TEST_F(CagedSystem, OfAUsersOwnBuildsWithHeadersThatItsWorkersMayNotOpen) {
  const harness::TemporaryFolder folder;
  const auto uid = static_cast<uid_t>(std::stoul(kUser));
  ASSERT_EQ(::chown(folder.path().c_str(), uid, uid), 0);
  const std::string socket = folder / "fairgvd.sock";
  const auto command = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), harness::beside("fairgv"));
    arguments.insert(arguments.begin() + 2, {"--socket", socket});
    return as_user({std::move(arguments),
                    {{"OCL_ICD_VENDORS", std::nullopt}, {"XDG_CACHE_HOME", (folder / "cache").string()}}});
  };
  std::vector<std::string> run{"run", "--"};
  run.insert(run.end(), kIncludes.begin(), kIncludes.end());
  const auto finished = harness::run(command(run));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 0) << joined(finished.value());
  if (fs::exists(socket)) (void)harness::run(command({"stop"}));
  // The files that a worker laid out for its driver are gone with the worker.
  for (const auto& entry : fs::recursive_directory_iterator(folder / "cache")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("fairgv-build-")) << entry.path();
  }
}

TEST_F(CagedSystem, RunsTheWorkerAsThatUserAndLetsItReachNothing) {
  const harness::TemporaryFolder working;
  fs::permissions(working.path(), fs::perms(0755));
  const fs::path before = fs::current_path();
  fs::current_path(working.path());
  auto program = harness::Child::start(as_user(tenancy->tenant(
      "theirs", 1,
      {workload("computeLoop"), "--seconds", "60", "--iterations", "200", "--progress-ms", "50"})));
  fs::current_path(before);
  ASSERT_TRUE(program);
  ASSERT_TRUE(progresses(program.value()));
  const pid_t worker = tenant("theirs")["sessions"][0]["worker_pid"];
  const auto status = status_of(worker);
  EXPECT_EQ(status.at("Uid:"), kUser);
  EXPECT_EQ(status.at("CapBnd:"), std::string(16, '0'));
  EXPECT_EQ(status.at("NoNewPrivs:"), "1");
  EXPECT_EQ(status.at("Seccomp:"), "2");
  const fs::path root = "/proc/" + std::to_string(worker) + "/root";
  EXPECT_TRUE(fs::exists(root / "usr"));
  for (const char* hidden : {"home", "root", "etc/shadow", "var/log", "dev/tty"}) {
    EXPECT_FALSE(fs::exists(root / hidden)) << hidden;
  }
  EXPECT_FALSE(fs::exists(root / tenancy->socket().substr(1)));
  EXPECT_FALSE(fs::exists(root / working.path().relative_path())) << "its program's working folder";
}

TEST_F(CagedSystem, ATenantCannotTakeAnothersNameNorSetItsWeight) {
  auto mine = start_long_program("mine");
  ASSERT_TRUE(progresses(mine));
  const auto joined =
      harness::run(as_user(tenancy->tenant("mine", 1, {workload("matrixMul"), "--repetitions", "1"})));
  ASSERT_TRUE(joined);
  EXPECT_NE(joined->status, 0);
  const auto set = harness::run(
      as_user({{harness::beside("fairgv"), "set", "mine", "weight=9", "--socket", tenancy->socket()}, {}}));
  ASSERT_TRUE(set);
  EXPECT_NE(set->status, 0);
  EXPECT_EQ(tenant("mine")["weight"], 1);
  const auto stopped =
      harness::run(as_user({{harness::beside("fairgv"), "stop", "--socket", tenancy->socket()}, {}}));
  ASSERT_TRUE(stopped);
  EXPECT_NE(stopped->status, 0);
  EXPECT_TRUE(progresses(mine));
}

}  // namespace
}  // namespace fairgv::integration
