// TimeGraph with real programs: the specification file, reserves that are enforced, go on through a restart
// and are refused, and what people see of that.
#include <algorithm>
#include <filesystem>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

struct TimeGraph : System {
  void SetUp() override {}

  /// A daemon with the policy, this specification, and more of the configuration after it.
  void start_with(const std::string& spec, const std::string& more = {}) {
    folder.write("tasks.spec", spec);
    start_daemon("policy = \"timegraph\"\n[timegraph]\nspec = \"" + (folder / "tasks.spec").string() +
                 "\"\n" + more);
  }
  std::uint64_t device_time(const std::string& name) { return tenant(name)["device_time_ns"][0]; }
  std::uint64_t launches(const std::string& name) { return tenant(name)["launches"]; }

  /// The command's end, and all that it says on standard output and error.
  static harness::Finished heard(std::vector<std::string> command, harness::Environment environment = {}) {
    std::vector<std::string> shell{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"};
    shell.insert(shell.end(), command.begin(), command.end());
    auto finished = harness::run({std::move(shell), std::move(environment)});
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  }
  harness::Finished run_as(const std::string& name) {
    return heard({harness::beside("fairgv"), "run", "--socket", tenancy->socket(), "--tenant", name, "--",
                  "echo", "started"});
  }
  harness::Finished reload() {
    return heard({harness::beside("fairgv"), "reload", "--socket", tenancy->socket()});
  }

  harness::TemporaryFolder folder;
};

constexpr std::uint64_t in_ns(nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

bool says(const harness::Finished& finished, const std::string& text) {
  return std::any_of(finished.lines.begin(), finished.lines.end(),
                     [&](const auto& line) { return line.find(text) != std::string::npos; });
}

TEST_F(TimeGraph, AReserveHoldsThoughTheDeviceIsIdle) {
  start_with("small:PRT:PE:50:2000:100000\n");
  auto small = start_long_program("small");
  ASSERT_TRUE(progresses(small));
  // However slow the machine is, it gets no more than 2 % of the time, and overruns are paid back. So a fifth
  // of the daemon's life is far beyond.
  const auto before = device_time("small");
  ASSERT_TRUE(eventually([&] { return device_time("small") > before + in_ns(milliseconds(20)); }));
  const auto after = device_time("small");
  const double lived = ps()["daemon"]["uptime_s"];
  EXPECT_LT(static_cast<double>(after), lived * 1e9 / 5);
}

// Its commands are some 30 times as long as its budget: without predictions one would begin in every period,
// and an overrun is forgotten.
TEST_F(TimeGraph, UnderAprioriEnforcementALongCommandWaitsUntilItsPredictedTimeIsSavedUp) {
  start_with("long:PRT:AE:50:100:10000\n");
  auto child = harness::Child::start(
      tenancy->tenant("long", 1,
                      {workload("computeLoop"), "--seconds", "60", "--iterations", "500", "--warmup", "0",
                       "--batch", "1", "--sync", "every", "--verify", "off"}));
  ASSERT_TRUE(child);
  struct Look {
    double lived_s;
    std::uint64_t device_time;
  };
  const auto after_launches = [&](std::uint64_t count) {
    nlohmann::json report;
    EXPECT_TRUE(eventually([&] {
      report = ps();
      return !report["tenants"].empty() && report["tenants"][0]["launches"] >= count;
    }));
    return Look{report["daemon"]["uptime_s"], report["tenants"][0]["device_time_ns"][0]};
  };
  const Look first = after_launches(8);  // by then its commands are known
  const Look then = after_launches(12);
  EXPECT_LT(static_cast<double>(then.device_time - first.device_time),
            (then.lived_s - first.lived_s) * 1e9 / 5);
}

TEST_F(TimeGraph, BesideATaskOfLowerPriorityAReserveIsACeilingToo) {
  start_with("small:PRT:PE:50:5000:100000\nbusy:HT:none:10:-:-\n");
  auto small = start_long_program("small");
  auto busy = start_long_program("busy");
  ASSERT_TRUE(progresses(small) && progresses(busy));
  const auto small_before = launches("small"), busy_before = launches("busy");
  ASSERT_TRUE(eventually([&] { return launches("small") > small_before + 50; })) << "it gets its reserve";
  EXPECT_GT(launches("busy") - busy_before, 3 * (launches("small") - small_before));
}

TEST_F(TimeGraph, ARestartInTheMiddleOfABudgetRefillsNothingAndLosesNothing) {
  constexpr auto kBudget = seconds(3);  // in an hour, so that it is not refilled in the test
  constexpr auto kOverrun = milliseconds(500);
  start_with("first:PRT:PE:50:3000000:3600000000\nsecond:PRT:none:10:-:-\n");
  auto first = start_long_program("first");
  ASSERT_TRUE(
      eventually([&] { return sessions_of("first") == 1 && device_time("first") > in_ns(seconds(1)); }));
  ASSERT_EQ(fairgv({"pause", "first"}).status, 0);
  ASSERT_LT(device_time("first"), in_ns(kBudget)) << "the restart is in the middle";
  ASSERT_EQ(fairgv({"restart"}).status, 0);
  ASSERT_EQ(fairgv({"resume", "first"}).status, 0);
  EXPECT_TRUE(eventually([&] { return device_time("first") >= in_ns(kBudget); })) << "nothing is lost";

  // Its priority is higher: whenever second goes on, first may not.
  auto second = start_long_program("second");
  ASSERT_TRUE(progresses(second));
  const auto used = device_time("first");
  EXPECT_LT(used, in_ns(kBudget + kOverrun)) << "the first restart has refilled nothing";
  ASSERT_EQ(fairgv({"restart"}).status, 0);
  const auto before = launches("second");
  ASSERT_TRUE(eventually([&] { return launches("second") > before + 100; }));
  EXPECT_EQ(device_time("first"), used) << "nor has the second one";

  // A change of policy neither: the time under another one is not of the reserve.
  ASSERT_EQ(fairgv({"set", "--policy", "fair"}).status, 0);
  ASSERT_TRUE(eventually([&] { return device_time("first") > used; }));
  ASSERT_EQ(fairgv({"set", "--policy", "timegraph"}).status, 0);
  const auto under_fair = device_time("first");
  const auto then = launches("second");
  ASSERT_TRUE(eventually([&] { return launches("second") > then + 100; }));
  EXPECT_LT(device_time("first"), under_fair + in_ns(kOverrun)) << "but for the turn that it had";
}

TEST_F(TimeGraph, AReserveBeyondTheLimitIsOneLineAnExitStatusAndAnErrorOfTheFirstCallWithoutRun) {
  start_with("a:PRT:PE:50:20000:40000\nb:PRT:PE:60:12500:25000\n", "limit = \"80%\"\n");
  auto a = start_long_program("a");
  ASSERT_TRUE(progresses(a));
  const std::string why =
      "tenant 'b' cannot have a reserve of 12500us/25ms (50%): 30% is left of the 80% that reserves may have "
      "(limit in [timegraph])";
  const auto refused = run_as("b");
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.lines, std::vector<std::string>{"fairgv run: " + why});
  const auto bare =
      heard({workload("matrixMul"), "--repetitions", "1"},
            {{"OCL_ICD_VENDORS", FAIRGV_ICD}, {"FAIRGV_SOCKET", tenancy->socket()}, {"FAIRGV_TENANT", "b"}});
  EXPECT_NE(bare.status, 0);
  EXPECT_EQ(std::count_if(bare.lines.begin(), bare.lines.end(),
                          [&](const auto& line) { return line.find(why) != std::string::npos; }),
            1)
      << joined(bare);
  EXPECT_TRUE(tenant("b").is_null());
  EXPECT_EQ(run_as("c").lines, std::vector<std::string>{"started"}) << "a tenant without an entry has none";
  ::kill(a.pid(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return sessions_of("a") == 0; }));
  EXPECT_EQ(run_as("b").lines, std::vector<std::string>{"started"}) << "there is room now";
}

TEST_F(TimeGraph, IfSoConfiguredAReserveBeyondTheLimitIsBackgroundAndStaysSoThroughARestart) {
  start_with("a:PRT:PE:50:20000:40000\nb:PRT:PE:*:30000:40000\n", "[tenants]\noverbooked = \"background\"\n");
  auto a = start_long_program("a");
  ASSERT_TRUE(progresses(a));
  auto b = start_long_program("b");
  ASSERT_TRUE(progresses(b));
  const auto in_background = [&] {
    const auto task = tenant("b")["timegraph"];
    return task["refused"] == true && task["reserve"] == "none" && task["priority"] == "0";
  };
  EXPECT_TRUE(in_background()) << tenant("b")["timegraph"].dump();
  EXPECT_EQ(tenant("a")["timegraph"]["reserve"], "20ms/40ms");
  ASSERT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_TRUE(in_background()) << tenant("b")["timegraph"].dump();
  EXPECT_TRUE(progresses(b));
  ::kill(a.pid(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return sessions_of("a") == 0; }));
  ASSERT_EQ(reload().status, 0);
  EXPECT_FALSE(in_background()) << "it is tried again when the configuration is read";
  EXPECT_EQ(tenant("b")["timegraph"]["priority"], "*");
}

TEST_F(TimeGraph, TheSpecificationIsReadAgainWithTheConfigurationAllOfItOrNothing) {
  start_with("program:PRT:PE:50:20000:40000\n");
  auto program = start_long_program("program");
  ASSERT_TRUE(progresses(program));
  EXPECT_EQ(tenant("program")["timegraph"]["priority"], "50");
  folder.write("tasks.spec", "program:HT:none:70:-:-\nother:PRT:BE:1:-:-\n");
  const auto refused = reload();
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(
      says(refused, (folder / "tasks.spec").string() + ":2: the reservation policy is 'BE', write PE"))
      << joined(refused);
  EXPECT_EQ(tenant("program")["timegraph"]["priority"], "50") << "its correct line does not hold either";
  ASSERT_EQ(fairgv({"restart"}).status, 1) << "nor does a new daemon start with it";

  folder.write("tasks.spec", "program:HT:none:70:-:-\n");
  const auto done = reload();
  EXPECT_EQ(done.status, 0) << joined(done);
  EXPECT_TRUE(says(done, "changed: [timegraph] spec")) << joined(done);
  const auto task = tenant("program")["timegraph"];
  EXPECT_EQ(task["scheduling"], "HT");
  EXPECT_EQ(task["priority"], "70");
  EXPECT_EQ(task["enforcement"], "none");
  EXPECT_TRUE(progresses(program));
}

TEST_F(TimeGraph, ADaemonDoesNotStartWithAWrongSpecification) {
  folder.write("tasks.spec", "# tasks\na:PRT:PE:1:30:20\n");
  folder.write("c.toml", "[timegraph]\nspec = \"tasks.spec\"\n");
  const auto checked = heard({harness::beside("fairgv"), "config", "check", (folder / "c.toml").string()});
  EXPECT_EQ(checked.status, 1);
  EXPECT_TRUE(says(checked, "tasks.spec:2: C is 30 and more than T, which is 20")) << joined(checked);
  const auto started = heard({harness::beside("fairgvd"), "--config", (folder / "c.toml").string(),
                              "--socket", (folder / "s").string()});
  EXPECT_NE(started.status, 0);
  EXPECT_TRUE(says(started, "tasks.spec:2: C is 30 and more than T, which is 20")) << joined(started);
}

}  // namespace
}  // namespace fairgv::integration
