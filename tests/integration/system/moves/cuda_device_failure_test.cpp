// A CUDA session whose device fails by itself, over the software driver: that one's OpenCL driver says so.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
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
  std::string log_text() const {
    std::ifstream file(std::filesystem::path(tenancy->socket()).replace_extension("log"));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  nlohmann::json moved() { return tenant("alice")["sessions"][0]["moved"]; }

  FailingDriver driver;
  std::uint64_t data = 0;
};

TEST_F(CudaDeviceFailure, TheDeviceIsLeftToTheErrorsOfTheSessionAndOthersGoElsewhere) {
  driver.fail("launches");
  scale(legacy, data, kScaled, 2);
  ASSERT_TRUE(eventually([&] { return client->late_error() != 0; }));
  EXPECT_EQ(ring::LateError::code(client->late_error()), kUnavailable);
  ASSERT_TRUE(eventually([&] { return !ps()["devices"][0]["failed"].is_null(); })) << log_text();
  EXPECT_EQ(ps()["devices"][0]["failed"], "CL_DEVICE_NOT_AVAILABLE (a launch)")
      << "the software driver shows no device that fails";
  // Its context has ended with the error, and gives no memory out.
  ASSERT_TRUE(eventually([&] { return log_text().find("is not parked: ") != std::string::npos; }));
  EXPECT_TRUE(moved().empty());
  ASSERT_NO_FATAL_FAILURE(connect("bob", {}));
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  data = allocate(kScaled * 4);
  write(legacy, data, numbers(kScaled));
  scale(legacy, data, kScaled, 2);
  const auto result = read(legacy, data, kScaled);
  for (std::uint32_t i = 0; i < kScaled; ++i) ASSERT_EQ(result[i], 3 * i);
}

}  // namespace
}  // namespace fairgv::integration::cuda_worker
