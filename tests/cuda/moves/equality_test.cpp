// Random CUDA programs compute the same while their sessions get new workers at random moments, or are parked
// and go on, over the software driver.
#include <cstdint>
#include <string>

#include "tests/moves/moved_programs.hpp"

namespace fairgv::integration {
namespace {

constexpr std::uint64_t kPrograms = 3;

struct RandomCudaPrograms : MovedPrograms {
  RandomCudaPrograms() : MovedPrograms("random_cuda", kPrograms) {}

  /// `fairgv migrate`, or `park` and `resume`.
  bool move(std::uint64_t seed) {
    const std::string name = tenant_of(seed);
    if (!random_.one_in(3)) return succeeds("migrate", name);
    return succeeds("park", name) && succeeds("resume", name);
  }
  bool succeeds(const std::string& command, const std::string& name) {
    const auto finished = fairgv({command, name});
    said_ += joined(finished);
    return finished.status == 0;
  }

  std::string said_;  // by the commands about the program that runs
};

TEST_F(RandomCudaPrograms, ComputeTheSameMovedAsUnmoved) {
  const std::uint64_t moments = harness::printed_seed();
  std::uint64_t all_moves = 0;
  for_each_program([&](std::uint64_t seed) {
    random_ = moves::Random(moments + seed);
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
