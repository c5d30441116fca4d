// CUDA_VISIBLE_DEVICES over the devices that the worker shows.
#include "cuda-shim/driver/devices/visible.hpp"

#include <gtest/gtest.h>

namespace fairgv::cuda::remote {
namespace {

using Ordinals = std::vector<std::uint32_t>;

/// Devices whose UUIDs begin with 10, 11 and so on.
std::vector<wire::cuda::DeviceFacts> devices(std::size_t count) {
  std::vector<wire::cuda::DeviceFacts> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i].uuid[0] = static_cast<std::byte>(0x10 + i);
  return list;
}

TEST(VisibleDevices, WithoutTheVariableAreAll) {
  EXPECT_EQ(visible_devices(std::nullopt, devices(3)), Ordinals({0, 1, 2}));
}

TEST(VisibleDevices, AreNumberedInTheOrderOfTheList) {
  EXPECT_EQ(visible_devices("2,0", devices(3)), Ordinals({2, 0}));
  EXPECT_EQ(visible_devices(" 1 , 2 ", devices(3)), Ordinals({1, 2}));
}

TEST(VisibleDevices, EndAtTheFirstEntryThatNamesNoDevice) {
  EXPECT_EQ(visible_devices("1,3,0", devices(3)), Ordinals({1}));
  EXPECT_EQ(visible_devices("1,-1,0", devices(3)), Ordinals({1}));
  EXPECT_EQ(visible_devices("0,one", devices(3)), Ordinals({0}));
  EXPECT_EQ(visible_devices("0,1,0,2", devices(3)), Ordinals({0, 1})) << "a device once more";
  EXPECT_EQ(visible_devices("0,MIG-GPU-10", devices(3)), Ordinals({0}));
  for (const char* const none : {"", "-1", "NoDevFiles", "3", ","})
    EXPECT_EQ(visible_devices(none, devices(3)), Ordinals()) << none;
}

TEST(VisibleDevices, MayBeNamedByTheBeginningOfTheirUuids) {
  EXPECT_EQ(visible_devices("GPU-11000000-0000-0000-0000-000000000000,GPU-10", devices(3)), Ordinals({1, 0}));
  EXPECT_EQ(visible_devices("GPU-12,GPU-1", devices(3)), Ordinals({2})) << "the second names several";
  EXPECT_EQ(visible_devices("GPU-11000000-0000-0000-0000-000000000001", devices(3)), Ordinals());
}

}  // namespace
}  // namespace fairgv::cuda::remote
