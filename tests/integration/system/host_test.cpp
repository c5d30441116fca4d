// Policies that follow the host's processors, with real programs: work is counted, in commands that ended.
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <vector>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

/// A control group for a program, with ten times the usual weight; removed when its processes are gone.
class WeightyGroup {
 public:
  WeightyGroup() {
    const std::string name = "/fairgv-host-test-" + std::to_string(::getpid());
    for (const auto& [root, file, weight] : {std::array{"/sys/fs/cgroup", "cpu.weight", "1000"},
                                             std::array{"/sys/fs/cgroup/cpu", "cpu.shares", "10240"}}) {
      path_ = root + name;
      if (::mkdir(path_.c_str(), 0755) != 0) continue;
      std::ofstream weights(path_ + "/" + file, std::ios::in);  // the kernel's file, or none
      if (weights << weight && weights.flush()) return;
      ::rmdir(path_.c_str());
    }
    path_.clear();
  }
  ~WeightyGroup() {
    const auto removed = [this] { return ::rmdir(path_.c_str()) == 0; };
    EXPECT_TRUE(path_.empty() || eventually(removed)) << path_;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct HostsPolicies : System {
  /// The tenant floods the device; `host` says what its program does on the host.
  harness::Child flood(const std::string& name, const char* host, const std::string& in_group = {}) {
    std::vector<std::string> program{harness::beside("opencl_flood"), host};
    if (!in_group.empty()) {
      program.insert(program.begin(),
                     {"/bin/sh", "-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"", in_group});
    }
    auto child = harness::Child::start(tenancy->tenant(name, 1, std::move(program)));
    EXPECT_TRUE(child);
    return std::move(child).value();
  }
  std::uint64_t commands_of(const std::string& name) {
    const auto found = tenant(name);
    return found.is_null() ? 0 : found["commands"].get<std::uint64_t>();
  }
  struct Counted {
    std::uint64_t alice, bob;
  };
  Counted counted() { return {commands_of("alice"), commands_of("bob")}; }
  /// The commands that end while the two together do so many.
  Counted while_both_do(std::uint64_t commands) {
    const Counted before = counted();
    Counted done{0, 0};
    EXPECT_TRUE(eventually([&] {
      const Counted now = counted();
      done = {now.alice - before.alice, now.bob - before.bob};
      return done.alice + done.bob >= commands;
    }));
    return done;
  }
  /// Both flood the device; alice's program is in the group, if there is one.
  void start_two(const char* alice, const std::string& alices_group = {}) {
    programs.push_back(flood("alice", alice, alices_group));
    programs.push_back(flood("bob", "sleeps"));
    ASSERT_TRUE(eventually([&] { return counted().alice > 100 && counted().bob > 100; }));
  }

  WeightyGroup group;  // outlives the programs in it
  std::vector<harness::Child> programs;
};

TEST_F(HostsPolicies, CoschedServesTheProgramThatTheHostRuns) {
  start_two("spins");
  ASSERT_TRUE(tenancy->set_policy("acc-credit"));
  const Counted before = while_both_do(1'500);
  EXPECT_GE(before.bob * 2, before.alice) << "equal weights: " << before.alice << " to " << before.bob;
  ASSERT_TRUE(tenancy->set_policy("cosched"));
  const Counted after = while_both_do(1'500);
  EXPECT_GE(after.alice * 2, 5 * after.bob) << after.alice << " to " << after.bob;
  ASSERT_TRUE(tenancy->set_policy("fair"));
  const Counted again = while_both_do(1'500);
  EXPECT_GE(again.bob * 2, again.alice) << again.alice << " to " << again.bob;
}

TEST_F(HostsPolicies, XenoCreditSharesByTheWeightsOfTheHostsProcessors) {
  if (group.path().empty()) GTEST_SKIP() << "no control groups of processors may be made here";
  start_two("sleeps", group.path());
  ASSERT_TRUE(tenancy->set_policy("acc-credit"));
  const Counted before = while_both_do(1'500);
  EXPECT_GE(before.bob * 2, before.alice) << "equal weights: " << before.alice << " to " << before.bob;
  ASSERT_TRUE(tenancy->set_policy("xeno-credit"));
  ASSERT_TRUE(eventually([&] { return tenant("alice")["host_weight"] == 1000; })) << tenant("alice").dump();
  EXPECT_EQ(tenant("bob")["host_weight"], 100);
  const Counted after = while_both_do(1'500);
  EXPECT_GE(after.alice, 3 * after.bob) << after.alice << " to " << after.bob;
  EXPECT_LE(after.alice, 20 * after.bob) << after.alice << " to " << after.bob;
}

/// The synchronisations for accounting are counted by the workers.
struct Sampled : HostsPolicies {
  struct Counts {
    double commands, samples, syncs;
  };
  Counts counts_with(const std::string& sampling) {
    programs.clear();
    start_daemon("policy = \"fair-paper\"\nslice_ms = 15\n" + sampling);
    start_two("sleeps");
    (void)while_both_do(1'500);
    const auto both = ps()["tenants"];
    Counts sum{0, 0, 0};
    for (const auto& each : both) {
      sum.commands += each["commands"].get<double>();
      sum.samples += each["samples"].get<double>();
      sum.syncs += each["syncs"].get<double>();
    }
    return sum;
  }
};

TEST_F(Sampled, AsTheConfigurationSays) {
  const Counts usual = counts_with("");
  EXPECT_LE(usual.samples * 4, usual.commands) << "kernels are known after a few samples";
  const Counts per_turn = counts_with("sampling = \"per-turn\"");
  EXPECT_GE(per_turn.samples * 12, per_turn.commands) << "five in each turn";
  EXPECT_GT(per_turn.samples / per_turn.commands, usual.samples / usual.commands);
  EXPECT_GT(per_turn.syncs, per_turn.samples) << "and one at the end";
  const Counts always = counts_with("sampling = \"always\"");
  EXPECT_GE(always.samples + 4, always.commands) << "each of them, but one that has ended just now";
  EXPECT_GE(always.syncs, always.samples);
}

TEST_F(Sampled, AlwaysMeansALoneTenantToo) {
  start_daemon("sampling = \"always\"");
  auto alice = flood("alice", "sleeps");
  ASSERT_TRUE(eventually([&] { return commands_of("alice") > 200; }));
  const auto its = tenant("alice");
  EXPECT_GE(its["samples"].get<std::uint64_t>() + 4, its["commands"].get<std::uint64_t>());
}

}  // namespace
}  // namespace fairgv::integration
