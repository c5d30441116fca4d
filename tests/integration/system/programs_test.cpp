// Programs that know nothing of FairGV run as tenants, and their results are right.
#include "tests/harness/seed.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct Programs : System {};

struct WorkloadThroughFairGV : System, ::testing::WithParamInterface<const char*> {};

TEST_P(WorkloadThroughFairGV, ComputesWhatItShouldWhenEveryLaunchIsCutAtRandom) {
  const std::string slice = "random:" + std::to_string(harness::printed_seed());
  SCOPED_TRACE(slice);
  auto program =
      tenancy->tenant("alice", 2, {workload(GetParam()), "--repetitions", "3", "--verify", "always"});
  program.environment.emplace_back("FAIRGV_SLICE", slice);
  const auto result = harness::run_measured(program);
  ASSERT_TRUE(result) << result.error().message;
}

TEST_P(WorkloadThroughFairGV, HasTheRightResult) {
  const auto result = harness::run_measured(
      tenancy->tenant("alice", 2, {workload(GetParam()), "--repetitions", "5", "--verify", "always"}));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_NE(result.value()["platform"].get<std::string>().find("FairGV"), std::string::npos);
}

#if FAIRGV_SANITIZED  // which see the same of the libraries under each of them
INSTANTIATE_TEST_SUITE_P(Each, WorkloadThroughFairGV, ::testing::Values("matrixMul", "scan", "nw", "cfd"),
                         [](const auto& test) { return std::string(test.param); });
#else
INSTANTIATE_TEST_SUITE_P(Each, WorkloadThroughFairGV,
                         ::testing::Values("matrixMul", "BlackScholes", "hotspot", "srad", "scan",
                                           "convolutionSeparable", "histogram", "cfd", "heartwall", "lavaMD",
                                           "nw", "pathfinder", "computeLoop"),
                         [](const auto& test) { return std::string(test.param); });
#endif

/// The tests that run on the bare driver as opencl_api_native and opencl_api_native_sub_devices, as a tenant.
/// The tests of sub-devices run in a session of their own: PoCL 3.1 sometimes does not survive the tests
/// after them.
struct ApiThroughFairGV : System, ::testing::WithParamInterface<const char*> {
  void run_with(const char* variable, const std::string& value) {
    auto program = tenancy->tenant("alice", 1, {harness::beside("opencl_api_test")});
    program.environment.emplace_back(variable, value);
    program.environment.emplace_back("GTEST_FILTER", GetParam());
    const auto finished = harness::run(program);
    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->status, 0) << joined(finished.value());
  }
};

TEST_P(ApiThroughFairGV, BehavesAsOnTheDriver) {
  run_with("FAIRGV_DIRECT_MEMORY", "on");
}

TEST_P(ApiThroughFairGV, BehavesAsOnTheDriverWhereNoBufferIsReachedDirectly) {
  run_with("FAIRGV_DIRECT_MEMORY", "off");
}

TEST_P(ApiThroughFairGV, BehavesAsOnTheDriverWhenEveryLaunchIsCutAtRandom) {
  const std::string slice = "random:" + std::to_string(harness::printed_seed());
  SCOPED_TRACE(slice);
  run_with("FAIRGV_SLICE", slice);
}

INSTANTIATE_TEST_SUITE_P(Each, ApiThroughFairGV, ::testing::Values("-SubDevices.*", "SubDevices.*"),
                         [](const auto& test) { return test.index == 0 ? "Api" : "SubDevices"; });

#if !FAIRGV_SANITIZED  // a sanitized front end cannot be loaded into a program that was built without
TEST_F(Programs, ClinfoSeesOnlyFairGV) {
  const auto bare = harness::run(harness::bare({"clinfo", "--raw"}));
  const auto ours = harness::run(tenancy->tenant("alice", 1, {"clinfo", "--raw"}));
  ASSERT_TRUE(bare && ours);
  EXPECT_EQ(ours->status, 0);
  const std::string text = joined(ours.value());
  EXPECT_NE(text.find("FairGV on Portable Computing Language"), std::string::npos) << text;
  EXPECT_NE(text.find("#PLATFORMS                                        1"), std::string::npos) << text;
}

TEST_F(Programs, PyopenclScriptComputesTheRightValues) {
  const auto result = harness::run_measured(tenancy->tenant(
      "alice", 1,
      {"/usr/bin/python3", std::string(FAIRGV_SOURCE_DIR) + "/tests/workloads/pyopencl_saxpy.py"}));
  ASSERT_TRUE(result) << result.error().message;
}
#endif

TEST_F(Programs, NeedNoWrapperWhenTheEnvironmentNamesTheFrontEnd) {
  harness::CommandLine command{
      {workload("computeLoop"), "--seconds", "60", "--iterations", "200", "--progress-ms", "50"},
      {{"OCL_ICD_VENDORS", FAIRGV_ICD},
       {"FAIRGV_SOCKET", tenancy->socket()},
       {"FAIRGV_TENANT", "bob"},
       {"FAIRGV_WEIGHT", "5"}}};
  auto child = harness::Child::start(command);
  ASSERT_TRUE(child);
  ASSERT_TRUE(progresses(child.value()));
  const auto bob = tenant("bob");
  ASSERT_FALSE(bob.is_null());
  EXPECT_EQ(bob["weight"], 5);
  ASSERT_EQ(bob["sessions"].size(), 1u);
  EXPECT_EQ(bob["sessions"][0]["pid"], child->pid());
  EXPECT_EQ(bob["sessions"][0]["program"], "computeLoop");
}

TEST_F(Programs, WeightChangesWhileTheyRun) {
  auto child = start_long_program("carol", 2);
  ASSERT_TRUE(progresses(child));
  EXPECT_EQ(tenant("carol")["weight"], 2);
  EXPECT_EQ(fairgv({"set", "carol", "weight=9"}).status, 0);
  EXPECT_EQ(tenant("carol")["weight"], 9);
  EXPECT_TRUE(progresses(child));
}

TEST_F(Programs, SessionsOfOneTenantShareItsTurn) {
  auto first = start_long_program("dora", 3);
  auto second = start_long_program("dora", 3);
  auto other = start_long_program("emil", 3);
  ASSERT_TRUE(progresses(first) && progresses(second) && progresses(other));
  EXPECT_EQ(sessions_of("dora"), 2u);
  EXPECT_EQ(sessions_of("emil"), 1u);
  EXPECT_TRUE(progresses(first) && progresses(second) && progresses(other));
}

/// The other may want the device at any time. It would wait for the launch, and have its session ended if
/// that took too long.
TEST_F(Programs, LongLaunchesAreCutBesideASessionOfTheSameTenantThoughItRests) {
  const auto slices = [this] { return tenant("dora")["use"][0]["slices"].get<std::uint64_t>(); };
  // 6,144 work-groups, and several slices of time.
  auto loop = harness::Child::start(
      tenancy->tenant("dora", 1,
                      {workload("computeLoop"), "--size", "393216", "--iterations", "200", "--batch", "1",
                       "--seconds", "60", "--progress-ms", "50", "--verify", "off"}));
  ASSERT_TRUE(loop && progresses(loop.value()));
  EXPECT_EQ(slices(), 0u);
  auto second = start_long_program("dora", 1);  // its launches are short
  ASSERT_TRUE(progresses(second));
  ::kill(second.pid(), SIGSTOP);
  ASSERT_TRUE(progresses(loop.value()) && progresses(loop.value()));
  const std::uint64_t before = slices();
  ASSERT_TRUE(progresses(loop.value()) && progresses(loop.value()));
  EXPECT_GT(slices(), before);
}

}  // namespace
}  // namespace fairgv::integration
