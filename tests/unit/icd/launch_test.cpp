// Index spaces of launches, and versions.
#include <gtest/gtest.h>

#include "icd/programs/launch.hpp"

namespace fairgv::icd {
namespace {

struct Launches : testing::Test {
  Launches() {
    device.version = CL_MAKE_VERSION(3, 0, 0);
    device.max_group_size = 256;
    device.max_item_sizes = {256, 128, 64};
    kernel.max_group_size = 128;
  }

  cl_int check(cl_uint dimensions) const {
    return check_index_space({dimensions, offset, global, local}, device, kernel, local_bytes);
  }

  DeviceFacts device;
  KernelLimits kernel;
  std::size_t sizes[3] = {64, 8, 4};
  std::size_t groups[3] = {16, 4, 2};
  std::size_t offsets[3] = {0, 0, 0};
  const std::size_t* offset = nullptr;
  const std::size_t* global = sizes;
  const std::size_t* local = groups;
  std::uint64_t local_bytes = 0;
};

TEST_F(Launches, OfOneToThreeDimensionsPass) {
  for (cl_uint dimensions = 1; dimensions <= 3; ++dimensions) EXPECT_EQ(CL_SUCCESS, check(dimensions));
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, check(0));
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, check(4));
}

TEST_F(Launches, OfNothingAreTheDriversToDecide) {
  sizes[1] = 0;
  EXPECT_EQ(kDriverDecides, check(2));
  EXPECT_EQ(CL_SUCCESS, check(1)) << "the second dimension is not looked at";
  global = nullptr;
  EXPECT_EQ(kDriverDecides, check(1));
}

TEST_F(Launches, InUnevenGroupsAreTheDriversToDecideUnlessTheProgramMayHaveThem) {
  groups[0] = 15;
  EXPECT_EQ(kDriverDecides, check(1));
  kernel.non_uniform_groups = true;
  EXPECT_EQ(CL_SUCCESS, check(1));
}

TEST_F(Launches, InGroupsOfNothingAreTheDriversToDecide) {
  groups[1] = 0;
  EXPECT_EQ(kDriverDecides, check(2));
}

TEST_F(Launches, BeyondTheLimitsOfDeviceOrKernelAreTheDriversToDecide) {
  groups[0] = sizes[0] = 512;
  EXPECT_EQ(kDriverDecides, check(1)) << "the dimension's limit";
  groups[0] = sizes[0] = 256;
  EXPECT_EQ(kDriverDecides, check(1)) << "the kernel's limit";
  groups[0] = sizes[0] = 64;
  EXPECT_EQ(kDriverDecides, check(2)) << "64 times 4";
  groups[0] = 32;
  EXPECT_EQ(CL_SUCCESS, check(2)) << "32 times 4";
}

TEST_F(Launches, InOtherGroupsThanRequiredAreTheDriversToDecide) {
  kernel.required_group_size = {16, 4, 1};
  EXPECT_EQ(CL_SUCCESS, check(2));
  groups[1] = 2;
  EXPECT_EQ(kDriverDecides, check(2));
  local = nullptr;
  EXPECT_EQ(kDriverDecides, check(2));
}

TEST_F(Launches, BeyondTheLocalMemoryAreTheDriversToDecide) {
  device.local_memory = 1024;
  kernel.local_bytes = 256;
  local_bytes = 768;
  EXPECT_EQ(CL_SUCCESS, check(1));
  local_bytes = 769;
  EXPECT_EQ(kDriverDecides, check(1));
  local_bytes = 0;
  kernel.local_bytes = 2048;
  EXPECT_EQ(kDriverDecides, check(1)) << "some drivers build kernels that they do not run";
}

TEST_F(Launches, MustNotOverflowWithTheirOffset) {
  offset = offsets;
  offsets[0] = SIZE_MAX - 63;
  EXPECT_EQ(CL_INVALID_GLOBAL_OFFSET, check(1));
  offsets[0] = SIZE_MAX - 64;
  EXPECT_EQ(CL_SUCCESS, check(1));
}

TEST(Versions, AreReadFromTheDriversText) {
  EXPECT_EQ(CL_MAKE_VERSION(3, 0, 0), parse_version("OpenCL 3.0 PoCL HSTR: pthread"));
  EXPECT_EQ(CL_MAKE_VERSION(1, 2, 0), parse_version("OpenCL 1.2 CUDA"));
  EXPECT_EQ(CL_MAKE_VERSION(1, 0, 0), parse_version("something else"));
}

}  // namespace
}  // namespace fairgv::icd
