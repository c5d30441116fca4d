// Direct programs and their daemon: who may be one, how it is shown, shared with, ended and handed over.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

constexpr const char* kAllowed = "[cuda]\ndirect = \"fallback\"\n";

bool has_line(const std::vector<std::string>& lines, const std::string& part) {
  for (const std::string& line : lines) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

struct Direct : System {
  void SetUp() override { start_daemon(kAllowed); }

  /// `fairgv run --direct` of the test's program.
  harness::CommandLine command(const std::string& name, std::uint32_t weight, std::vector<std::string> words,
                               const std::string& how = "--direct") {
    harness::CommandLine command{{harness::beside("fairgv"), "run", "--socket", tenancy->socket(), "--tenant",
                                  name, "--weight", std::to_string(weight)},
                                 {}};
    if (!how.empty()) command.arguments.push_back(how);
    command.arguments.insert(command.arguments.end(), {"--", FAIRGV_DIRECT_PROGRAM});
    for (std::string& word : words) command.arguments.push_back(std::move(word));
    return command;
  }
  harness::Finished run(const std::string& name, std::vector<std::string> words,
                        const std::string& how = "--direct") {
    auto finished = harness::run(command(name, 1, std::move(words), how));
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  }
  harness::Child start(const std::string& name, std::vector<std::string> words, std::uint32_t weight = 1,
                       const std::string& how = "--direct") {
    auto child = harness::Child::start(command(name, weight, std::move(words), how));
    EXPECT_TRUE(child);
    return std::move(child).value();
  }
  /// Waits for a line that begins so, and keeps all lines.
  bool says(harness::Child& child, const std::string& part) {
    return eventually([&] {
             for (std::string& line : child.read_lines()) lines_.push_back(std::move(line));
             return has_line(lines_, part) || child.ended();
           }) &&
           has_line(lines_, part);
  }
  nlohmann::json session_of(const std::string& name) {
    const auto found = tenant(name);
    return found.is_null() || found["sessions"].empty() ? nlohmann::json() : found["sessions"][0];
  }
  std::uint64_t device_time(const std::string& name) {
    const auto found = tenant(name);
    return found.is_null() ? 0 : found["device_time_ns"][0].get<std::uint64_t>();
  }
  /// True when one has had so many times the other's device time, while the other had half a second of it. A
  /// machine that is busy with other things may keep a tenant from its next launch: then the next half tells.
  bool comes_to_have(const std::string& one, const std::string& other, double least, double most) {
    double ratio = 0;
    const bool has =
        eventually([&] { return device_time(one) > 0 && device_time(other) > 0; }) && eventually([&] {
          const auto one_before = device_time(one), other_before = device_time(other);
          if (!eventually([&] { return device_time(other) > other_before + 500'000'000; })) return false;
          ratio = static_cast<double>(device_time(one) - one_before) /
                  static_cast<double>(device_time(other) - other_before);
          return ratio > least && ratio < most;
        });
    EXPECT_TRUE(has) << one << " had " << ratio << " times the time of " << other;
    return has;
  }

  std::vector<std::string> lines_;
};

TEST_F(Direct, IsOffUnlessTheConfigurationSaysOtherwise) {
  start_daemon("");
  const auto finished = run("alice", {"count", "1"});
  EXPECT_EQ(1, finished.status);
  // Nor by the library alone, which the daemon refuses.
  const auto past = harness::run({{FAIRGV_DIRECT_PROGRAM, "count", "1"},
                                  {{"LD_LIBRARY_PATH", FAIRGV_DIRECT_CUDA_DIR},
                                   {"FAIRGV_SOCKET", tenancy->socket()},
                                   {"FAIRGV_TENANT", "alice"}}});
  ASSERT_TRUE(past);
  EXPECT_TRUE(has_line(past->lines, "direct mode is off for tenant alice")) << joined(past.value());
  EXPECT_TRUE(has_line(past->lines, "cuInit(0): 100")) << joined(past.value());
}

TEST_F(Direct, ATenantMayHaveItAlone) {
  start_daemon("[tenant.\"alice\"]\ndirect = \"on\"\n");
  const auto alice = run("alice", {"count", "10"}, "");
  EXPECT_TRUE(has_line(alice.lines, "counted 10")) << joined(alice);
  const auto bob = run("bob", {"count", "10"});
  EXPECT_EQ(1, bob.status) << joined(bob);
}

TEST_F(Direct, ItRunsAndIsMarked) {
  auto alice = start("alice", {"busy", "0"});
  ASSERT_TRUE(says(alice, "busy")) << ::testing::PrintToString(lines_);
  const auto session = session_of("alice");
  EXPECT_EQ(true, session["direct"]);
  EXPECT_EQ(session["pid"], session["worker_pid"]);
  EXPECT_TRUE(has_line(fairgv({"ps"}).lines, "* in direct mode"));
  EXPECT_TRUE(eventually([&] { return device_time("alice") > 0; }));
}

TEST_F(Direct, ARemotedProgramIsNotMarked) {
  auto alice = start("alice", {"busy", "0"}, 1, "--no-direct");
  ASSERT_TRUE(says(alice, "busy")) << ::testing::PrintToString(lines_);
  EXPECT_EQ(false, session_of("alice")["direct"]);
  EXPECT_FALSE(has_line(fairgv({"ps"}).lines, "direct mode"));
}

TEST_F(Direct, KillEndsTheProgram) {
  auto alice = start("alice", {"busy", "0"});
  ASSERT_TRUE(says(alice, "busy")) << ::testing::PrintToString(lines_);
  const std::string session = std::to_string(session_of("alice")["session"].get<int>());
  EXPECT_EQ(0, fairgv({"kill", session}).status);
  EXPECT_EQ(137, alice.wait());
  EXPECT_TRUE(eventually([&] { return sessions_of("alice") == 0; }));
}

TEST_F(Direct, AProgramThatIsKilledLeavesNothing) {
  auto alice = start("alice", {"busy", "0"});
  auto bob = start("bob", {"busy", "0"});
  ASSERT_TRUE(says(alice, "busy"));
  ASSERT_TRUE(eventually([&] { return device_time("alice") > 0 && device_time("bob") > 0; }));
  ::kill(alice.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return sessions_of("alice") == 0; }));
  const auto before = device_time("bob");
  EXPECT_TRUE(eventually([&] { return device_time("bob") > before + 50'000'000; }));
  const auto found = tenant("alice");
  if (!found.is_null()) {
    EXPECT_EQ(0, found["memory_used"][0]);
  }
}

TEST_F(Direct, TheDaemonsEndFailsWorkAndNothingElse) {
  auto alice = start("alice", {"until-it-fails"});
  ASSERT_TRUE(says(alice, "busy"));
  EXPECT_EQ(0, fairgv({"stop"}).status);
  ASSERT_TRUE(says(alice, "failed: 46")) << ::testing::PrintToString(lines_);
  EXPECT_TRUE(has_line(lines_, "the session of this process is over"));
  EXPECT_EQ(0, alice.wait());
}

TEST_F(Direct, GoesOnOverARestartOfTheDaemon) {
  auto alice = start("alice", {"busy", "0"});
  ASSERT_TRUE(says(alice, "busy"));
  ASSERT_TRUE(eventually([&] { return device_time("alice") > 0; }));
  const auto restarted = fairgv({"restart"});
  EXPECT_EQ(0, restarted.status) << joined(restarted);
  EXPECT_EQ(true, session_of("alice")["direct"]);
  const auto before = device_time("alice");
  EXPECT_TRUE(eventually([&] { return device_time("alice") > before + 20'000'000; }));
  const std::string session = std::to_string(session_of("alice")["session"].get<int>());
  EXPECT_EQ(0, fairgv({"kill", session}).status);
  EXPECT_EQ(137, alice.wait());
}

TEST_F(Direct, ForksAndExecsHarmNobody) {
  const auto forks = run("alice", {"fork"});
  EXPECT_TRUE(has_line(forks.lines, "counted 4")) << joined(forks);
  const auto children = run("alice", {"fork-before", "4"});
  EXPECT_TRUE(has_line(children.lines, "0 of 4 children failed")) << joined(children);
  // The program that it becomes is not ended with the session.
  EXPECT_EQ(0, run("alice", {"exec", "/bin/true"}).status);
  EXPECT_TRUE(eventually([&] { return sessions_of("alice") == 0; }));
}

TEST_F(Direct, TheQuotaHoldsWhateverThreadsDo) {
  constexpr std::uint64_t kLimit = 64 * kMiB;
  start_daemon("[cuda]\ndirect = \"fallback\"\n[tenants]\ndefault_memory = \"64MiB\"\n");
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto finished = run("alice", {"allocate", "32", std::to_string(kLimit), std::to_string(seed)});
  EXPECT_EQ(0, finished.status) << joined(finished);
  unsigned long long total = 0, free_before = 0, free_after = 0;
  long granted = 0, refused = 0, most = 0;
  for (const std::string& line : finished.lines) {
    std::sscanf(line.c_str(), "total %llu free %llu", &total, &free_before);
    std::sscanf(line.c_str(), "granted %ld refused %ld most %ld left %llu", &granted, &refused, &most,
                &free_after);
  }
  EXPECT_EQ(kLimit, total) << joined(finished);
  EXPECT_LE(most, static_cast<long>(kLimit));
  EXPECT_GT(granted, 0);
  EXPECT_GT(refused, 0) << "the limit was never met";
  EXPECT_EQ(free_before, free_after) << "freed memory has not come back";
}

TEST_F(Direct, EveryKindOfMemoryIsCharged) {
  const auto finished = run("alice", {"every-kind"});
  EXPECT_EQ(0, finished.status) << joined(finished);
  const auto bytes_of = [&finished](const std::string& what) {
    for (const std::string& line : finished.lines) {
      if (line.starts_with(what + " ")) return std::strtod(line.c_str() + what.size(), nullptr);
    }
    return 0.0;
  };
  // The driver's own books have variables of the module in them, too: less than a page.
  constexpr double kPage = 4096;
  EXPECT_NEAR(bytes_of("pitched"), 1 << 20, kPage) << joined(finished);
  EXPECT_NEAR(bytes_of("array"), 4 << 20, kPage) << joined(finished);
  EXPECT_NEAR(bytes_of("async"), 1 << 20, kPage) << joined(finished);
  // The context's memory, too: the work's 4 MiB went with it.
  EXPECT_NEAR(bytes_of("back"), 4 << 20, kPage) << joined(finished);
}

TEST_F(Direct, ExecutableGraphsAreChargedWithTheirAllocations) {
  start_daemon("[cuda]\ndirect = \"fallback\"\n[tenants]\ndefault_memory = \"64MiB\"\n");
  const auto finished = run("alice", {"graphs", std::to_string(8 * kMiB)});
  EXPECT_EQ(0, finished.status) << joined(finished);
  EXPECT_TRUE(has_line(finished.lines, "described 0")) << joined(finished);
  EXPECT_TRUE(has_line(finished.lines, "executable " + std::to_string(8 * kMiB))) << joined(finished);
  EXPECT_TRUE(has_line(finished.lines, "beyond the limit: 2")) << joined(finished);
  EXPECT_TRUE(has_line(finished.lines, "destroyed 0")) << joined(finished);
  EXPECT_TRUE(has_line(finished.lines, "back 0")) << joined(finished);
}

TEST_F(Direct, AProgramThatTakesTheDeviceWithoutATurnIsEnded) {
  auto rogue = start("rogue", {"take-the-turn"});
  auto bob = start("bob", {"busy", "0"});
  EXPECT_EQ(137, rogue.wait());
  const auto before = device_time("bob");
  EXPECT_TRUE(eventually([&] { return device_time("bob") > before + 20'000'000; }));
}

TEST_F(Direct, AProgramThatNeverDrainsIsEnded) {
  start_daemon("hold_limit_s = 0.5\n" + std::string(kAllowed));
  auto rogue = start("rogue", {"never-drain"});
  ASSERT_TRUE(says(rogue, "busy"));
  auto bob = start("bob", {"busy", "0"});
  EXPECT_EQ(137, rogue.wait());
  EXPECT_TRUE(eventually([&] { return device_time("bob") > 20'000'000; }));
}

TEST_F(Direct, TwoShareByWeight) {
  auto heavy = start("heavy", {"busy", "0"}, 3);
  auto light = start("light", {"busy", "0"}, 1);
  EXPECT_TRUE(comes_to_have("heavy", "light", 2.2, 3.8));
}

TEST_F(Direct, SharesWithARemotedProgram) {
  auto direct = start("direct", {"busy", "0"});
  auto remoted = start("remoted", {"busy", "0"}, 1, "--no-direct");
  EXPECT_TRUE(comes_to_have("direct", "remoted", 0.7, 1.4));
  // One device, not two.
  EXPECT_EQ(1U, ps()["devices"].size());
}

}  // namespace fairgv::integration
