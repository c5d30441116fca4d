// fairgvd and its service manager, which is played here: no systemd has to run.
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/harness/child.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/harness/tenancy.hpp"
#include "tests/packaging/notify_socket.hpp"

namespace fairgv::packaging {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// The thread of a process that has this name.
pid_t thread_named(pid_t process, const std::string& name) {
  std::error_code ignored;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", ignored)) {
    if (first_line(task.path() / "comm") == name) return std::stoi(task.path().filename());
  }
  return -1;
}

struct Service : ::testing::Test {
  void SetUp() override {
    manager.emplace(folder / "notify");
    ASSERT_TRUE(manager->ok());
  }

  std::string socket() const { return folder / "fairgvd.sock"; }

  harness::CommandLine daemon(std::vector<std::string> arguments, harness::Environment more = {}) const {
    arguments.insert(arguments.begin(), harness::beside("fairgvd"));
    more.emplace_back("NOTIFY_SOCKET", manager->path());
    more.emplace_back("FAIRGV_SOCKET", std::nullopt);
    return {std::move(arguments), std::move(more)};
  }
  harness::Child start(const harness::CommandLine& command) {
    auto child = harness::Child::start(command);
    EXPECT_TRUE(child);
    return std::move(child).value();
  }
  harness::Finished fairgv(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), harness::beside("fairgv"));
    auto finished = harness::run({std::move(arguments), {{"FAIRGV_SOCKET", socket()}}});
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  }

  harness::TemporaryFolder folder;
  std::optional<NotifySocket> manager;
};

TEST_F(Service, IsReadyOnceItServesAndSaysThatItStops) {
  auto child = start(daemon({"--socket", socket()}));
  const auto ready = manager->wait_for("READY=1");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->sender, child.pid());
  EXPECT_TRUE(ready->says("STATUS=serves " + socket()));
  EXPECT_EQ(fairgv({"ps", "--json"}).status, 0) << "it has said that it serves";
  ::kill(child.pid(), SIGTERM);
  EXPECT_TRUE(manager->wait_for("STOPPING=1"));
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(Service, AReloadIsToldFromItsBeginningToItsEndAlsoWhenItFails) {
  const std::string config = folder / "fairgvd.toml";
  std::ofstream(config) << "[device]\nslice_ms = 5\n";
  auto child = start(daemon({"--socket", socket(), "--config", config}));
  ASSERT_TRUE(manager->wait_for("READY=1"));
  for (const char* text : {"[device]\nslice_ms = 7\n", "[device]\nslice_ms = \"seven\"\n"}) {
    std::ofstream(config) << text;
    ::kill(child.pid(), SIGHUP);
    const auto begins = manager->wait_for("RELOADING=1");
    ASSERT_TRUE(begins);
    EXPECT_NE(begins->text.find("MONOTONIC_USEC="), std::string::npos);
    EXPECT_TRUE(manager->wait_for("READY=1"));
  }
}

TEST_F(Service, ASuccessorSaysByItselfThatItIsReady) {
  auto child = start(daemon({"--socket", socket()}));
  ASSERT_TRUE(manager->wait_for("READY=1"));
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  ASSERT_TRUE(manager->wait_for("RELOADING=1"));
  const auto ready = manager->wait_for("READY=1");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->sender, child.pid()) << "the process stays the same";
  EXPECT_TRUE(ready->says("STATUS=serves " + socket())) << "it is the new program's word";
}

TEST_F(Service, TheWatchdogIsPingedOnlyWhileTheDispatcherTurns) {
  constexpr auto kLimit = 400ms;
  auto child =
      start(daemon({"--socket", socket()}, {{"WATCHDOG_USEC", "400000"}, {"WATCHDOG_PID", std::nullopt}}));
  ASSERT_TRUE(manager->wait_for("WATCHDOG=1")) << "an idle daemon lives";
  const pid_t dispatcher = thread_named(child.pid(), "dispatcher");
  ASSERT_GT(dispatcher, 0);
  if (::ptrace(PTRACE_SEIZE, dispatcher, nullptr, nullptr) != 0) {
    GTEST_SKIP() << "this system lets nobody trace a thread: " << std::strerror(errno);
  }
  ASSERT_EQ(::ptrace(PTRACE_INTERRUPT, dispatcher, nullptr, nullptr), 0);
  ASSERT_EQ(::waitpid(dispatcher, nullptr, __WALL), dispatcher);
  // Only the dispatcher stands still: the server's thread goes on looking. A last turn may have been seen
  // already, and one more not yet.
  int pings = 0;
  const auto end = std::chrono::steady_clock::now() + 4 * kLimit;
  while (std::chrono::steady_clock::now() < end) {
    if (const auto news = manager->next(50ms); news && news->says("WATCHDOG=1")) ++pings;
  }
  EXPECT_LE(pings, 3);
  ASSERT_EQ(::ptrace(PTRACE_DETACH, dispatcher, nullptr, nullptr), 0);
  EXPECT_TRUE(manager->wait_for("WATCHDOG=1")) << "it turns again";
}

TEST_F(Service, WithoutAWatchdogNothingIsPinged) {
  auto child = start(daemon({"--socket", socket()}));
  ASSERT_TRUE(manager->wait_for("READY=1"));
  ::kill(child.pid(), SIGTERM);
  while (const auto news = manager->next(10s)) {
    EXPECT_FALSE(news->says("WATCHDOG=1"));
    if (news->says("STOPPING=1")) break;
  }
}

/// What the unit says behind `key=`.
std::string unit_setting(const std::string& key) {
  std::ifstream unit(FAIRGV_UNIT);
  for (std::string line; std::getline(unit, line);) {
    if (line.starts_with(key + "=")) return line.substr(key.size() + 1);
  }
  return {};
}

TEST_F(Service, TheRightsThatTheUnitLeavesAreEnoughForProgramsOfOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root's daemon serves other users";
  std::istringstream rights(unit_setting("CapabilityBoundingSet"));
  std::string bounds = "-all";
  for (std::string each; rights >> each;) {
    std::transform(each.begin(), each.end(), each.begin(), [](unsigned char c) { return std::tolower(c); });
    bounds += ",+" + each.substr(std::string("cap_").size());
  }
  ASSERT_NE(bounds, "-all");
  ASSERT_EQ(unit_setting("NoNewPrivileges"), "yes");
  ::chmod(folder.path().c_str(), 0755);
  harness::CommandLine command = daemon({"--socket", socket()});
  command.arguments.insert(command.arguments.begin(),
                           {"setpriv", "--bounding-set=" + bounds, "--no-new-privs"});
  auto child = start(command);
  ASSERT_TRUE(manager->wait_for("READY=1"));
  for (const char* user : {"12345", "0"}) {
    const auto program =
        harness::run({{"setpriv", "--reuid", user, "--regid", user, "--clear-groups",
                       harness::beside("fairgv"), "run", "--socket", socket(), "--",
                       harness::beside("workloads/matrixMul"), "--repetitions", "3", "--verify", "always"},
                      {}});
    ASSERT_TRUE(program);
    EXPECT_EQ(program->status, 0) << "user " << user;
  }
  ::kill(child.pid(), SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

/// systemd-socket-activate listens as a socket unit does, and starts the daemon when somebody connects.
struct Activation : Service {
  void SetUp() override {
    Service::SetUp();
    if (harness::run({{"systemd-socket-activate", "--version"}, {}})->status != 0) {
      GTEST_SKIP() << "there is no systemd-socket-activate (Debian package systemd)";
    }
  }
  harness::Child activate(std::vector<std::string> arguments = {}, const std::string& kind = "--seqpacket") {
    // It hands its own environment on only by name.
    harness::CommandLine command{
        {"systemd-socket-activate", kind, "--listen=" + socket(), "--setenv=NOTIFY_SOCKET=" + manager->path(),
         "/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1", harness::beside("fairgvd")},
        {{"FAIRGV_SOCKET", std::nullopt}}};
    for (std::string& each : arguments) command.arguments.push_back(std::move(each));
    harness::Child child = start(command);
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    while (!fs::exists(socket()) && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(5ms);
    return child;
  }
  /// A connection, whatever becomes of it.
  void knock() { (void)fairgv({"ps"}); }
  void expect_refusal(harness::Child child, const std::string& why) {
    const auto finished = harness::finish(std::move(child));
    EXPECT_EQ(finished.status, 1);
    ASSERT_EQ(finished.lines.size(), 1u);
    EXPECT_NE(finished.lines[0].find(why), std::string::npos) << finished.lines[0];
  }
};

TEST_F(Activation, AConnectionStartsTheDaemonAndIsServed) {
  auto child = activate();
  const auto program = fairgv({"run", "--tenant", "alice", "--", harness::beside("workloads/matrixMul"),
                               "--repetitions", "3", "--verify", "always"});
  EXPECT_EQ(program.status, 0);
  EXPECT_TRUE(manager->wait_for("READY=1"));
  EXPECT_EQ(fairgv({"restart"}).status, 0) << "the socket is handed on";
  EXPECT_EQ(fairgv({"ps", "--json"}).status, 0);
  EXPECT_EQ(fairgv({"stop"}).status, 0);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(fs::is_socket(socket())) << "it belongs to the service manager";
}

TEST_F(Activation, ASocketThatContradictsTheConfigurationIsRefused) {
  auto child = activate({"--socket", "/nowhere/else.sock"});
  knock();
  expect_refusal(std::move(child), "and not at /nowhere/else.sock: change ListenSequentialPacket=");
}

TEST_F(Activation, ASocketOfAnotherKindIsRefused) {
  auto child = activate({}, "--datagram");
  const UniqueFd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(socket());
  ASSERT_EQ(::sendto(sender.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            1);
  expect_refusal(std::move(child), "must have one ListenSequentialPacket=");
}

TEST_F(Activation, ASocketThatIsOpenToMoreThanTheGroupOfTheConfigurationIsRefused) {
  const std::string config = folder / "fairgvd.toml";
  std::ofstream(config) << "[daemon]\ngroup = \"daemon\"\n";
  ::umask(0);
  auto child = activate({"--config", config});
  ::umask(022);
  knock();
  expect_refusal(std::move(child), "set SocketGroup= to it and SocketMode=0660");
}

}  // namespace
}  // namespace fairgv::packaging
