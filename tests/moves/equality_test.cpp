// Random OpenCL programs compute the same on the driver, as tenants, and while their sessions are moved at
// random moments, over two devices of PoCL.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/moves/moved_programs.hpp"

namespace fairgv::integration {
namespace {

constexpr std::uint64_t kPrograms = 6;

struct RandomPrograms : MovedPrograms {
  RandomPrograms() : MovedPrograms("random_opencl", kPrograms) {}
  void SetUp() override {
    auto started = harness::Tenancy::start({}, {{"POCL_DEVICES", "pthread pthread"}},
                                           "memory = \"2GiB\"\n[device.1]\nsame_as = 1\n");
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
  }

  /// `fairgv migrate`.
  bool move(std::uint64_t seed) {
    std::vector<std::string> command{"migrate", tenant_of(seed)};
    const bool goes = !random_.one_in(3);  // to the other device; else it gets a new worker where it is
    if (goes) command.insert(command.end(), {"--device", std::to_string(1 - device_)});
    const auto finished = fairgv(command);
    said_ += joined(finished);
    if (finished.status != 0) return false;
    if (goes) device_ = 1 - device_;
    return true;
  }

  // Of the program that runs:
  int device_ = 0;
  std::string said_;  // by the command
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

TEST_F(RandomPrograms, ComputeTheSameMovedAsUnmoved) {
  const std::uint64_t moments = harness::printed_seed();
  std::uint64_t all_moves = 0;
  for_each_program([&](std::uint64_t seed) {
    random_ = moves::Random(moments + seed);
    device_ = 0;
    said_.clear();
    const std::string slice = "random:" + std::to_string(random_.next());
    const Lines expected = lines_of(as_tenant(seed, "off"));
    ASSERT_FALSE(expected.empty());
    const Lines found = lines_of_moved(seed, slice, [&] { return move(seed); });
    EXPECT_EQ(found, expected) << said_ << "moved:\n" << text_of(found) << "unmoved:\n" << text_of(expected);
    all_moves += moves_;
  });
  RecordProperty("moves", std::to_string(all_moves));
}

}  // namespace
}  // namespace fairgv::integration
