// Ends that count as units of service: of the kernels or marks that the daemon names, and of nothing else.
#include "runtime/session/service_unit.hpp"
#include "runtime/vgpu/graph/mark.hpp"
#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

struct ServiceUnitsTest : ExecutorTest {
  void count(const char* units) {
    promises[0].counted = session::number_of(session::parse_service_unit(units, "").value());
  }
  std::uint64_t units() const { return promises[0].units; }
  void mark(const char* label) {
    const std::uint64_t number = session::number_of(session::ServiceUnit::Kind::marks, label);
    ASSERT_TRUE(executor.enqueue_after(std::make_shared<Mark>(lane, 0, number), {}, {}, {}));
  }
};

TEST_F(ServiceUnitsTest, ALaunchOfTheNamedKernelCountsWhenItEnds) {
  count("kernel:fake");
  enqueue(1);
  enqueue(2);
  grant_now();
  EXPECT_EQ(units(), 0u);
  device.complete_one();
  EXPECT_EQ(units(), 1u);
  device.complete_all();
  EXPECT_EQ(units(), 2u);
  count("kernel:other");
  enqueue(3);
  loop.pump();
  device.complete_all();
  EXPECT_EQ(units(), 2u);
}

TEST_F(ServiceUnitsTest, AMarkCountsWhenTheCommandsBeforeItHaveEnded) {
  count("marks");
  enqueue(1);
  mark("frame");
  mark("");
  finish({});
  grant_now();
  EXPECT_EQ(units(), 0u);
  device.complete_all();
  EXPECT_EQ(units(), 2u);
}

TEST_F(ServiceUnitsTest, OnlyMarksOfTheNamedLabelCount) {
  count("marks:frame");
  mark("frame");
  mark("scene");
  mark("");
  loop.pump();
  EXPECT_EQ(units(), 1u);
}

TEST_F(ServiceUnitsTest, ALaunchThatFailsCountsNothing) {
  count("kernel:fake");
  enqueue(1, {}, {}, -5);
  grant_now();
  EXPECT_EQ(units(), 0u);
  count("none");
  enqueue(2);
  loop.pump();
  device.complete_all();
  EXPECT_EQ(units(), 0u);
}

}  // namespace
}  // namespace fairgv::vgpu
