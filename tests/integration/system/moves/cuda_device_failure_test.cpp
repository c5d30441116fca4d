// A CUDA session whose device fails by itself, over the software driver: that one's OpenCL driver says so.
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/system/cuda_worker.hpp"
#include "tests/integration/system/moves/failing_driver.hpp"

namespace fairgv::integration::cuda_worker {
namespace {

constexpr std::uint32_t kScaled = 1'000;
constexpr int kUnavailable = 46;  // CUDA_ERROR_DEVICE_UNAVAILABLE

struct CudaDeviceFailure : CudaWorker {
  void SetUp() override {
    auto started = harness::Tenancy::start({}, {{"POCL_DEVICES", "pthread pthread"}},
                                           "[device.1]\nsame_as = 1\n" + driver.rules());
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
    ASSERT_NO_FATAL_FAILURE(connect("alice", {}));
    load(kPtx);
    ASSERT_EQ(find("scale").code, 0);
    data = allocate(kScaled * 4);
    write(legacy, data, numbers(kScaled));
    ASSERT_EQ(finish(legacy), session::kComplete);
  }
  nlohmann::json moved() { return tenant("alice")["sessions"][0]["moved"]; }

  FailingDriver driver;
  std::uint64_t data = 0;
};

TEST_F(CudaDeviceFailure, ItsMemoryGoesElsewhereAndOneLaunchIsLost) {
  for (int round = 0; round < 2; ++round) scale(legacy, data, kScaled, 2);
  ASSERT_EQ(finish(legacy), session::kComplete);
  driver.fail("launches");
  scale(legacy, data, kScaled, 2);
  ASSERT_TRUE(eventually([&] { return client->late_error() != 0; }));
  EXPECT_EQ(ring::LateError::code(client->late_error()), kUnavailable);
  scale(legacy, data, kScaled, 3);  // waits, and is made elsewhere
  ASSERT_TRUE(eventually([&] { return moved() == nlohmann::json({{"0", 1}}); })) << ps();
  const auto result = read(legacy, data, kScaled);
  // i * 2 + i = 3 * i, then 7 * i; and then 22 * i.
  for (std::uint32_t i = 0; i < kScaled; ++i) ASSERT_EQ(result[i], 22 * i);
  EXPECT_EQ(ps()["devices"][0]["failed"].get<std::string>().find("its context"), std::string::npos);
}

}  // namespace
}  // namespace fairgv::integration::cuda_worker
