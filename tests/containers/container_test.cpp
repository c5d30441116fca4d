// Programs in containers are tenants like others: what they see, who they are for the daemon, and how they
// end.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/containers/container.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::containers {
namespace {

namespace fs = std::filesystem;
using integration::alive;
using integration::eventually;

/// How the kernel numbers the process from the outermost namespace that it is seen in to its own.
std::vector<int> numbers_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::vector<int> numbers;
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string key;
    if (!(words >> key) || key != "NSpid:") continue;
    for (int number = 0; words >> number;) numbers.push_back(number);
  }
  return numbers;
}

struct InAContainer : integration::System {
  void SetUp() override {
    if (const auto works = harness::run(box({"/bin/true"}).command(become())); !works || works->status != 0) {
      GTEST_SKIP()
          << "no container can be made here: bubblewrap (Debian package) and user namespaces are needed";
    }
    folder = fs::temp_directory_path() / ("fairgv-box-" + std::to_string(::getpid()));
    fs::create_directory(folder);
    ::chmod(folder.c_str(), 0755);
    config = folder / "fairgvd.toml";
    // Whose containers they are decides; nobody else can be this tenant.
    std::ofstream(config) << "[tenants]\nnames = \"own\"\n[tenant.\"boxed\"]\nweight = 3\nuid = "
                          << outer_user() << "\n";
    auto daemon = harness::Child::start(
        {{harness::beside("fairgvd"), "--config", config, "--socket", socket(), "--daemonize"}, {}});
    ASSERT_TRUE(daemon);
    // It ends when the daemon serves; ended before that, by us, it would take the daemon with it.
    ASSERT_EQ(daemon->wait(), 0);
    ASSERT_TRUE(fs::exists(socket()));
  }
  void TearDown() override {
    if (folder.empty()) return;
    (void)fairgv({"stop"});
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  static bool become() { return ::geteuid() == 0; }
  static uid_t outer_user() { return become() ? static_cast<uid_t>(std::stoul(kUser)) : ::geteuid(); }
  std::string socket() const { return folder / "fairgvd.sock"; }
  Container box(std::vector<std::string> program) const {
    return {folder.empty() ? "/tmp" : folder.string(), std::move(program), {{"FAIRGV_TENANT", "boxed"}}};
  }
  static std::vector<std::string> long_program() {
    return {workload("computeLoop"), "--seconds", "60", "--iterations", "200", "--progress-ms", "50"};
  }
  harness::Finished fairgv(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), harness::beside("fairgv"));
    arguments.insert(arguments.end(), {"--socket", socket()});
    return harness::run({std::move(arguments), {}}).value();
  }
  nlohmann::json boxed() {
    std::string text;
    for (const std::string& line : fairgv({"ps", "--json"}).lines) text += line;
    const auto report = nlohmann::json::parse(text, nullptr, false);
    for (const auto& each : report["tenants"]) {
      if (each["tenant"] == "boxed") return each;
    }
    return nullptr;
  }
  std::size_t sessions() {
    const auto found = boxed();
    return found.is_null() ? 0 : found["sessions"].size();
  }

  fs::path folder;
  std::string config;
};

TEST_F(InAContainer, AnOpenClProgramRunsWithSocketAndFrontEndOnly) {
  const auto finished = harness::run(
      box({workload("matrixMul"), "--repetitions", "3", "--verify", "always"}).command(become()));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 0) << "its results are right, so the segment is shared across the namespaces";
  const auto bare = harness::run([&] {
    auto without = box({workload("matrixMul"), "--repetitions", "3"});
    without.socket_folder = "/proc/self/fdinfo";  // a folder without a socket
    return without.command(become());
  }());
  ASSERT_TRUE(bare);
  EXPECT_NE(bare->status, 0) << "without the socket there is no device to be found in there";
}

TEST_F(InAContainer, AProgramIncludesHeadersThatOnlyTheContainerHas) {
  const auto finished =
      harness::run(box({harness::beside("opencl_api_test"), "--gtest_filter=Includes.*"}).command(become()));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 0) << integration::joined(finished.value());
}

TEST_F(InAContainer, AnyUserInsideTrustsTheDaemonThatWasMounted) {
  auto other = box({workload("matrixMul"), "--repetitions", "1"});
  other.user_inside = "7";  // in a namespace within the container's
  const auto finished = harness::run(other.command(become()));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 0);
}

TEST_F(InAContainer, ADaemonThatAnybodyMayReplaceIsTrustedOnlyIfTheContainersRootSaysSo) {
  ASSERT_EQ(::chmod(folder.c_str(), 01777), 0);  // as if the machine's /tmp were mounted there
  auto program = box({workload("matrixMul"), "--repetitions", "1"});
  auto command = program.command(become());
  command.arguments.insert(command.arguments.begin(), {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"});
  const auto refused = harness::run(command);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->status, 0);
  ASSERT_FALSE(refused->lines.empty());
  EXPECT_NE(refused->lines[0].find("/run/fairgv/fairgvd.sock belongs to somebody outside of this container"),
            std::string::npos)
      << refused->lines[0];
  EXPECT_NE(refused->lines[0].find("name user 65534 in /etc/fairgv/daemon-users"), std::string::npos);
  const std::string users = folder / "daemon-users";
  std::ofstream(users) << "65534  # whoever serves FairGV on the machine\n";
  program.files.emplace_back(users, "/etc/fairgv/daemon-users");
  const auto finished = harness::run(program.command(become()));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 0);
}

TEST_F(InAContainer, TheDaemonSeesTheUserAndProcessOutside) {
  auto program = harness::Child::start(box(long_program()).command(become()));
  ASSERT_TRUE(program);
  ASSERT_TRUE(progresses(program.value()));
  const auto tenant = boxed();
  ASSERT_FALSE(tenant.is_null());
  EXPECT_EQ(tenant["weight"], 3) << "it is the tenant that the configuration names";
  const auto session = tenant["sessions"][0];
  const pid_t pid = session["pid"];
  struct stat process {};
  ASSERT_EQ(::stat(("/proc/" + std::to_string(pid)).c_str(), &process), 0);
  EXPECT_EQ(process.st_uid, outer_user()) << "in there it is user 0";
  const auto numbers = numbers_of(pid);
  ASSERT_EQ(numbers.size(), 2u) << "it is in a PID namespace of its own";
  EXPECT_EQ(numbers[0], pid);
  EXPECT_NE(numbers[1], pid);
  struct stat worker {};
  const pid_t worker_pid = session["worker_pid"];
  ASSERT_EQ(::stat(("/proc/" + std::to_string(worker_pid)).c_str(), &worker), 0);
  if (become()) {
    std::ifstream status("/proc/" + std::to_string(worker_pid) + "/status");
    const std::string text((std::istreambuf_iterator<char>(status)), {});
    EXPECT_NE(text.find("Uid:\t12345\t12345"), std::string::npos) << "its worker is that user, too";
  }
}

TEST_F(InAContainer, ItsEndHoweverItComesEndsTheSession) {
  for (const bool whole_container : {false, true}) {
    auto program = harness::Child::start(box(long_program()).command(become()));
    ASSERT_TRUE(program);
    ASSERT_TRUE(progresses(program.value()));
    ASSERT_TRUE(eventually([&] { return sessions() == 1; }));
    const auto session = boxed()["sessions"][0];
    const pid_t worker = session["worker_pid"];
    EXPECT_EQ(::kill(whole_container ? program->pid() : session["pid"].get<pid_t>(), SIGKILL), 0);
    EXPECT_TRUE(eventually([&] { return sessions() == 0 && !alive(worker); }));
  }
}

TEST_F(InAContainer, ItGoesOnWhenTheDaemonIsReplaced) {
  auto program = harness::Child::start(box(long_program()).command(become()));
  ASSERT_TRUE(program);
  ASSERT_TRUE(progresses(program.value()));
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_TRUE(progresses(program.value()));
  EXPECT_EQ(sessions(), 1u);
}

TEST_F(InAContainer, ANameThatIsAnotherUsersIsRefusedThere) {
  std::ofstream(config) << "[tenants]\nnames = \"own\"\n[tenant.\"boxed\"]\nuid = 54321\n";
  auto again = harness::run({{harness::beside("fairgv"), "restart", "--socket", socket()}, {}});
  ASSERT_TRUE(again);
  if (!become()) GTEST_SKIP() << "nothing is refused to the daemon's own user";
  const auto finished = harness::run(box({workload("matrixMul"), "--repetitions", "1"}).command(become()));
  ASSERT_TRUE(finished);
  EXPECT_NE(finished->status, 0);
}

}  // namespace
}  // namespace fairgv::containers
