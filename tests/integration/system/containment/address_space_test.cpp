// Programs whose address space is limited (ulimit -v) share less memory with their worker, and work.
#include <ostream>

#include "tests/harness/sanitized.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

/// A program's address space in MiB, and its FAIRGV_DIRECT_MEMORY.
struct Limit {
  const char* name;
  std::uint64_t mib;
  const char* direct;
};

void PrintTo(const Limit& limit, std::ostream* out) {
  *out << limit.name;
}

struct AddressSpace : System, ::testing::WithParamInterface<Limit> {
  void SetUp() override {
    if (harness::kSanitized) GTEST_SKIP() << "sanitizers need the address space";
    System::SetUp();
  }

  /// The program under the limit, with its standard error among the lines of its output.
  harness::CommandLine limited(std::vector<std::string> program) {
    std::string line = "ulimit -v " + std::to_string(GetParam().mib * 1024) + "; exec";
    for (const std::string& word : program) line += " '" + word + "'";
    auto command = tenancy->tenant("alice", 1, {"/bin/sh", "-c", line + " 2>&1"});
    command.environment.emplace_back("FAIRGV_DIRECT_MEMORY", GetParam().direct);
    return command;
  }
};

TEST_P(AddressSpace, ALimitedProgramComputesWhatItShouldAndIsToldOnce) {
  const auto finished =
      harness::run(limited({workload("matrixMul"), "--repetitions", "3", "--verify", "always"}));
  ASSERT_TRUE(finished);
  std::string output;
  int told = 0;
  for (const std::string& line : finished->lines) {
    output += "| " + line + '\n';
    if (line.find("ulimit -v") != std::string::npos) ++told;
  }
  EXPECT_EQ(finished->status, 0) << output;
  EXPECT_EQ(told, 1) << output;
}

TEST_P(AddressSpace, TheLargestBufferCanBeWrittenReadAndMadeFromContents) {
  const auto finished = harness::run(limited({harness::beside("quota_program"), "transfer"}));
  ASSERT_TRUE(finished);
  nlohmann::json result;
  for (const std::string& line : finished->lines) {
    if (auto object = harness::parse_line(line); object.is_object()) result = std::move(object);
  }
  ASSERT_TRUE(result.is_object()) << "it ended with " << finished->status;
  EXPECT_LT(result["bytes"].get<std::uint64_t>(), GetParam().mib * kMiB);
  EXPECT_GE(result["bytes"].get<std::uint64_t>(), GetParam().mib * kMiB / 16);
  EXPECT_EQ(result["error"], 0);
  EXPECT_EQ(result["wrong"], 0);
}

INSTANTIATE_TEST_SUITE_P(Each, AddressSpace,
                         ::testing::Values(Limit{"TwoGiB", 2048, "on"}, Limit{"TwoGiBNotDirect", 2048, "off"},
                                           Limit{"HalfAGiB", 512, "on"},
                                           Limit{"HalfAGiBNotDirect", 512, "off"}),
                         [](const auto& test) { return std::string(test.param.name); });

/// Programs may hold as many buffers as without the limit: buffers that do not fit into the arena go to the
/// driver.
TEST_P(AddressSpace, MoreBuffersThanTheArenaHoldsAreTheDrivers) {
  const std::string bytes = std::to_string(GetParam().mib * kMiB / 16);
  std::vector<std::string> program{harness::beside("quota_program"), "hold"};
  for (int i = 0; i < 40; ++i) program.push_back(bytes);
  auto child = harness::Child::start(limited(std::move(program)));
  ASSERT_TRUE(child);
  int made = 0;
  int refused = 0;
  bool done = false;
  EXPECT_TRUE(eventually([&] {
    for (const std::string& line : child->read_lines()) {
      const auto object = harness::parse_line(line);
      if (!object.is_object()) continue;
      done = done || object.value("done", false);
      if (object.contains("error")) ++(object["error"] == 0 ? made : refused);
    }
    return done || child->ended();
  }));
  EXPECT_EQ(made, 40);
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace fairgv::integration
