// A program that takes more of its session than allowed is refused with OpenCL's errors, and works on.
#include <sstream>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

constexpr int kOutOfResources = -5;
constexpr int kOutOfHostMemory = -6;

struct Refusal {
  int count = 0;  // that the program was given
  int error = 0;
  std::string afterwards;
};

struct Limits : ::testing::Test {
  static Refusal run(const std::string& config, const std::string& what) {
    Refusal refusal;
    const auto tenancy = harness::Tenancy::start({}, {}, "[session]\n" + config);
    EXPECT_TRUE(tenancy);
    const auto finished =
        harness::run(tenancy->tenant("greedy", 1, {harness::beside("opencl_limits"), what}));
    EXPECT_TRUE(finished && finished->lines.size() == 1);
    std::istringstream(finished->lines.at(0)) >> refusal.count >> refusal.error >> refusal.afterwards;
    return refusal;
  }
};

TEST_F(Limits, OfObjectsRefuseTheNext) {
  const Refusal refusal = run("objects = 1000", "objects");
  EXPECT_EQ(refusal.error, kOutOfHostMemory);
  EXPECT_EQ(refusal.count, 998);  // beside the context and the queue
  EXPECT_EQ(refusal.afterwards, "works");
}

TEST_F(Limits, OfCommandsRefuseWhileAUserEventHoldsThem) {
  const Refusal refusal = run("commands = 5000", "commands");
  EXPECT_EQ(refusal.error, kOutOfResources);
  EXPECT_GE(refusal.count, 5'000);
  EXPECT_LT(refusal.count, 5'000 + 20'000);  // the room of a ring
  EXPECT_EQ(refusal.afterwards, "works");
}

TEST_F(Limits, OfSharedMemoryAreThoseOfItsFile) {
  const Refusal refusal = run("shared_memory = \"256MiB\"", "memory");
  EXPECT_GT(refusal.count, 10);
  EXPECT_LE(refusal.count, 16);
  EXPECT_EQ(refusal.afterwards, "works");
}

}  // namespace
}  // namespace fairgv::integration
