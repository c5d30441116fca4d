// The recognition of devices that are the same hardware.
#include "runtime/daemon/devices/hardware.hpp"

#include <gtest/gtest.h>

namespace fairgv::daemon {
namespace {

constexpr std::uint64_t kCpuType = 2;
constexpr std::uint64_t kGpuType = 4;

struct HardwareTest : ::testing::Test {
  /// The hardware of a device that is added behind the earlier ones.
  std::uint32_t add(const std::string& platform, std::uint64_t type, const std::string& id = {}) {
    const session::DeviceDescription device{platform, "device", type, 0, id};
    hardware.push_back(hardware_of(device, table, hardware, rules));
    table.push_back(device);
    return hardware.back();
  }
  void say(std::uint32_t device, std::uint32_t same_as) { rules.by_index[device].same_as = same_as; }

  std::vector<session::DeviceDescription> table;
  Hardware hardware;
  DeviceRules rules;
};

TEST_F(HardwareTest, CpuDevicesAreTheSameProcessors) {
  EXPECT_EQ(add("PoCL", kCpuType), 0u);
  EXPECT_EQ(add("Vendor", kGpuType), 1u);
  EXPECT_EQ(add("Intel", kCpuType), 0u);
  EXPECT_EQ(add("rusticl", kCpuType), 0u);
}

TEST_F(HardwareTest, ADeviceWithTheIdentityOfAnotherDriversIsTheSame) {
  EXPECT_EQ(add("Vendor", kGpuType, "uuid 0a1b"), 0u);
  EXPECT_EQ(add("Other", kGpuType, "uuid 0a1b"), 0u);
  EXPECT_EQ(add("Other", kGpuType, "uuid 0a1c"), 2u);
  EXPECT_EQ(add("Third", kGpuType), 3u) << "one that says nothing of itself";
}

TEST_F(HardwareTest, EqualDevicesOfOneDriverAreDevicesOfTheirOwn) {
  EXPECT_EQ(add("Vendor", kGpuType, "uuid 0a1b"), 0u);
  EXPECT_EQ(add("Vendor", kGpuType, "uuid 0a1b"), 1u);
  EXPECT_EQ(add("Third", kGpuType, "uuid 0000"), 2u);
  EXPECT_EQ(add("Fourth", kGpuType, "uuid 0000"), 3u) << "zeros are no identity";
}

TEST_F(HardwareTest, TheConfigurationDecidesBeforeAll) {
  say(1, 0);  // a card that two drivers show without an identity
  say(3, 3);  // processors of its own
  say(5, 4);
  EXPECT_EQ(add("Vendor", kGpuType), 0u);
  EXPECT_EQ(add("Other", kGpuType), 0u);
  EXPECT_EQ(add("PoCL", kCpuType), 2u);
  EXPECT_EQ(add("Intel", kCpuType), 3u);
  EXPECT_EQ(add("rusticl", kCpuType), 2u) << "not with the device that has hardware of its own";
  EXPECT_EQ(add("Mine", kGpuType), 2u) << "the first device of the same hardware";
}

TEST_F(HardwareTest, ADeviceThatStandsForItselfTakesNobodyIn) {
  say(0, 0);
  EXPECT_EQ(add("PoCL", kCpuType), 0u);
  EXPECT_EQ(add("Intel", kCpuType), 1u);
  EXPECT_EQ(add("rusticl", kCpuType), 1u);
}

}  // namespace
}  // namespace fairgv::daemon
