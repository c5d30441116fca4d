// Service levels and oversold devices, with a real daemon, its workers and a real driver: units of service
// are counted exactly, capacity is bought and refused, caps follow what tenants do and survive a restart.
#include <algorithm>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct Overselling : System {
  void SetUp() override {}

  /// The tenant's program: so many frames (0: without end) of this work, with this pause.
  harness::Child start_frames(const std::string& tenant, const std::vector<std::string>& frames) {
    std::vector<std::string> program{harness::beside("opencl_frames")};
    program.insert(program.end(), frames.begin(), frames.end());
    auto child = harness::Child::start(tenancy->tenant(tenant, 1, program));
    EXPECT_TRUE(child);
    EXPECT_TRUE(progresses(child.value()));
    return std::move(child).value();
  }
  /// As eventually(), for what takes many of the daemon's seconds.
  static bool after_a_while(const std::function<bool()>& condition) {
    return eventually(condition) || eventually(condition) || eventually(condition) || eventually(condition);
  }
  /// What the tenant has of device 0; null: nothing.
  nlohmann::json holding(const std::string& name) {
    const auto found = tenant(name);
    return found.is_null() ? found : found["use"][0]["holding"];
  }
  nlohmann::json oversold() { return ps()["devices"][0]["oversold"]; }

  /// The command's end, and all that it says on standard output and error.
  static harness::Finished heard(const harness::CommandLine& command) {
    harness::CommandLine shell{{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"}, command.environment};
    shell.arguments.insert(shell.arguments.end(), command.arguments.begin(), command.arguments.end());
    auto finished = harness::run(shell);
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  }
};

bool says(const harness::Finished& finished, const std::string& text) {
  return std::any_of(finished.lines.begin(), finished.lines.end(),
                     [&](const auto& line) { return line.find(text) != std::string::npos; });
}

// ---- units of service

struct Counted {
  const char* units;
  std::uint64_t of_40_frames;
};

struct UnitsOfService : Overselling, testing::WithParamInterface<Counted> {};

TEST_P(UnitsOfService, AreCountedExactly) {
  start_daemon("[tenant.\"alice\"]\nunits = \"" + std::string(GetParam().units) + "\"");
  auto program = start_frames("alice", {"40", "1000"});
  const auto units = [&] { return tenant("alice")["use"][0]["units"].get<std::uint64_t>(); };
  ASSERT_TRUE(eventually([&] {
    for (const std::string& line : program.read_lines()) {
      const auto told = harness::parse_line(line);
      if (told.value("rounds", 0) == 40) return told.value("right", false);
    }
    return units() >= GetParam().of_40_frames;
  }));
  EXPECT_TRUE(eventually([&] { return units() >= GetParam().of_40_frames; }));
  EXPECT_EQ(units(), GetParam().of_40_frames);
  // What an ended program has done is not lost.
  auto next = start_frames("alice", {"1", "1000"});
  ::kill(program.pid(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return sessions_of("alice") == 1; }));
  EXPECT_GT(units() + (GetParam().units == std::string("marks:scene") ? 1 : 0), GetParam().of_40_frames);
}

INSTANTIATE_TEST_SUITE_P(Every, UnitsOfService,
                         testing::Values(Counted{"kernel:draw", 80}, Counted{"kernel:present", 40},
                                         Counted{"calls", 80}, Counted{"marks", 44},
                                         Counted{"marks:scene", 4}),
                         [](const auto& each) {
                           std::string name = each.param.units;
                           name.erase(std::remove(name.begin(), name.end(), ':'), name.end());
                           return name;
                         });

TEST_F(Overselling, MarksDoNothingOnAnotherPlatform) {
  auto child = harness::Child::start(harness::bare({harness::beside("opencl_frames"), "3", "1000"}));
  ASSERT_TRUE(child);
  EXPECT_TRUE(progresses(child.value()));
}

// ---- capacity

TEST_F(Overselling, WhatIsNotForSaleIsRefusedBeforeTheProgramStartsAndByTheFirstCallWithoutRun) {
  start_daemon("policy = \"cap\"\noversell = true\n[tenant.\"alice\"]\nmax = \"70%\"");
  auto alice = start_frames("alice", {"0", "1000", "20"});
  EXPECT_EQ(holding("alice")["bought"], 0.7);
  EXPECT_EQ(holding("alice")["cap"], 0.7);
  EXPECT_NEAR(oversold()["for_sale"].get<double>(), 0.3, 1e-9);
  const std::string refusal =
      "tenant 'bob' cannot have 40% of device 0: 30% of it is for sale now (max, --max, FAIRGV_MAX)";
  const auto run = [&](const char* max) {
    return heard({{harness::beside("fairgv"), "run", "--socket", tenancy->socket(), "--tenant", "bob",
                   "--max", max, "--", "echo", "started"},
                  {}});
  };
  const auto refused = run("40%");
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.lines, std::vector<std::string>{"fairgv run: " + refusal});
  EXPECT_EQ(run("30%").lines, std::vector<std::string>{"started"});
  const auto bare = heard({{workload("matrixMul"), "--repetitions", "1"},
                           {{"OCL_ICD_VENDORS", FAIRGV_ICD},
                            {"FAIRGV_SOCKET", tenancy->socket()},
                            {"FAIRGV_TENANT", "bob"},
                            {"FAIRGV_MAX", "40%"}}});
  EXPECT_NE(bare.status, 0);
  EXPECT_TRUE(says(bare, refusal)) << joined(bare);
  EXPECT_TRUE(holding("bob").is_null());
  EXPECT_TRUE(says(fairgv({"ps"}), "oversold: 70% bought")) << joined(fairgv({"ps"}));
  // While it runs: alice buys less, and bob may have more.
  EXPECT_EQ(fairgv({"set", "alice", "--max", "50%"}).status, 0);
  EXPECT_EQ(holding("alice")["cap"], 0.5);
  EXPECT_EQ(run("40%").lines, std::vector<std::string>{"started"});
  EXPECT_TRUE(progresses(alice));
}

TEST_F(Overselling, CapsFollowWhatTenantsDoAndSurviveARestart) {
  start_daemon(
      "policy = \"cap\"\noversell = true\n"
      "[tenant.\"alice\"]\nunits = \"kernel:draw\"\ntarget = 10\n[tenant.\"bob\"]\nmax = \"50%\"");
  auto alice = start_frames("alice", {"0", "1000", "100"});
  EXPECT_EQ(holding("alice")["bought"], 1.0);
  ASSERT_TRUE(after_a_while([&] { return oversold()["for_sale"].get<double>() >= 0.5; }))
      << "what alice leaves unused";
  auto bob = start_frames("bob", {"0", "1000", "100"});
  EXPECT_EQ(holding("bob")["cap"], 0.5);
  const double cut = holding("alice")["cap"].get<double>();
  EXPECT_LT(cut, 0.51);
  EXPECT_EQ(holding("alice")["target"], 10);

  const auto restarts = [&] { return ps()["daemon"]["restarts"].get<int>(); };
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  ASSERT_TRUE(eventually([&] { return restarts() == 1; }));
  EXPECT_NEAR(holding("alice")["cap"].get<double>(), cut, 1e-9);
  EXPECT_EQ(holding("alice")["bought"], 1.0);
  EXPECT_EQ(holding("bob")["cap"], 0.5);
  EXPECT_TRUE(progresses(alice));

  // alice's frames become dear, so that it needs more for its target: it gets what bob leaves, when bob is no
  // longer new.
  auto more = start_frames("alice", {"0", "1000000"});
  ::kill(alice.pid(), SIGKILL);
  ASSERT_TRUE(after_a_while([&] { return holding("alice")["cap"].get<double>() > cut + 0.02; }))
      << holding("alice").dump();
  EXPECT_GT(oversold()["changes"].get<int>(), 0);
  EXPECT_GT(holding("alice")["broken_seconds"].get<int>(), 0);
  const auto report = ps();
  double sum = 0;
  for (const auto& each : report["tenants"]) sum += each["use"][0]["holding"]["cap"].get<double>();
  EXPECT_LE(sum, 1 + 1e-9);
  EXPECT_TRUE(progresses(bob));
}

// ---- overload

TEST_F(Overselling, WhileADeviceIsOverloadedItsLightestSessionMovesToTheDeviceThatIsNamed) {
  auto started = harness::Tenancy::start(
      {}, {{"POCL_DEVICES", "pthread pthread"}},
      "hold_limit_s = 0\n[device.0]\npolicy = \"cap\"\noversell = true\noversell_move_to = 1\n"
      "[device.1]\nsame_as = 1\n"
      "[tenant.\"alice\"]\nunits = \"kernel:draw\"\ntarget = 10\n[tenant.\"bob\"]\nmax = \"20%\"");
  ASSERT_TRUE(started) << started.error().message;
  tenancy.emplace(std::move(started).value());
  auto alice = start_frames("alice", {"0", "1000", "100"});
  ASSERT_TRUE(after_a_while([&] { return oversold()["for_sale"].get<double>() >= 0.2; }));
  auto bob = start_frames("bob", {"0", "1000"});
  EXPECT_EQ(holding("bob")["cap"], 0.2);
  // Now alice needs more than there is beside bob, who uses all that he bought: a frame lasts for about a
  // second.
  auto more = start_frames("alice", {"0", "1000000"});
  ::kill(alice.pid(), SIGKILL);
  const auto moved = [&](const std::string& name) { return tenant(name)["sessions"][0]["moved"]; };
  const nlohmann::json there{{"0", 1}};
  ASSERT_TRUE(after_a_while([&] { return moved("bob") == there; })) << ps().dump();
  EXPECT_TRUE(moved("alice").empty()) << "one that is heavier stays";
  EXPECT_TRUE(eventually([&] { return holding("bob").is_null(); })) << "what it bought is for sale again";
  EXPECT_TRUE(after_a_while([&] { return holding("alice")["cap"].get<double>() > 0.9; }));
  EXPECT_TRUE(progresses(bob));
  EXPECT_FALSE(more.ended());
  EXPECT_EQ(moved("bob"), there) << "it does not come back";
}

TEST_F(Overselling, AFixedRatioDividesWhatIsBought) {
  start_daemon("policy = \"cap\"\noversell = true\noversell_ratio = 2");
  auto alice = start_frames("alice", {"0", "1000", "20"});
  auto bob = start_frames("bob", {"0", "1000", "20"});
  EXPECT_EQ(holding("alice")["cap"], 0.5);
  EXPECT_EQ(holding("bob")["cap"], 0.5);
  EXPECT_EQ(oversold()["overbooking"], 2.0);
  EXPECT_EQ(oversold()["for_sale"], 0.0);
  EXPECT_EQ(fairgv({"set", "--policy", "fair"}).status, 0);
  EXPECT_TRUE(oversold()["resting"].get<bool>());
  EXPECT_TRUE(progresses(alice));
  EXPECT_EQ(fairgv({"set", "--policy", "cap"}).status, 0);
  EXPECT_FALSE(oversold()["resting"].get<bool>());
  EXPECT_TRUE(progresses(bob));
}

}  // namespace
}  // namespace fairgv::integration
