// Devices of CUDA that may take each other's place.
#include "runtime/vgpu/cuda/move/likeness.hpp"

#include <cuda.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace fairgv::vgpu::cuda {
namespace {

wire::cuda::DeviceFacts device() {
  wire::cuda::DeviceFacts facts;
  facts.name = "a device";
  facts.attributes.resize(CU_DEVICE_ATTRIBUTE_MAX);
  facts.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 8;
  facts.attributes[CU_DEVICE_ATTRIBUTE_WARP_SIZE] = 32;
  facts.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 16;
  facts.attributes[CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT] = 512;
  facts.attributes[CU_DEVICE_ATTRIBUTE_CLOCK_RATE] = 1'000'000;
  return facts;
}

std::optional<std::string> difference(const wire::cuda::DeviceFacts& from,
                                      const wire::cuda::DeviceFacts& to) {
  const auto found = lacks(from, to);
  if (!found) return std::nullopt;
  return found->what;
}

TEST(LikenessOfCudaDevices, OneThatHasAsMuchWillDo) {
  auto other = device();
  other.name = "another";
  other.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 20;
  other.attributes[CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT] = 256;
  other.attributes[CU_DEVICE_ATTRIBUTE_CLOCK_RATE] = 1;
  other.attributes[CU_DEVICE_ATTRIBUTE_PCI_BUS_ID] = 7;
  EXPECT_EQ(difference(device(), device()), std::nullopt);
  EXPECT_EQ(difference(device(), other), std::nullopt);
  EXPECT_EQ(difference(other, device()), "its attribute 14 (CUdevice_attribute) would be 512 instead of 256");
}

TEST(LikenessOfCudaDevices, ProgramsAreMadeForACapability) {
  auto newer = device();
  newer.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 9;
  EXPECT_EQ(difference(device(), newer), "its attribute 75 (CUdevice_attribute) would be 9 instead of 8");
}

TEST(LikenessOfCudaDevices, AnAttributeThatIsNotToldIsNone) {
  auto shorter = device();
  shorter.attributes.resize(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(difference(shorter, device()), "its attribute 75 (CUdevice_attribute) would be 8 instead of 0");
  EXPECT_NE(difference(device(), shorter), std::nullopt);
}

TEST(LikenessOfCudaDevices, ConditionsOfGraphsMeanTheSame) {
  auto other = device();
  other.sets_conditions = 1;
  EXPECT_EQ(difference(device(), other), "conditional nodes of graphs work otherwise there");
}

TEST(LikenessOfCudaDevices, OnlyTheHostsMemoryAndConditionsOfGraphsExcludeADevice) {
  auto smaller = device();
  smaller.attributes[CU_DEVICE_ATTRIBUTE_WARP_SIZE] = 64;
  ASSERT_TRUE(lacks(device(), smaller));
  EXPECT_FALSE(lacks(device(), smaller)->excludes);
  auto integrated = smaller;
  integrated.attributes[CU_DEVICE_ATTRIBUTE_INTEGRATED] = 1;
  EXPECT_TRUE(lacks(device(), integrated)->excludes) << "though it differs in other ways, too";
  auto other = smaller;
  other.sets_conditions = 1;
  EXPECT_TRUE(lacks(device(), other)->excludes);
}

}  // namespace
}  // namespace fairgv::vgpu::cuda
