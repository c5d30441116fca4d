// Mipmapped arrays (CUDA Driver API, "cuMipmappedArrayCreate" and its kin): their levels, lives and errors.
#include <algorithm>
#include <cstring>
#include <vector>

#include "../fixture.hpp"

namespace {

CUDA_ARRAY3D_DESCRIPTOR shape_of_first(std::size_t width, std::size_t height, std::size_t depth = 0,
                                       unsigned flags = 0) {
  return {width, height, depth, CU_AD_FORMAT_SIGNED_INT32, 1, flags};
}

CUDA_RESOURCE_DESC of_mipmap(CUmipmappedArray mipmap) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = mipmap;
  return resource;
}

CUDA_TEXTURE_DESC over_levels(float most) {
  CUDA_TEXTURE_DESC described{};
  described.flags = CU_TRSF_NORMALIZED_COORDINATES;
  described.maxMipmapLevelClamp = most;
  return described;
}

// out = texture at (1/2, 1/2) of level 0, 1, ...; then what queries say; then the same texels by integers.
constexpr char kLevelReader[] = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry read_levels(.param .u64 object, .param .u64 out, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %n, %m, %d<4>, %w<4>;
  .reg .f32 %half, %level;
  .reg .b64 %t, %out, %at;
  ld.param.u64 %t, [object];
  ld.param.u64 %out, [out];
  ld.param.u32 %m, [count];
  mov.u32 %n, %tid.x;
  cvt.rn.f32.u32 %level, %n;
  mov.f32 %half, 0f3F000000;
  tex.level.2d.v4.s32.f32 {%d0, %d1, %d2, %d3}, [%t, {%half, %half}], %level;
  mad.wide.u32 %at, %n, 4, %out;
  st.global.b32 [%at], %d0;
  txq.width.b32 %w0, [%t];
  txq.height.b32 %w1, [%t];
  txq.num_mipmap_levels.b32 %w2, [%t];
  mad.wide.u32 %at, %m, 4, %out;
  st.global.b32 [%at], %w0;
  st.global.b32 [%at+4], %w1;
  st.global.b32 [%at+8], %w2;
  shr.u32 %w0, %w0, 1;
  shr.u32 %w0, %w0, %n;
  shr.u32 %w1, %w1, 1;
  shr.u32 %w1, %w1, %n;
  tex.level.2d.v4.s32.s32 {%d0, %d1, %d2, %d3}, [%t, {%w0, %w1}], %n;
  mad.wide.u32 %at, %n, 4, %at;
  st.global.b32 [%at+12], %d0;
  ret;
}
)";

}  // namespace

class Mipmaps : public WithModule {
 protected:
  static CUmipmappedArray made(const CUDA_ARRAY3D_DESCRIPTOR& first, unsigned levels) {
    CUmipmappedArray mipmap = nullptr;
    EXPECT_OK(cuMipmappedArrayCreate(&mipmap, &first, levels));
    return mipmap;
  }
  static CUarray level_of(CUmipmappedArray mipmap, unsigned level) {
    CUarray array = nullptr;
    EXPECT_OK(cuMipmappedArrayGetLevel(&array, mipmap, level));
    return array;
  }
  static unsigned count_of(CUmipmappedArray mipmap) {
    unsigned count = 0;
    CUarray array = nullptr;
    while (cuMipmappedArrayGetLevel(&array, mipmap, count) == CUDA_SUCCESS) ++count;
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&array, mipmap, count));
    return count;
  }
  static void fill(CUarray array, std::size_t width, std::size_t height, int value) {
    const std::vector<int> texels(width * height, value);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels.data();
    copy.srcPitch = width * 4;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = width * 4;
    copy.Height = height;
    EXPECT_OK(cuMemcpy2D(&copy));
  }
  /// The texels of the first `count` levels, then width, height and number of levels.
  std::vector<int> read(CUtexObject texture, unsigned count) {
    CUmodule module = nullptr;
    EXPECT_OK(cuModuleLoadData(&module, kLevelReader));
    CUfunction function = nullptr;
    EXPECT_OK(cuModuleGetFunction(&function, module, "read_levels"));
    CUdeviceptr out = allocate((2 * count + 3) * 4);
    void* arguments[] = {&texture, &out, &count};
    EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, count, 1, 1, 0, nullptr, arguments, nullptr));
    std::vector<int> words(2 * count + 3);
    EXPECT_OK(cuMemcpyDtoH(words.data(), out, words.size() * 4));
    EXPECT_OK(cuMemFree(out));
    EXPECT_OK(cuModuleUnload(module));
    EXPECT_TRUE(std::equal(words.begin() + count + 3, words.end(), words.begin())) << "texels by integers";
    words.resize(count + 3);
    return words;
  }
};

TEST_F(Mipmaps, HaveALevelForEachHalvingAndNoMore) {
  const auto count = [](const CUDA_ARRAY3D_DESCRIPTOR& first, unsigned wished) {
    const CUmipmappedArray mipmap = made(first, wished);
    const unsigned levels = count_of(mipmap);
    EXPECT_OK(cuMipmappedArrayDestroy(mipmap));
    return levels;
  };
  EXPECT_EQ(count(shape_of_first(13, 0), 100), 4U);
  EXPECT_EQ(count(shape_of_first(13, 40), 100), 6U);
  EXPECT_EQ(count(shape_of_first(13, 40), 3), 3U);
  EXPECT_EQ(count(shape_of_first(13, 40), 0), 1U) << "the manual: clamped to the range [1, ...]";
  EXPECT_EQ(count(shape_of_first(2, 2, 9), 100), 4U);
  EXPECT_EQ(count(shape_of_first(2, 2, 9, CUDA_ARRAY3D_LAYERED), 100), 2U);
  EXPECT_EQ(count(shape_of_first(4, 4, 6, CUDA_ARRAY3D_CUBEMAP), 100), 3U);
}

TEST_F(Mipmaps, LevelsAreArraysOfTheirExtentsAndHaveOneHandleEach) {
  const unsigned flags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST;
  const CUmipmappedArray mipmap = made(shape_of_first(12, 5, 3, flags), 3);
  const std::size_t extents[3][2] = {{12, 5}, {6, 2}, {3, 1}};
  for (unsigned level = 0; level < 3; ++level) {
    const CUarray array = level_of(mipmap, level);
    EXPECT_EQ(array, level_of(mipmap, level));
    CUDA_ARRAY3D_DESCRIPTOR told{};
    EXPECT_OK(cuArray3DGetDescriptor(&told, array));
    EXPECT_EQ(told.Width, extents[level][0]);
    EXPECT_EQ(told.Height, extents[level][1]);
    EXPECT_EQ(told.Depth, 3U);
    EXPECT_EQ(told.Flags, flags);
    EXPECT_EQ(told.Format, CU_AD_FORMAT_SIGNED_INT32);
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuArrayDestroy(array)) << "it goes with the whole";
  }
  EXPECT_NE(level_of(mipmap, 0), level_of(mipmap, 1));
  EXPECT_OK(cuMipmappedArrayDestroy(mipmap));
}

TEST_F(Mipmaps, CopiesAndSurfacesFillOneLevelAndNoOther) {
  constexpr unsigned kLevels = 5;
  const CUmipmappedArray mipmap = made(shape_of_first(16, 4, 0, CUDA_ARRAY3D_SURFACE_LDST), kLevels);
  const std::size_t heights[kLevels] = {4, 2, 1, 1, 1};
  for (unsigned level = 0; level < kLevels; ++level)
    fill(level_of(mipmap, level), 16U >> level, heights[level], 10 * static_cast<int>(level));
  // A surface of one level: a row of it counts up.
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = level_of(mipmap, 2);
  CUsurfObject surface = 0;
  ASSERT_OK(cuSurfObjectCreate(&surface, &resource));
  EXPECT_OK(launch("write_surface", 1, 4, nullptr, surface, 700));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuSurfObjectDestroy(surface));
  // From level to level.
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = level_of(mipmap, 1);
  copy.dstArray = level_of(mipmap, 3);
  copy.WidthInBytes = 8;
  copy.Height = 1;
  EXPECT_OK(cuMemcpy2D(&copy));
  copy.WidthInBytes = 12;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy)) << "beyond the level, within the whole";

  CUtexObject texture = 0;
  const CUDA_RESOURCE_DESC whole = of_mipmap(mipmap);
  const CUDA_TEXTURE_DESC described = over_levels(100);
  ASSERT_OK(cuTexObjectCreate(&texture, &whole, &described, nullptr));
  // Beyond the last level is the last. The first has its own texels still: nothing ran over.
  EXPECT_EQ(read(texture, 7), (std::vector<int>{0, 10, 702, 10, 40, 40, 40, 16, 4, 5}));
  EXPECT_OK(cuTexObjectDestroy(texture));
  for (unsigned level = 0; level < kLevels; level += 4) {
    std::vector<int> texels(16U >> level);
    EXPECT_OK(cuMemcpyAtoH(texels.data(), level_of(mipmap, level), 0, texels.size() * 4));
    EXPECT_EQ(texels, std::vector<int>(texels.size(), 10 * static_cast<int>(level)));
  }
  EXPECT_OK(cuMipmappedArrayDestroy(mipmap));
}

TEST_F(Mipmaps, AViewShowsSomeLevels) {
  const CUmipmappedArray mipmap = made(shape_of_first(16, 16), 5);
  for (unsigned level = 0; level < 5; ++level)
    fill(level_of(mipmap, level), 16U >> level, 16U >> level, 10 * static_cast<int>(level));
  const CUDA_RESOURCE_DESC whole = of_mipmap(mipmap);
  CUDA_TEXTURE_DESC described = over_levels(1);  // the third of those that are shown is not
  CUDA_RESOURCE_VIEW_DESC view{};
  view.width = view.height = 16;
  view.firstMipmapLevel = 2;
  view.lastMipmapLevel = 4;
  CUtexObject texture = 0;
  ASSERT_OK(cuTexObjectCreate(&texture, &whole, &described, &view));
  EXPECT_EQ(read(texture, 4), (std::vector<int>{20, 30, 30, 30, 4, 4, 3}));
  EXPECT_OK(cuTexObjectDestroy(texture));
  // One level: it is what every fetch reads.
  described = over_levels(100);
  view.firstMipmapLevel = view.lastMipmapLevel = 3;
  ASSERT_OK(cuTexObjectCreate(&texture, &whole, &described, &view));
  EXPECT_EQ(read(texture, 3), (std::vector<int>{30, 30, 30, 2, 2, 1}));
  EXPECT_OK(cuTexObjectDestroy(texture));

  const auto refused = [&](unsigned first, unsigned last) {
    view.firstMipmapLevel = first;
    view.lastMipmapLevel = last;
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &whole, &described, &view));
  };
  refused(0, 5);
  refused(3, 2);
  refused(5, 5);
  refused(~0U, ~0U);
  EXPECT_OK(cuMipmappedArrayDestroy(mipmap));
}

TEST_F(Mipmaps, WhatWasMadeOfOneKeepsIt) {
  const CUmipmappedArray mipmap = made(shape_of_first(8, 8, 0, CUDA_ARRAY3D_SURFACE_LDST), 4);
  for (unsigned level = 0; level < 4; ++level)
    fill(level_of(mipmap, level), 8U >> level, 8U >> level, 5 + static_cast<int>(level));
  const CUarray level = level_of(mipmap, 0);
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  const CUDA_RESOURCE_DESC whole = of_mipmap(mipmap);
  const CUDA_TEXTURE_DESC described = over_levels(3);
  ASSERT_OK(cuTexObjectCreate(&texture, &whole, &described, nullptr));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = level;
  ASSERT_OK(cuSurfObjectCreate(&surface, &resource));
  CUDA_RESOURCE_DESC told{};
  EXPECT_OK(cuTexObjectGetResourceDesc(&told, texture));
  EXPECT_EQ(told.resType, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
  EXPECT_EQ(told.res.mipmap.hMipmappedArray, mipmap);
  EXPECT_OK(cuMipmappedArrayDestroy(mipmap));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(mipmap));
  CUarray array = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayGetLevel(&array, mipmap, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(level));
  CUtexObject other = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&other, &whole, &described, nullptr));
  EXPECT_OK(launch("write_surface", 1, 8, nullptr, surface, 100));
  EXPECT_EQ(read(texture, 4), (std::vector<int>{5, 6, 7, 8, 8, 8, 4}));
  EXPECT_OK(cuTexObjectDestroy(texture));
  EXPECT_OK(launch("write_surface", 1, 8, nullptr, surface, 200)) << "the surface keeps its level";
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuSurfObjectDestroy(surface));
}

TEST_F(Mipmaps, EndWithTheirContext) {
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device_));
  const CUmipmappedArray mipmap = made(shape_of_first(8, 8), 4);
  const CUarray level = level_of(mipmap, 1);
  EXPECT_OK(cuCtxDestroy(other));
  EXPECT_OK(cuCtxSetCurrent(context_));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(mipmap));
  CUDA_ARRAY3D_DESCRIPTOR told{};
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&told, level));
}

TEST_F(Mipmaps, WhatCannotBeIsRefused) {
  CUmipmappedArray mipmap = nullptr;
  const auto code_of = [&](std::size_t width, std::size_t height, std::size_t depth, unsigned flags) {
    const CUDA_ARRAY3D_DESCRIPTOR first = shape_of_first(width, height, depth, flags);
    const CUresult code = cuMipmappedArrayCreate(&mipmap, &first, 100);
    return code == CUDA_SUCCESS ? cuMipmappedArrayDestroy(mipmap) : code;
  };
  EXPECT_CODE(CUDA_SUCCESS, code_of(8, 8, 0, CUDA_ARRAY3D_TEXTURE_GATHER));
  EXPECT_CODE(CUDA_SUCCESS, code_of(4, 4, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(0, 8, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(8, 4, 6, CUDA_ARRAY3D_CUBEMAP));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(1U << 20U, 8, 0, 0));
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, code_of(8, 8, 0, CUDA_ARRAY3D_SPARSE));
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, code_of(8, 8, 0, CUDA_ARRAY3D_DEFERRED_MAPPING));
  int widest = 0;
  EXPECT_OK(cuDeviceGetAttribute(&widest, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, device_));
  EXPECT_CODE(CUDA_SUCCESS, code_of(static_cast<std::size_t>(widest), 0, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(static_cast<std::size_t>(widest) + 1, 0, 0, 0));

  const CUDA_ARRAY3D_DESCRIPTOR first = shape_of_first(8, 8);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayCreate(nullptr, &first, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayCreate(&mipmap, nullptr, 1));
  ASSERT_OK(cuMipmappedArrayCreate(&mipmap, &first, 4));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(nullptr, mipmap, 0));
  CUarray array = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayGetLevel(&array, nullptr, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(nullptr));

  const CUDA_RESOURCE_DESC whole = of_mipmap(mipmap);
  CUtexObject texture = 0;
  CUDA_TEXTURE_DESC described = over_levels(3);
  described.flags = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &whole, &described, nullptr))
      << "coordinates must be normalised";
  described = over_levels(3);
  described.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &whole, &described, nullptr))
      << "integers have nothing between them";
  CUsurfObject surface = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &whole)) << "a level is an array";
  EXPECT_OK(cuMipmappedArrayDestroy(mipmap));
}
