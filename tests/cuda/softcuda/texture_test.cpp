// Texture and surface objects (CUDA Driver API, "Texture Object Management", "Surface Object Management"):
// every format of an array, queries of an object, and the codes of refused calls.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>

#include "fixture.hpp"
#include "tests/harness/seed.hpp"

namespace {

constexpr unsigned kTexels = 16;

CUarray made_array(CUarray_format format, unsigned channels, unsigned flags = 0, std::size_t height = 1) {
  const CUDA_ARRAY3D_DESCRIPTOR wish{kTexels, height, 0, format, channels, flags};
  CUarray array = nullptr;
  EXPECT_OK(cuArray3DCreate(&array, &wish));
  return array;
}

CUDA_RESOURCE_DESC of_array(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

CUDA_TEXTURE_DESC sampling(unsigned flags = 0, CUfilter_mode filter = CU_TR_FILTER_MODE_POINT) {
  CUDA_TEXTURE_DESC described{};
  for (CUaddress_mode& mode : described.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  described.filterMode = filter;
  described.flags = flags;
  return described;
}

/// A number that need not be a value of the enumeration.
template <typename Enumeration>
void put(Enumeration& field, unsigned number) {
  static_assert(sizeof field == sizeof number);
  std::memcpy(&field, &number, sizeof number);
}

CUresult make(CUtexObject* texture, const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& described,
              const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
  return cuTexObjectCreate(texture, &resource, &described, view);
}

}  // namespace

class Textures : public WithModule {
 protected:
  /// The first row of a texture, as the bits that a fetch gives.
  std::vector<std::uint32_t> read(CUtexObject texture, float step = 1) {
    const CUdeviceptr out = allocate(kTexels * 16);
    EXPECT_OK(launch("read_texture", 1, kTexels, nullptr, texture, out, step));
    auto words = download<std::uint32_t>(out, kTexels * 4);
    EXPECT_OK(cuMemFree(out));
    return words;
  }

  /// Fills an array's first row at random, reads it as a texture, and compares it with expected(channel): a
  /// number, or the bits.
  template <typename Channel, typename Expected>
  void expect_channels(CUarray_format format, unsigned channels, unsigned flags, const Expected& expected) {
    std::mt19937 random(seed_);
    const CUarray array = made_array(format, channels);
    std::vector<Channel> row(kTexels * channels);
    for (Channel& each : row) each = static_cast<Channel>(random());
    EXPECT_OK(cuMemcpyHtoA(array, 0, row.data(), row.size() * sizeof(Channel)));
    CUtexObject texture = 0;
    ASSERT_OK(make(&texture, of_array(array), sampling(flags)));
    const auto words = read(texture);
    for (unsigned x = 0; x < kTexels; ++x) {
      for (unsigned c = 0; c < channels; ++c) {
        const auto wanted = expected(row[x * channels + c]);
        SCOPED_TRACE(testing::Message() << "format " << format << ", " << channels << " channels, flags "
                                        << flags << ", texel " << x);
        if constexpr (std::is_same_v<decltype(wanted), const float>) {
          EXPECT_NEAR(wanted, std::bit_cast<float>(words[x * 4 + c]), 1e-6);
        } else {
          EXPECT_EQ(static_cast<std::uint32_t>(wanted), words[x * 4 + c]);
        }
      }
    }
    EXPECT_OK(cuTexObjectDestroy(texture));
    EXPECT_OK(cuArrayDestroy(array));
  }

  const unsigned seed_ = static_cast<unsigned>(fairgv::harness::printed_seed());
};

TEST_F(Textures, EveryFormatIsReadAsItsFlagsSay) {
  // The least number is beyond -1 by one step.
  const auto over = [](float most) {
    return [most](auto value) { return std::max(static_cast<float>(value) / most, -1.0F); };
  };
  const auto same = [](auto value) { return value; };
  for (const unsigned channels : {1U, 2U, 4U}) {
    expect_channels<std::uint8_t>(CU_AD_FORMAT_UNSIGNED_INT8, channels, 0, over(255));
    expect_channels<std::int8_t>(CU_AD_FORMAT_SIGNED_INT8, channels, 0, over(127));
    expect_channels<std::uint16_t>(CU_AD_FORMAT_UNSIGNED_INT16, channels, 0, over(65535));
    expect_channels<std::int16_t>(CU_AD_FORMAT_SIGNED_INT16, channels, 0, over(32767));
    expect_channels<std::uint8_t>(CU_AD_FORMAT_UNSIGNED_INT8, channels, CU_TRSF_READ_AS_INTEGER, same);
    expect_channels<std::int8_t>(CU_AD_FORMAT_SIGNED_INT8, channels, CU_TRSF_READ_AS_INTEGER, same);
    expect_channels<std::uint16_t>(CU_AD_FORMAT_UNSIGNED_INT16, channels, CU_TRSF_READ_AS_INTEGER, same);
    expect_channels<std::int16_t>(CU_AD_FORMAT_SIGNED_INT16, channels, CU_TRSF_READ_AS_INTEGER, same);
    // 32 bits stay as they are, with any flags.
    for (const unsigned flags : {0U, unsigned{CU_TRSF_READ_AS_INTEGER}}) {
      expect_channels<std::uint32_t>(CU_AD_FORMAT_UNSIGNED_INT32, channels, flags, same);
      expect_channels<std::int32_t>(CU_AD_FORMAT_SIGNED_INT32, channels, flags, same);
    }
  }
  expect_channels<std::uint8_t>(CU_AD_FORMAT_UNORM_INT8X2, 2, CU_TRSF_READ_AS_INTEGER, over(255));
  expect_channels<std::int8_t>(CU_AD_FORMAT_SNORM_INT8X4, 4, 0, over(127));
  expect_channels<std::uint16_t>(CU_AD_FORMAT_UNORM_INT16X1, 1, 0, over(65535));
  expect_channels<std::int16_t>(CU_AD_FORMAT_SNORM_INT16X2, 2, 0, over(32767));
}

TEST_F(Textures, AStandardColourIsReadAsLinearAndItsFourthChannelAsItIs) {
  const CUarray array = made_array(CU_AD_FORMAT_UNSIGNED_INT8, 4);
  std::vector<std::uint8_t> row(kTexels * 4);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<std::uint8_t>(i * 4);
  EXPECT_OK(cuMemcpyHtoA(array, 0, row.data(), row.size()));
  CUtexObject texture = 0;
  ASSERT_OK(make(&texture, of_array(array), sampling(CU_TRSF_SRGB)));
  const auto words = read(texture);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double c = row[i] / 255.0;
    const double linear = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    EXPECT_NEAR(i % 4 == 3 ? c : linear, std::bit_cast<float>(words[i]), 1e-6);
  }
  EXPECT_OK(cuTexObjectDestroy(texture));
  EXPECT_OK(cuArrayDestroy(array));
}

TEST_F(Textures, AViewReadsAnArrayInAnotherFormatOfTheSameSize) {
  const CUarray array = made_array(CU_AD_FORMAT_UNSIGNED_INT32, 1);
  std::vector<std::uint32_t> row(kTexels, 0x80ff4000);
  EXPECT_OK(cuMemcpyHtoA(array, 0, row.data(), kTexels * 4));
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_UINT_4X8;
  view.width = kTexels;
  view.height = 1;
  CUtexObject texture = 0;
  ASSERT_OK(make(&texture, of_array(array), sampling(CU_TRSF_READ_AS_INTEGER), &view));
  const auto words = read(texture);
  EXPECT_EQ((std::vector<std::uint32_t>{0x00, 0x40, 0xff, 0x80}),
            std::vector(words.begin(), words.begin() + 4));
  CUDA_RESOURCE_VIEW_DESC told{};
  EXPECT_OK(cuTexObjectGetResourceViewDesc(&told, texture));
  EXPECT_EQ(CU_RES_VIEW_FORMAT_UINT_4X8, told.format);
  EXPECT_OK(cuTexObjectDestroy(texture));

  const auto refused = [&](const CUDA_RESOURCE_VIEW_DESC& other) {
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, make(&texture, of_array(array), sampling(), &other));
  };
  CUDA_RESOURCE_VIEW_DESC other = view;
  other.format = CU_RES_VIEW_FORMAT_UINT_2X8;  // half as large
  refused(other);
  other = view;
  other.width = kTexels / 2;
  refused(other);
  other = view;
  other.lastLayer = 1;
  refused(other);
  other = view;
  other.lastMipmapLevel = 1;
  refused(other);
  EXPECT_OK(cuArrayDestroy(array));
}

TEST_F(Textures, NothingButObjectsIsAnObject) {
  const CUarray array = made_array(CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
  const CUDA_RESOURCE_DESC resource = of_array(array);
  const CUDA_TEXTURE_DESC plain = sampling();
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(nullptr, &resource, &plain, nullptr));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, nullptr, &plain, nullptr));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &resource, nullptr, nullptr));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(nullptr, &resource));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, nullptr));
  CUDA_RESOURCE_DESC wrong = resource;
  wrong.flags = 1;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, make(&texture, wrong, plain));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &wrong));
  wrong.flags = 0;
  put(wrong.resType, 17);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, make(&texture, wrong, plain));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, make(&texture, resource, sampling(0x8000)));
  CUDA_TEXTURE_DESC odd_mode = plain;
  put(odd_mode.addressMode[2], 4);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, make(&texture, resource, odd_mode));
  CUDA_TEXTURE_DESC odd_filter = plain;
  put(odd_filter.filterMode, 2);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, make(&texture, resource, odd_filter));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, make(&texture, resource, sampling(CU_TRSF_SEAMLESS_CUBEMAP)));

  ASSERT_OK(make(&texture, resource, plain));
  ASSERT_OK(cuSurfObjectCreate(&surface, &resource));
  CUDA_RESOURCE_DESC told{};
  EXPECT_OK(cuTexObjectGetResourceDesc(&told, texture));
  EXPECT_EQ(array, told.res.array.hArray);
  EXPECT_OK(cuSurfObjectGetResourceDesc(&told, surface));
  EXPECT_EQ(array, told.res.array.hArray);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceDesc(nullptr, texture));
  CUDA_RESOURCE_VIEW_DESC view{};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceViewDesc(&view, texture));
  // Numbers that were never handles, or no longer are.
  for (const CUtexObject odd : {CUtexObject{0}, CUtexObject{1}, ~CUtexObject{0}}) {
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(odd));
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuSurfObjectDestroy(odd));
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuSurfObjectGetResourceDesc(&told, odd));
  }
  EXPECT_OK(cuTexObjectDestroy(texture));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(texture));
  EXPECT_OK(cuSurfObjectDestroy(surface));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuSurfObjectDestroy(surface));
  EXPECT_OK(cuArrayDestroy(array));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, make(&texture, resource, plain));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &resource));
}

TEST_F(Textures, AnArrayThatIsDestroyedIsStillReadByWhatWasMadeOfIt) {
  const CUarray array = made_array(CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  ASSERT_OK(make(&texture, of_array(array), sampling(CU_TRSF_NORMALIZED_COORDINATES)));
  const CUDA_RESOURCE_DESC resource = of_array(array);
  ASSERT_OK(cuSurfObjectCreate(&surface, &resource));
  EXPECT_OK(cuArrayDestroy(array));
  EXPECT_OK(launch("write_surface", 1, kTexels, nullptr, surface, 100));
  const auto words = read(texture, 1.0F / kTexels);
  for (unsigned x = 0; x < kTexels; ++x) EXPECT_EQ(100 + x, words[x * 4]);
  EXPECT_OK(cuSurfObjectDestroy(surface));
  EXPECT_OK(cuTexObjectDestroy(texture));
}

TEST_F(Textures, HundredsComeAndGoAndEndWithTheirContext) {
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device_));
  const CUarray array = made_array(CU_AD_FORMAT_FLOAT, 4);
  CUtexObject last = 0;
  for (int i = 0; i < 300; ++i) {
    CUtexObject texture = 0;
    ASSERT_OK(make(&texture, of_array(array), sampling()));
    last = texture;
    if (i % 2 != 0) continue;
    EXPECT_OK(cuTexObjectDestroy(texture));
  }
  EXPECT_OK(cuCtxDestroy(other));
  EXPECT_OK(cuCtxSetCurrent(context_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(last));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
}

TEST_F(Textures, ArraysHaveTheExtentsThatTheirKindAllows) {
  const auto code_of = [](std::size_t width, std::size_t height, std::size_t depth, unsigned flags) {
    const CUDA_ARRAY3D_DESCRIPTOR wish{width, height, depth, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags};
    CUarray array = nullptr;
    const CUresult code = cuArray3DCreate(&array, &wish);
    if (code != CUDA_SUCCESS) return code;
    return cuArrayDestroy(array);
  };
  EXPECT_CODE(CUDA_SUCCESS, code_of(5, 0, 0, 0));
  EXPECT_CODE(CUDA_SUCCESS, code_of(5, 0, 7, CUDA_ARRAY3D_LAYERED));
  EXPECT_CODE(CUDA_SUCCESS, code_of(5, 5, 6, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_SURFACE_LDST));
  EXPECT_CODE(CUDA_SUCCESS, code_of(5, 5, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED));
  EXPECT_CODE(CUDA_SUCCESS, code_of(5, 3, 0, CUDA_ARRAY3D_TEXTURE_GATHER));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(0, 3, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(5, 0, 3, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(5, 3, 0, CUDA_ARRAY3D_LAYERED));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(5, 4, 6, CUDA_ARRAY3D_CUBEMAP));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(5, 5, 12, CUDA_ARRAY3D_CUBEMAP));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(5, 5, 7, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(5, 3, 2, CUDA_ARRAY3D_TEXTURE_GATHER));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(1U << 20U, 0, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, code_of(16, 16, 1U << 20U, 0));
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, code_of(16, 16, 0, CUDA_ARRAY3D_SPARSE));
  const CUDA_ARRAY3D_DESCRIPTOR odd{16, 16, 0, CU_AD_FORMAT_UNORM_INT8X4, 2, 0};
  CUarray array = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &odd));
}
