// A device that fails by itself: its sessions go on elsewhere, and lose what was under way there. The driver
// is PoCL, one of whose two devices fails when a file says so (programs/failing_driver.cpp).
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/system/moves/failing_driver.hpp"
#include "tests/integration/system/moves/moving.hpp"

namespace fairgv::integration {
namespace {

struct FailingDevice : Moving {
  void SetUp() override { start_failing(""); }

  /// `rules`: as in Moving::start().
  void start_failing(const std::string& rules) { start(rules + driver.rules()); }
  void fail(const std::string& how) { driver.fail(how); }
  void heal() { driver.heal(); }

  harness::Child start_survivor(const std::string& name, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> program{"/usr/bin/env"};
    program.insert(program.end(), environment.begin(), environment.end());
    program.insert(program.end(), {harness::beside("opencl_survivor"), stop_file()});
    auto child = harness::Child::start(tenancy->tenant(name, 1, std::move(program)));
    EXPECT_TRUE(child);
    return std::move(child).value();
  }
  /// Ends the program, whose results are right. Returns how many of its launches were lost.
  unsigned lost_by(harness::Child child) {
    std::ofstream(stop_file()) << "";
    const auto finished = harness::finish(std::move(child));
    unsigned lost = ~0U;
    EXPECT_EQ(finished.status, 0) << joined(finished);
    const std::string last = finished.lines.empty() ? "" : finished.lines.back();
    EXPECT_EQ(std::sscanf(last.c_str(), "right, lost %u", &lost), 1) << joined(finished);
    return lost;
  }

  nlohmann::json failure_of_first() { return ps()["devices"][0]["failed"]; }
  bool has_left(const std::string& name) { return session(name)["moved"] == nlohmann::json({{"0", 1}}); }
  std::string log_text() const {
    std::ifstream file(std::filesystem::path(tenancy->socket()).replace_extension("log"));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  bool is_logged(const std::string& words) { return log_text().find(words) != std::string::npos; }

  FailingDriver driver;
};

/// By the way in which launches fail.
struct FailingLaunches : FailingDevice, ::testing::WithParamInterface<const char*> {};

TEST_P(FailingLaunches, CostEachTenantOneCommandAtMost) {
  auto alice = start_survivor("alice");
  auto bob = start_survivor("bob");
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  fail(GetParam());
  if (!eventually([&] { return has_left("alice") && has_left("bob"); })) {
    FAIL() << ps() << log_text() << joined(harness::finish(std::move(alice)));
  }
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  EXPECT_EQ(failure_of_first(), "CL_DEVICE_NOT_AVAILABLE (a launch)");
  EXPECT_TRUE(ps()["devices"][0]["drained"].get<bool>());
  EXPECT_TRUE(ps()["devices"][1]["failed"].is_null());
  EXPECT_NE(joined(fairgv({"ps"})).find("failed:"), std::string::npos);
  EXPECT_TRUE(is_logged("device 0 has failed: the driver of session ")) << log_text();
  EXPECT_TRUE(eventually([&] { return ps()["devices"][0]["memory_used"] == 0; }));
  // At most: the other's failure may have moved one between two of its commands.
  const unsigned of_alice = lost_by(std::move(alice)), of_bob = lost_by(std::move(bob));
  EXPECT_LE(of_alice, 1U);
  EXPECT_LE(of_bob, 1U);
  EXPECT_GE(of_alice + of_bob, 1U);
}

INSTANTIATE_TEST_SUITE_P(Each, FailingLaunches, ::testing::Values("launches", "ends"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(FailingDevice, ContentsThatTheDriverCanStillReadAreTakenAlong) {
  auto alice = start_survivor("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  fail("launches");
  ASSERT_TRUE(eventually([&] { return has_left("alice"); })) << ps() << log_text();
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(lost_by(std::move(alice)), 1U);
}

TEST_F(FailingDevice, MemoryThatLiesWithTheProgramSurvivesThough) {
  auto alice = start_survivor("alice");
  ASSERT_TRUE(progresses(alice));
  fail("everything");
  ASSERT_TRUE(eventually([&] { return has_left("alice"); })) << ps() << log_text();
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(lost_by(std::move(alice)), 1U);
}

TEST_F(FailingDevice, ContentsThatAreLostEndTheProgramWithTheDriversError) {
  auto alice = start_survivor("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  fail("everything");
  const auto finished = harness::finish(std::move(alice));
  EXPECT_EQ(finished.status, 1) << joined(finished);
  EXPECT_NE(joined(finished).find(": error -2"), std::string::npos) << joined(finished);
  EXPECT_TRUE(is_logged("does not move: ")) << log_text();
  EXPECT_TRUE(is_logged("is not parked: ")) << log_text();
}

TEST_F(FailingDevice, UndrainHasTheDeviceUsedAgain) {
  auto alice = start_survivor("alice");
  ASSERT_TRUE(progresses(alice));
  fail("launches");
  ASSERT_TRUE(eventually([&] { return has_left("alice"); })) << log_text();
  auto bob = start_survivor("bob");
  ASSERT_TRUE(progresses(bob));
  EXPECT_EQ(session("bob")["devices"], nlohmann::json::array({1}));
  EXPECT_NE(failure({"bob", "--device", "0"}).find("device 0 has failed: 'fairgv undrain 0' ends that"),
            std::string::npos);
  heal();
  const auto back = fairgv({"undrain", "0"});
  EXPECT_EQ(back.status, 0) << joined(back);
  EXPECT_TRUE(failure_of_first().is_null());
  EXPECT_TRUE(session("alice")["moved"].empty());
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  EXPECT_EQ(lost_by(std::move(alice)), 1U);
  EXPECT_EQ(lost_by(std::move(bob)), 0U);
}

TEST_F(FailingDevice, TheNextDaemonKnowsThatItHasFailed) {
  auto alice = start_survivor("alice");
  ASSERT_TRUE(progresses(alice));
  fail("launches");
  ASSERT_TRUE(eventually([&] { return has_left("alice"); })) << log_text();
  const auto reason = failure_of_first();
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_EQ(failure_of_first(), reason);
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(lost_by(std::move(alice)), 1U);
}

TEST_F(FailingDevice, ADeviceThatWorksInATrialStaysInService) {
  auto alice = start_survivor("alice");
  ASSERT_TRUE(progresses(alice));
  // The trial has the driver that the configuration names by then.
  const auto config = std::filesystem::path(tenancy->socket()).replace_filename("fairgvd.toml");
  std::ifstream before(config);
  std::stringstream text;
  text << before.rdbuf();
  std::string changed = text.str();
  const std::string named = driver.vendors();
  changed.replace(changed.find(named), named.size(), "/etc/OpenCL/vendors");
  std::ofstream(config) << changed;
  EXPECT_EQ(fairgv({"reload"}).status, 0);
  fail("launches");
  ASSERT_TRUE(
      eventually([&] { return is_logged("device 0 stays in service, though the driver of session "); }));
  EXPECT_TRUE(is_logged("CL_DEVICE_NOT_AVAILABLE: it works")) << log_text();
  heal();
  ASSERT_TRUE(progresses(alice));
  EXPECT_TRUE(failure_of_first().is_null());
  EXPECT_FALSE(ps()["devices"][0]["drained"].get<bool>());
  EXPECT_GE(lost_by(std::move(alice)), 1U);
}

TEST_F(FailingDevice, SessionsWithNowhereToGoAreParkedUntilItIsBack) {
  start_failing("[tenant.alice]\ndevices = \"0\"\n");
  auto alice = start_survivor("alice");
  ASSERT_TRUE(progresses(alice));
  fail("launches");
  ASSERT_TRUE(eventually([&] { return session("alice")["parked"].get<bool>(); })) << log_text();
  EXPECT_NE(failure_of({"resume", "alice"}).find("device 0, where it lies, has failed: 'fairgv undrain 0'"),
            std::string::npos);
  heal();
  EXPECT_EQ(fairgv({"undrain", "0"}).status, 0);
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(lost_by(std::move(alice)), 1U);
}

}  // namespace
}  // namespace fairgv::integration
