// Random programs compute the same on the driver, as tenants, and while their sessions are moved at random
// moments, over two devices of PoCL.
//
// FAIRGV_MOVES_PROGRAMS: how many programs (default 6); FAIRGV_MOVES_FIRST: the seed of the first (default
// 1). The programs follow from their own seeds; when and where to they are moved, from FAIRGV_TEST_SEED.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/harness/seed.hpp"
#include "tests/integration/system/fixture.hpp"
#include "tests/moves/plan/random.hpp"

namespace fairgv::integration {
namespace {

using Lines = std::vector<std::string>;

/// How long a program takes at least that is to be moved.
constexpr std::chrono::milliseconds kStretch{1500};
constexpr std::uint64_t kMostMoves = 5;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? std::stoull(value) : otherwise;
}

/// Its checks have numbers; what its kernels print may come in any order.
Lines sorted(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += "| " + line + '\n';
  return text;
}

struct RandomPrograms : System {
  void SetUp() override {
    auto started = harness::Tenancy::start({}, {{"POCL_DEVICES", "pthread pthread"}},
                                           "memory = \"2GiB\"\n[device.1]\nsame_as = 1\n");
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
  }

  /// Calls `check` with the seed of each program, until one fails.
  template <class Check>
  static void for_each_program(const Check& check) {
    const std::uint64_t first = number_of("FAIRGV_MOVES_FIRST", 1);
    const std::uint64_t count = number_of("FAIRGV_MOVES_PROGRAMS", 6);
    for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
      SCOPED_TRACE("random_opencl " + std::to_string(seed));
      check(seed);
    }
  }

  static std::string tenant_of(std::uint64_t seed) { return "program-" + std::to_string(seed); }

  static std::vector<std::string> program(std::uint64_t seed, std::chrono::milliseconds stretch = {}) {
    return {harness::beside("random_opencl"), std::to_string(seed), "--stretch",
            std::to_string(stretch.count())};
  }

  /// The lines that the program prints.
  static Lines lines_of(const harness::CommandLine& command) {
    const auto finished = harness::run(command);
    EXPECT_TRUE(finished);
    if (!finished) return {};
    EXPECT_EQ(finished->status, 0) << joined(finished.value());
    return sorted(finished->lines);
  }

  harness::CommandLine as_tenant(std::uint64_t seed, const std::string& slice,
                                 std::chrono::milliseconds stretch = {}) {
    auto command = tenancy->tenant(tenant_of(seed), 1, program(seed, stretch));
    command.environment.emplace_back("FAIRGV_SLICE", slice);
    return command;
  }
};

TEST_F(RandomPrograms, ComputeTheSameAsTenantsWhenEveryLaunchIsCutAtRandom) {
  const std::string slice = "random:" + std::to_string(harness::printed_seed());
  for_each_program([&](std::uint64_t seed) {
    auto bare = harness::bare(program(seed));
    bare.environment.emplace_back("POCL_DEVICES", "pthread pthread");
    const Lines expected = lines_of(bare);
    ASSERT_FALSE(expected.empty());
    const Lines found = lines_of(as_tenant(seed, slice));
    EXPECT_EQ(found, expected) << "as a tenant:\n"
                               << text_of(found) << "on the driver:\n"
                               << text_of(expected);
  });
}

struct MovedPrograms : RandomPrograms {
  /// `fairgv migrate`, which may only fail when the program has ended.
  void move(harness::Child& child, std::uint64_t seed, Lines& printed) {
    std::vector<std::string> command{"migrate", tenant_of(seed)};
    const bool goes = !random_.one_in(3);  // to the other device; else it gets a new worker where it is
    if (goes) command.insert(command.end(), {"--device", std::to_string(1 - device_)});
    const auto finished = fairgv(command);
    said_ += joined(finished);
    if (finished.status == 0) {
      ++moves_;
      if (goes) device_ = 1 - device_;
      return;
    }
    EXPECT_TRUE(eventually([&] {
      take_lines(child, printed);
      return child.ended();
    })) << "the program goes on, and is not moved";
  }

  static void take_lines(harness::Child& child, Lines& printed) {
    for (std::string& line : child.read_lines()) printed.push_back(std::move(line));
  }

  /// The lines that the program prints while its session is moved.
  Lines lines_of_moved(std::uint64_t seed, const std::string& slice) {
    moves_ = 0;
    device_ = 0;
    said_.clear();
    auto started = harness::Child::start(as_tenant(seed, slice, kStretch));
    EXPECT_TRUE(started);
    if (!started) return {};
    harness::Child child = std::move(started).value();
    Lines printed;
    EXPECT_TRUE(eventually([&] { return sessions_of(tenant_of(seed)) == 1; }));
    std::vector<std::chrono::milliseconds> moments;
    for (std::uint64_t more = random_.between(1, kMostMoves); more > 0; --more)
      moments.emplace_back(random_.below(static_cast<std::uint64_t>(kStretch.count())));
    std::sort(moments.begin(), moments.end());
    // Soon enough that each program is moved.
    moments.front() = std::min(moments.front(), kStretch / 4);
    const auto start = std::chrono::steady_clock::now();
    for (const std::chrono::milliseconds moment : moments) {
      while (!child.ended() && std::chrono::steady_clock::now() < start + moment) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        take_lines(child, printed);
      }
      if (!child.ended()) move(child, seed, printed);
    }
    const auto finished = harness::finish(std::move(child));
    printed.insert(printed.end(), finished.lines.begin(), finished.lines.end());
    EXPECT_EQ(finished.status, 0) << text_of(printed);
    EXPECT_GT(moves_, 0U) << "the program has ended before its session was moved";
    return sorted(std::move(printed));
  }

  moves::Random random_{0};
  // Of the program that runs:
  std::uint64_t moves_ = 0;
  int device_ = 0;
  std::string said_;  // by the command
};

TEST_F(MovedPrograms, ComputeTheSameAsUnmoved) {
  const std::uint64_t moments = harness::printed_seed();
  std::uint64_t all_moves = 0;
  for_each_program([&](std::uint64_t seed) {
    random_ = moves::Random(moments + seed);
    const std::string slice = "random:" + std::to_string(random_.next());
    const Lines expected = lines_of(as_tenant(seed, "off"));
    ASSERT_FALSE(expected.empty());
    const Lines found = lines_of_moved(seed, slice);
    EXPECT_EQ(found, expected) << said_ << "moved:\n" << text_of(found) << "unmoved:\n" << text_of(expected);
    all_moves += moves_;
  });
  RecordProperty("moves", std::to_string(all_moves));
}

}  // namespace
}  // namespace fairgv::integration
