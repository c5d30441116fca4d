// Devices of CUDA that may take each other's place.
#include "runtime/vgpu/cuda/move/likeness.hpp"

#include <cuda.h>
#include <gtest/gtest.h>

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

TEST(LikenessOfCudaDevices, OneThatHasAsMuchWillDo) {
  auto other = device();
  other.name = "another";
  other.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 20;
  other.attributes[CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT] = 256;
  other.attributes[CU_DEVICE_ATTRIBUTE_CLOCK_RATE] = 1;
  other.attributes[CU_DEVICE_ATTRIBUTE_PCI_BUS_ID] = 7;
  EXPECT_EQ(lacks(device(), device()), std::nullopt);
  EXPECT_EQ(lacks(device(), other), std::nullopt);
  EXPECT_EQ(lacks(other, device()), "its attribute 14 (CUdevice_attribute) would be 512 instead of 256");
}

TEST(LikenessOfCudaDevices, ProgramsAreMadeForACapability) {
  auto newer = device();
  newer.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 9;
  EXPECT_EQ(lacks(device(), newer), "its attribute 75 (CUdevice_attribute) would be 9 instead of 8");
}

TEST(LikenessOfCudaDevices, AnAttributeThatIsNotToldIsNone) {
  auto shorter = device();
  shorter.attributes.resize(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(lacks(shorter, device()), "its attribute 75 (CUdevice_attribute) would be 8 instead of 0");
  EXPECT_NE(lacks(device(), shorter), std::nullopt);
}

TEST(LikenessOfCudaDevices, ConditionsOfGraphsMeanTheSame) {
  auto other = device();
  other.sets_conditions = 1;
  EXPECT_EQ(lacks(device(), other), "conditional nodes of graphs work otherwise there");
}

}  // namespace
}  // namespace fairgv::vgpu::cuda
