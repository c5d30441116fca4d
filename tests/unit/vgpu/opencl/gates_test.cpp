// Launches that are held between the making of their code and their run, while the program's next calls come.
#include "runtime/vgpu/opencl/gates.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/vgpu/opencl/fixture.hpp"

namespace fairgv::vgpu {
namespace {

struct HeldLaunches : OpenClTest {
  /// One compute unit of the device, which is the same each time; none: the driver makes no such part.
  std::optional<wire::DeviceIndex> first_unit() {
    const std::int64_t one_each[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    const auto reply = client.call(wire::CreateSubDevices{0, 0, one_each});
    EXPECT_TRUE(reply);
    if (!reply || reply->error != CL_SUCCESS) return std::nullopt;
    return reply->devices.front();
  }

  /// A launch on a device, with a context of its own.
  struct On {
    ObjectId queue, buffer;
  };
  On launch_on(wire::DeviceIndex device) {
    const wire::DeviceIndex devices[] = {device};
    context = client.new_object();
    client.send(wire::CreateContext{context, devices});
    program.reset();
    On on{client.new_object(), make_buffer(std::vector<float>(kFloats, 1.0F))};
    client.send(wire::CreateQueue{on.queue, context, device, 0});
    scale(on.queue, make_kernel("scale"), on.buffer, 2.0F, kFloats);
    return on;
  }
  void expect_right(const On& on) {
    queue = on.queue;
    EXPECT_EQ(read(on.buffer, kFloats), std::vector<float>(kFloats, 2.0F));
  }

  static constexpr std::size_t kFloats = 64;
};

/// With its only thread held, the driver has none for anything else.
TEST_F(HeldLaunches, HoldUpNoCallsOfTheProgram) {
  const auto unit = first_unit();
  const auto again = first_unit();
  if (!unit || !again) GTEST_SKIP() << "the device has no parts of one compute unit";
  grants = false;
  const On first = launch_on(*unit);
  // It asks for a turn once its code is made.
  while (turns.devices[0].state.load() != static_cast<std::uint32_t>(TurnState::wanting))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const On second = launch_on(*again);
  EXPECT_TRUE(client.call(wire::Ping{})) << "the worker reads calls";
  grants = true;
  grant(0);
  expect_right(first);
  expect_right(second);
  expect_right(launch_on(*again));
}

TEST(Gates, AreTriedOnlyWhileNoneIsClosedAndOnceForEachDevice) {
  auto driver = std::move(opencl::Driver::open()).value();
  const cl_device_id device = driver.root_devices()[0].id;
  cl_int error = CL_SUCCESS;
  const opencl::ContextHandle context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
  ASSERT_EQ(error, CL_SUCCESS);
  if (!opencl::gate_holds(context.get(), device)) GTEST_SKIP() << "this driver cannot be stopped";
  opencl::Gates gates;
  gates.close();
  gates.close();
  EXPECT_FALSE(gates.hold(0, context.get(), device));
  gates.open();
  EXPECT_FALSE(gates.hold(0, context.get(), device));
  gates.open();
  EXPECT_TRUE(gates.hold(0, context.get(), device));
  gates.close();
  EXPECT_TRUE(gates.hold(0, context.get(), device)) << "it is known";
  EXPECT_FALSE(gates.hold(1, context.get(), device)) << "another device may be unlike it";
}

}  // namespace
}  // namespace fairgv::vgpu
