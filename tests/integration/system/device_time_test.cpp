// Device time is enforced: programs that end in the midst of a command, and programs whose kernels play their
// worker's part themselves (tests/hostile/rogue.cpp), pay for the time that they keep from others, and freeze
// nobody.
#include <csignal>
#include <filesystem>
#include <regex>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct DeviceTime : System {
  /// The tenant's charges for the device, and for its use outside of turns, in seconds.
  double charged(const std::string& name) { return use(name, "device_time_ns"); }
  double outside(const std::string& name) { return use(name, "outside_ns"); }

  harness::Child start_rogue(const std::string& deed, unsigned milliseconds = 300) {
    harness::CommandLine command = tenancy->tenant(
        "rogue", 1, {harness::beside("rogue"), deed, "--milliseconds", std::to_string(milliseconds)});
    command.environment.emplace_back("FAIRGV_LOG", "off");
    auto child = harness::Child::start(command);
    EXPECT_TRUE(child);
    return std::move(child).value();
  }

  /// The states of all sessions, as `fairgv ps` shows them.
  std::string states() {
    std::string text;
    for (const std::string& line : fairgv({"ps", "--format", "state"}).lines) text += line + '\n';
    return text;
  }

  bool is_logged(const std::string& expression) const {
    std::ifstream log(std::filesystem::path(tenancy->socket()).replace_extension("log"));
    for (std::string line; std::getline(log, line);) {
      if (std::regex_search(line, std::regex(expression))) return true;
    }
    return false;
  }

 private:
  double use(const std::string& name, const char* what) {
    const auto found = tenant(name);
    if (found.is_null() || found["use"].empty()) return 0;
    return found["use"][0][what].get<double>() / 1e9;
  }
};

// A loop of programs that each start a long kernel and are killed.
TEST_F(DeviceTime, AProgramThatIsKilledInTheMidstOfItsKernelsPaysForThem) {
  auto victim = start_long_program("victim");
  ASSERT_TRUE(progresses(victim));
  double held = 0;  // seconds for which a kernel was seen to run
  for (int round = 0; round < 4; ++round) {
    auto loop = start_rogue("hold", 9'000);
    const auto is_busy = [&] {
      const auto found = tenant("rogue");
      return !found.is_null() && found["sessions"].size() == 1 && found["sessions"][0]["state"] == "busy";
    };
    ASSERT_TRUE(eventually(is_busy));
    const auto began = std::chrono::steady_clock::now();
    // The kernel lasts for 9 s: every look finds it in its midst.
    ASSERT_TRUE(
        eventually([&] { return std::chrono::steady_clock::now() - began > std::chrono::seconds(1); }));
    ASSERT_TRUE(is_busy());
    held += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    ::kill(loop.pid(), SIGKILL);
    ASSERT_TRUE(eventually([&] { return sessions_of("rogue") == 0; }));
    ASSERT_TRUE(progresses(victim));
  }
  // A tenant without sessions is shown while it has a share; the daemon keeps its books in any case.
  auto again = start_long_program("rogue");
  ASSERT_TRUE(progresses(again));
  EXPECT_GE(charged("rogue"), 0.9 * held);
}

TEST_F(DeviceTime, AKernelThatTakesTurnsByItselfAndReportsNothingPaysForThem) {
  auto victim = start_long_program("victim");
  ASSERT_TRUE(progresses(victim));
  for (const char* const deed : {"forge", "sleep"}) {
    SCOPED_TRACE(deed);
    auto rogue = start_rogue(deed);
    const auto rounds_of_both = [&] { return charged("victim") + charged("rogue"); };
    ASSERT_TRUE(eventually([&] { return sessions_of("rogue") == 1; }));
    const double rogue_before = charged("rogue"), both_before = rounds_of_both();
    ASSERT_TRUE(eventually([&] { return rounds_of_both() > both_before + 4; }));
    EXPECT_GE(charged("rogue") - rogue_before, 0.35 * (rounds_of_both() - both_before))
        << "equal weights, and equal charges but for what is excused until the next look at the processors";
    ::kill(rogue.pid(), SIGKILL);
    ASSERT_TRUE(eventually([&] { return sessions_of("rogue") == 0; }));
  }
  EXPECT_TRUE(progresses(victim));
}

TEST_F(DeviceTime, AKernelThatGoesOnWithoutATurnIsChargedAndItsSessionEnded) {
  start_daemon("hold_limit_s = 1");
  auto victim =
      start_long_program("victim", 64);  // so that half of the processors is more than the rogue's share
  ASSERT_TRUE(progresses(victim));
  auto rogue = start_rogue("outside", 30'000);  // in one kernel: a second kernel would have to wait
  ASSERT_TRUE(eventually([&] { return outside("rogue") > 0; }));
  EXPECT_TRUE(eventually([&] {
    return is_logged(
        "session [0-9]+ of tenant rogue ends: the worker used the "
        "device's processors without a turn");
  }));
  EXPECT_EQ(rogue.wait(), 3) << "its session is lost";
  EXPECT_TRUE(progresses(victim));
}

/// How the kernel is launched whose machine code takes long to make: in one piece, in parts (each has machine
/// code of its own), as part of a command buffer, and from CUDA.
struct LateLaunch {
  const char* name;
  const char* program;
  std::vector<std::string> options;
};

struct LateCode : DeviceTime, testing::WithParamInterface<LateLaunch> {};

TEST_P(LateCode, KeepsNobodyFromTheDeviceWhileItIsMade) {
  const LateLaunch& launch = GetParam();
  start_daemon("hold_limit_s = 1");
  auto idle = start_long_program("late", 1);  // so that the tenant stays in the books
  ASSERT_TRUE(progresses(idle));
  ::kill(idle.pid(), SIGSTOP);
  double compiled = 0;
  // A fast compiler gets more to do: it is to take longer than the hold limit.
  for (int statements = 80; compiled <= 1.5; statements *= 2) {
    ASSERT_LT(statements, 1'000) << "code for this many takes " << compiled << " s only";
    std::vector<std::string> program{harness::beside(launch.program), std::to_string(statements)};
    program.insert(program.end(), launch.options.begin(), launch.options.end());
    SCOPED_TRACE(testing::PrintToString(program));
    auto victim = start_long_program("victim");
    ASSERT_TRUE(progresses(victim));
    const double before = charged("late"), victim_before = charged("victim");
    const auto began = std::chrono::steady_clock::now();
    auto late = harness::Child::start(tenancy->tenant("late", 1, std::move(program)));
    ASSERT_TRUE(late);
    EXPECT_TRUE(eventually([&] { return states().find("compiling") != std::string::npos; })) << states();
    const harness::Finished finished = harness::finish(std::move(late).value());
    ASSERT_EQ(finished.status, 0) << "it is not ended by the watchdog, and right";
    compiled = harness::parse_line(finished.lines.back())["launched_s"];
    EXPECT_GE(charged("victim") - victim_before, 0.6 * compiled) << "the device was not held";
    // Building the program is charged as well.
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    EXPECT_LE(charged("late") - before, 0.8 * took.count());
    EXPECT_TRUE(progresses(victim));
    EXPECT_EQ(states().find("compiling"), std::string::npos) << states();
  }
  ::kill(idle.pid(), SIGCONT);
}

std::vector<LateLaunch> late_launches() {
  std::vector<LateLaunch> launches = {{"InOnePiece", "opencl_late", {"1"}},
                                      {"InParts", "opencl_late", {"20000"}},
                                      {"Recorded", "opencl_late", {"1", "recorded"}}};
  if (FAIRGV_CUDA) launches.push_back({"FromCuda", "cuda_late", {}});
  return launches;
}

INSTANTIATE_TEST_SUITE_P(Each, LateCode, testing::ValuesIn(late_launches()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(DeviceTime, AKernelThatReadsItsWorkersKnocksAwayFreezesNobody) {
  auto victim = start_long_program("victim");
  ASSERT_TRUE(progresses(victim));
  auto rogue = start_rogue("freeze", 600'000);
  ASSERT_TRUE(eventually([&] {
    const auto found = tenant("rogue");
    return !found.is_null() && found["sessions"].size() == 1 && found["sessions"][0]["state"] == "busy";
  }));
  // The watchdog ends the session after the victim has waited for ten seconds; the daemon answers all the
  // time.
  EXPECT_TRUE(eventually([&] { return sessions_of("rogue") == 0; }));
  EXPECT_EQ(tenant("victim")["sessions"].size(), 1U);
  EXPECT_TRUE(progresses(victim));
  EXPECT_EQ(fairgv({"stop"}).status, 0);
}

}  // namespace
}  // namespace fairgv::integration
