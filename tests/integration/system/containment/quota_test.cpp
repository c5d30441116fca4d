// Memory quotas of whole tenants: limits across processes, reserves, limits that change, and a ledger that
// always ends at zero.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <numeric>
#include <ostream>

#include "tests/harness/seed.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct QuotaSystem : System {
  harness::CommandLine limited(const std::string& tenant_name, const std::string& memory,
                               std::vector<std::string> program) {
    program[0] = harness::beside(program[0]);
    auto command = tenancy->tenant(tenant_name, 1, std::move(program));
    if (!memory.empty()) command.environment.emplace_back("FAIRGV_MEM", memory);
    return command;
  }

  harness::Child start(const std::string& tenant_name, const std::string& memory,
                       std::vector<std::string> program) {
    auto child = harness::Child::start(limited(tenant_name, memory, std::move(program)));
    EXPECT_TRUE(child);
    return std::move(child).value();
  }

  std::uint64_t used(const std::string& name) {
    const auto found = tenant(name);
    return found.is_null() ? 0 : found["memory_used"][0].get<std::uint64_t>();
  }

  /// The memory of device 0 that all tenants hold.
  std::uint64_t used_by_all() { return ps()["devices"][0]["memory_used"]; }

  /// The error of each allocation of `quota_program hold`, once the program has made all of them.
  static std::vector<int> errors_of(harness::Child& child) {
    std::vector<int> errors;
    bool done = false;
    EXPECT_TRUE(eventually([&] {
      for (const std::string& line : child.read_lines()) {
        const auto object = harness::parse_line(line);
        done = done || object.value("done", false);
        if (object.contains("error")) errors.push_back(object["error"]);
      }
      return done || child.ended();
    }));
    return errors;
  }
};

// ---- every path of the API

struct Table {
  const char* name;
  const char* filter;
  std::optional<std::string> direct;  // FAIRGV_DIRECT_MEMORY
};

void PrintTo(const Table& table, std::ostream* out) {
  *out << table.name;
}

struct QuotaTable : QuotaSystem, ::testing::WithParamInterface<Table> {};

TEST_P(QuotaTable, HoldsForEveryWayToAllocate) {
  auto command =
      limited("quota", "64MiB",
              {"opencl_quota_test", "--gtest_brief=1", std::string("--gtest_filter=") + GetParam().filter});
  command.environment.emplace_back("FAIRGV_DIRECT_MEMORY", GetParam().direct);
  command.environment.emplace_back("FAIRGV_SOCKET", tenancy->socket());
  const auto finished = harness::run(command);
  ASSERT_TRUE(finished);
  std::string output;
  for (const std::string& line : finished->lines) output += line + '\n';
  EXPECT_EQ(finished->status, 0) << output;
  EXPECT_EQ(output.find("0 tests ran"), std::string::npos) << output;
  EXPECT_TRUE(eventually([&] { return sessions_of("quota") == 0; }));
  EXPECT_TRUE(eventually([&] { return used_by_all() == 0; }));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // each a minute there
INSTANTIATE_TEST_SUITE_P(Each, QuotaTable,
                         ::testing::Values(Table{"Paths", "Table/*", std::nullopt},
                                           Table{"Finished", "*Finished*", std::nullopt},
                                           Table{"SmallWithoutDirectMemory", "*Small*", "off"}),
                         [](const auto& test) { return std::string(test.param.name); });
#else
INSTANTIATE_TEST_SUITE_P(
    Each, QuotaTable,
    ::testing::Values(
        Table{"Paths", "Table/*", std::nullopt}, Table{"PathsWithoutDirectMemory", "Table/*", "off"},
        Table{"Release", "*Release.*:*/ReleaseAfterEachUse.*:*/ReleaseBeforeEachWait.*", std::nullopt},
        Table{"ReleaseWithoutDirectMemory", "*Release.*:*/ReleaseAfterEachUse.*:*/ReleaseBeforeEachWait.*",
              "off"},
        Table{"InUse", "*InUse*", std::nullopt}, Table{"Finished", "*Finished*", std::nullopt},
        Table{"FinishedWithoutDirectMemory", "*Finished*", "off"}, Table{"Small", "*Small*", std::nullopt},
        Table{"SmallWithoutDirectMemory", "*Small*", "off"}, Table{"Device", "*Device*", std::nullopt}),
    [](const auto& test) { return std::string(test.param.name); });
#endif

// ---- tenants and processes

TEST_F(QuotaSystem, ProcessesOfATenantShareItsLimit) {
  auto first = start("alice", "64MiB", {"quota_program", "hold", std::to_string(40 * kMiB)});
  EXPECT_EQ(errors_of(first), std::vector{CL_SUCCESS});
  auto second = start("alice", "64MiB",
                      {"quota_program", "hold", std::to_string(24 * kMiB + 1), std::to_string(24 * kMiB)});
  EXPECT_EQ(errors_of(second), (std::vector{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_SUCCESS}));
  EXPECT_EQ(used("alice"), 64 * kMiB);
  EXPECT_EQ(used_by_all(), 64 * kMiB);
  auto other = start("bob", "", {"quota_program", "hold", std::to_string(100 * kMiB)});
  EXPECT_EQ(errors_of(other), std::vector{CL_SUCCESS}) << "a limit is its tenant's only";
}

TEST_F(QuotaSystem, ATenantCanBeGivenNothing) {
  start_daemon("[tenant.alice]\nmemory = \"0\"");
  auto program = start("alice", "", {"quota_program", "hold", "1"});
  EXPECT_EQ(errors_of(program), std::vector{CL_INVALID_BUFFER_SIZE}) << "no device has a byte for it";
  auto wish = start("bob", "0", {"quota_program", "hold", "1"});
  EXPECT_EQ(errors_of(wish), std::vector<int>{}) << "a wish for no memory is reported as a mistake";
}

TEST_F(QuotaSystem, DeathReturnsEverything) {
  const std::vector<std::string> program{"quota_program", "hold", std::to_string(40 * kMiB), "1000"};
  auto client = start("alice", "64MiB", program);
  ASSERT_EQ(errors_of(client).size(), 2);
  EXPECT_GE(used("alice"), 40 * kMiB + 1000);
  ::kill(client.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return used_by_all() == 0; })) << "of a killed program";

  auto next = start("alice", "64MiB", program);
  EXPECT_EQ(errors_of(next), (std::vector{CL_SUCCESS, CL_SUCCESS}));
  ::kill(tenant("alice")["sessions"][0]["worker_pid"], SIGKILL);
  EXPECT_TRUE(eventually([&] { return used_by_all() == 0; })) << "of a killed worker";
}

/// 4 processes with 8 threads each; the memory of all of them, seen from outside, stays within the limit.
TEST_F(QuotaSystem, AStormOfManyThreadsStaysWithinTheLimit) {
  const std::uint64_t seed = harness::printed_seed();
  std::vector<harness::Child> programs;
  for (std::uint64_t i = 0; i < 4; ++i) {
    programs.push_back(
        start("alice", "64MiB", {"quota_program", "storm", std::to_string(seed + 1000 * i), "8", "400"}));
  }
  std::vector<std::string> lines;
  std::uint64_t most = 0;
  const auto take_lines = [&] {
    for (harness::Child& program : programs) {
      for (std::string& line : program.read_lines()) lines.push_back(std::move(line));
    }
  };
  while (
      std::any_of(programs.begin(), programs.end(), [](const auto& program) { return !program.ended(); })) {
    const std::uint64_t now = used("alice");
    ASSERT_LE(now, 64 * kMiB);
    most = std::max(most, now);
    take_lines();
  }
  take_lines();
  ASSERT_EQ(lines.size(), programs.size());
  int refused = 0;
  for (const std::string& line : lines) {
    const auto counts = harness::parse_line(line);
    EXPECT_GT(counts.value("granted", 0), 0) << line;
    EXPECT_EQ(counts.value("wrong", -1), 0) << line;
    refused += counts.value("refused", 0);
  }
  EXPECT_GT(refused, 0) << "the limit was never met";
  EXPECT_GT(most, 0);
  for (harness::Child& program : programs) EXPECT_EQ(program.wait(), 0);
  EXPECT_TRUE(eventually([&] { return sessions_of("alice") == 0; }));
  // A session is not shown any more while its worker still ends, and the worker still holds its memory.
  EXPECT_TRUE(eventually([&] { return used_by_all() == 0; }));
}

TEST_F(QuotaSystem, ALimitThatIsLoweredStopsNewAllocationsAndTakesNothing) {
  auto program = start("alice", "", {"quota_program", "grow", std::to_string(kMiB)});
  struct Line {
    std::uint64_t held = 0;
    int error = 1;
  } last;
  const auto read_until = [&](const std::function<bool()>& so) {
    return eventually([&] {
             for (const std::string& line : program.read_lines()) {
               const auto object = harness::parse_line(line);
               if (object.contains("held")) last = {object["held"], object["error"]};
               if (so()) return true;
             }
             return program.ended();
           }) &&
           !program.ended();
  };
  ASSERT_TRUE(read_until([&] { return last.held >= 8 * kMiB; }));
  const auto lowered = fairgv({"set", "alice", "--mem", "4MiB"});
  EXPECT_EQ(lowered.lines, std::vector<std::string>{"alice: memory 4MiB"});
  ASSERT_TRUE(read_until([&] { return last.error == CL_MEM_OBJECT_ALLOCATION_FAILURE; }));
  const std::uint64_t held = last.held;
  EXPECT_GE(held, 8 * kMiB);
  EXPECT_EQ(used("alice"), held) << "its memory stays charged";
  EXPECT_EQ(tenant("alice")["memory_limit"][0], 4 * kMiB);
  EXPECT_EQ(fairgv({"set", "alice", "--mem", std::to_string(held + 3 * kMiB)}).status, 0);
  ASSERT_TRUE(read_until([&] { return last.held > held && last.error == CL_MEM_OBJECT_ALLOCATION_FAILURE; }));
  EXPECT_EQ(last.held, held + 3 * kMiB);
}

TEST_F(QuotaSystem, AnAmountThatIsNoneIsRefusedInOneLine) {
  EXPECT_EQ(fairgv({"set", "alice", "--mem", "much"}).status, 2);
  EXPECT_EQ(fairgv({"set", "alice", "--mem", "1GiB"}).status, 1) << "there is no such tenant";
  const auto refused = harness::run(
      {{harness::beside("fairgv"), "run", "--socket", tenancy->socket(), "--mem", "1XB", "--", "true"}, {}});
  EXPECT_EQ(refused->status, 2);
}

TEST_F(QuotaSystem, ADaemonThatIsReplacedKnowsTheLedger) {
  auto program = start("alice", "64MiB", {"quota_program", "hold", std::to_string(40 * kMiB)});
  ASSERT_EQ(errors_of(program), std::vector{CL_SUCCESS});
  ASSERT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_EQ(used("alice"), 40 * kMiB);
  EXPECT_EQ(tenant("alice")["memory_limit"][0], 64 * kMiB);
  auto next =
      start("alice", "", {"quota_program", "hold", std::to_string(25 * kMiB), std::to_string(24 * kMiB)});
  EXPECT_EQ(errors_of(next), (std::vector{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_SUCCESS}));
  ::kill(program.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return used("alice") == 24 * kMiB; }));
}

// ---- limits in the configuration

using QuotaConfiguration = QuotaSystem;

TEST_F(QuotaConfiguration, ReservesAreKeptForTheirTenants) {
  start_daemon(R"(memory = "100MiB"
[tenant.alice]
memory_reserve = "40MiB"
[tenant.bob]
memory_reserve = "30%"
)");
  const auto hold = [](std::uint64_t mebibytes) { return std::to_string(mebibytes * kMiB); };
  auto carol = start("carol", "", {"quota_program", "hold", hold(31), hold(30), hold(1)});
  EXPECT_EQ(errors_of(carol),
            (std::vector{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_SUCCESS, CL_MEM_OBJECT_ALLOCATION_FAILURE}));
  auto alice = start("alice", "", {"quota_program", "hold", hold(41), hold(40), hold(1)});
  EXPECT_EQ(errors_of(alice),
            (std::vector{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_SUCCESS, CL_MEM_OBJECT_ALLOCATION_FAILURE}));
  auto bob = start("bob", "", {"quota_program", "hold", hold(30), hold(1)});
  EXPECT_EQ(errors_of(bob), (std::vector{CL_SUCCESS, CL_MEM_OBJECT_ALLOCATION_FAILURE}));
  EXPECT_EQ(used_by_all(), 100 * kMiB);
  EXPECT_EQ(ps()["devices"][0]["memory"], 100 * kMiB);
  EXPECT_EQ(ps()["devices"][0]["memory_reserved"], 70 * kMiB);
  ::kill(carol.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return used_by_all() == 70 * kMiB; })) << "hers is free";
  auto dave = start("dave", "", {"quota_program", "hold", hold(30)});
  EXPECT_EQ(errors_of(dave), std::vector{CL_SUCCESS});
}

TEST_F(QuotaConfiguration, DevicesShowTheLimitThatHolds) {
  start_daemon(R"(memory = "800MiB"
[tenants]
default_memory = "128MiB"
[tenant.alice]
memory = "10%"
)");
  const auto seen = [&](const std::string& tenant_name, const std::string& memory) {
    const auto finished = harness::run(limited(tenant_name, memory, {"quota_program", "info"}));
    EXPECT_TRUE(finished && finished->lines.size() == 1);
    const auto line = harness::parse_line(finished->lines.at(0));
    EXPECT_LE(line.value("max_allocation", std::uint64_t{0}), line.value("global", std::uint64_t{0}));
    return line.value("global", std::uint64_t{0});
  };
  EXPECT_EQ(seen("bob", ""), 128 * kMiB);
  EXPECT_EQ(seen("bob", "64MiB"), 64 * kMiB);
  EXPECT_EQ(seen("bob", "500MiB"), 128 * kMiB) << "more than the configuration allows";
  EXPECT_EQ(seen("alice", ""), 80 * kMiB);
  EXPECT_EQ(seen("alice", "50%"), 80 * kMiB);
}

}  // namespace
}  // namespace fairgv::integration
