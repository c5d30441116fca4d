// Valid and invalid combinations of flags of memory objects.
#include <gtest/gtest.h>

#include "icd/memory/memory_flags.hpp"

namespace fairgv::icd {
namespace {

TEST(MemoryFlags, OfABufferNameOneAccessOfEachSide) {
  EXPECT_TRUE(are_buffer_flags(0));
  EXPECT_TRUE(are_buffer_flags(CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY));
  EXPECT_FALSE(are_buffer_flags(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY));
  EXPECT_FALSE(are_buffer_flags(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY));
  EXPECT_FALSE(are_buffer_flags(cl_mem_flags{1} << 40));
}

TEST(MemoryFlags, OfABufferUseHostMemoryOrCopyIt) {
  EXPECT_TRUE(are_buffer_flags(CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR));
  EXPECT_FALSE(are_buffer_flags(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR));
  EXPECT_FALSE(are_buffer_flags(CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR));
}

TEST(MemoryFlags, OfASubBufferNeverExceedItsBuffers) {
  EXPECT_TRUE(are_sub_buffer_flags(0, CL_MEM_READ_ONLY));
  EXPECT_TRUE(are_sub_buffer_flags(CL_MEM_READ_ONLY, CL_MEM_READ_WRITE));
  EXPECT_FALSE(are_sub_buffer_flags(CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY));
  EXPECT_FALSE(are_sub_buffer_flags(CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY));
  EXPECT_FALSE(are_sub_buffer_flags(CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS));
  EXPECT_TRUE(are_sub_buffer_flags(CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY));
  EXPECT_FALSE(are_sub_buffer_flags(CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE));
}

TEST(MemoryFlags, NotGivenAreFilledIn) {
  EXPECT_EQ(cl_mem_flags{CL_MEM_READ_WRITE}, with_default_access(0));
  EXPECT_EQ(cl_mem_flags{CL_MEM_READ_ONLY}, with_default_access(CL_MEM_READ_ONLY));
  EXPECT_EQ(
      cl_mem_flags{CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS | CL_MEM_USE_HOST_PTR},
      inherited_flags(CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS | CL_MEM_USE_HOST_PTR));
}

TEST(MemoryFlags, OfAMapInvalidateOrReadAndWrite) {
  EXPECT_TRUE(are_map_flags(CL_MAP_READ | CL_MAP_WRITE));
  EXPECT_TRUE(are_map_flags(CL_MAP_WRITE_INVALIDATE_REGION));
  EXPECT_FALSE(are_map_flags(CL_MAP_WRITE_INVALIDATE_REGION | CL_MAP_READ));
  EXPECT_FALSE(are_map_flags(cl_map_flags{1} << 20));
}

}  // namespace
}  // namespace fairgv::icd
