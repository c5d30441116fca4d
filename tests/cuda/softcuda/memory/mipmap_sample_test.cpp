// Fetches from mipmapped textures of every geometry, filter and clamp, against the host's choice of levels. A
// level by itself is read as the single-level texture that it is also: other tests have compared that with
// the guide.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <vector>

#include "../fixture.hpp"
#include "tests/harness/seed.hpp"

namespace {

struct LevelPoint {
  float at[3];
  float level;
  float along_x[3], along_y[3];  // the gradient
  std::uint32_t layer;
  std::int32_t whole_level;
};
static_assert(sizeof(LevelPoint) == 48);

/// The fetch of the kernel at a point.
struct Fetched {
  std::array<float, 4> at_level, at_gradient, at_base;
};
static_assert(sizeof(Fetched) == 48);

struct Shape {
  const char* name;
  std::size_t dimensions;  // of a level
  bool layered, cube;
  const char* place;
  const char* steps[2];
};
constexpr Shape kShapes[] = {
    {"1d", 1, false, false, "{%x}", {"{%u0}", "{%v0}"}},
    {"2d", 2, false, false, "{%x, %y}", {"{%u0, %u1}", "{%v0, %v1}"}},
    {"3d", 3, false, false, "{%x, %y, %z, %z}", {"{%u0, %u1, %u2, %u2}", "{%v0, %v1, %v2, %v2}"}},
    {"a1d", 1, true, false, "{%layer, %x}", {"{%u0}", "{%v0}"}},
    {"a2d", 2, true, false, "{%layer, %x, %y, %y}", {"{%u0, %u1}", "{%v0, %v1}"}},
    {"cube", 2, false, true, "{%x, %y, %z, %z}", {"{%u0, %u1, %u2, %u2}", "{%v0, %v1, %v2, %v2}"}},
    {"acube", 2, true, true, "{%layer, %x, %y, %z}", {"{%u0, %u1, %u2, %u2}", "{%v0, %v1, %v2, %v2}"}},
};

std::string reader_of(const Shape& shape) {
  std::ostringstream text;
  const auto fetch = [&](const std::string& form, const std::string& more, int offset) {
    text << "tex" << form << "." << shape.name << ".v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, " << shape.place
         << "]" << more << ";\nst.global.v4.f32 [%to+" << offset << "], {%d0, %d1, %d2, %d3};\n";
  };
  text
      << ".visible .entry read_" << shape.name
      << "(.param .u64 object, .param .u64 points, .param .u64 out, .param .u32 count)\n{\n"
         ".reg .pred %p;\n.reg .b32 %n, %m, %r<4>, %layer;\n.reg .b64 %t, %points, %out, %from, %to;\n"
         ".reg .f32 %x, %y, %z, %level, %u<3>, %v<3>, %d<4>;\n"
         "ld.param.u64 %t, [object];\nld.param.u64 %points, [points];\nld.param.u64 %out, [out];\n"
         "ld.param.u32 %m, [count];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
         "mad.lo.u32 %n, %r1, %r2, %r3;\nsetp.ge.u32 %p, %n, %m;\n@%p bra DONE;\n"
         "mad.wide.u32 %from, %n, 48, %points;\nmad.wide.u32 %to, %n, 48, %out;\n"
         "ld.global.f32 %x, [%from];\nld.global.f32 %y, [%from+4];\nld.global.f32 %z, [%from+8];\n"
         "ld.global.f32 %level, [%from+12];\nld.global.f32 %u0, [%from+16];\nld.global.f32 %u1, [%from+20];\n"
         "ld.global.f32 %u2, [%from+24];\nld.global.f32 %v0, [%from+28];\nld.global.f32 %v1, [%from+32];\n"
         "ld.global.f32 %v2, [%from+36];\nld.global.b32 %layer, [%from+40];\n";
  fetch(".level", ", %level", 0);
  fetch(".grad", std::string(", ") + shape.steps[0] + ", " + shape.steps[1], 16);
  fetch("", "", 32);
  text << "DONE:\nret;\n}\n";
  return text.str();
}

/// The level that gradients ask for: how far a step of one goes at most, in texels of the first level.
double level_of_gradient(const Shape& shape, const CUDA_ARRAY3D_DESCRIPTOR& first, const LevelPoint& p) {
  const double size[3] = {static_cast<double>(first.Width), static_cast<double>(first.Height),
                          static_cast<double>(first.Depth)};
  double longest = 0;
  for (const float* step : {p.along_x, p.along_y}) {
    double squares = 0;
    if (shape.cube) {
      // The place on the face is c / |r|, from -1 to 1, for either coordinate c and the largest, r.
      std::size_t major = 2;
      const auto size_of = [&](std::size_t d) { return std::abs(p.at[d]); };
      if (size_of(0) > size_of(1) && size_of(0) > size_of(2)) {
        major = 0;
      } else if (size_of(1) > size_of(2)) {
        major = 1;
      }
      const double r = p.at[major], dr = step[major];
      for (std::size_t d = 0; d < 3; ++d) {
        if (d == major) continue;
        const double moves = (step[d] * r - p.at[d] * dr) / (r * r) * size[0] / 2;
        squares += moves * moves;
      }
    } else {
      for (std::size_t d = 0; d < shape.dimensions; ++d) squares += std::pow(step[d] * size[d], 2);
    }
    longest = std::max(longest, squares);
  }
  return std::log2(longest) / 2;
}

class MipmapSamples : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    std::string text = ".version 7.0\n.target sm_75\n.address_size 64\n";
    for (const Shape& shape : kShapes) text += reader_of(shape);
    ASSERT_OK(cuModuleLoadData(&module_, text.c_str()));
  }

  unsigned below(unsigned count) { return static_cast<unsigned>(random_() % count); }
  float between(double low, double high) {
    return static_cast<float>(std::uniform_real_distribution<double>(low, high)(random_));
  }

  CUDA_ARRAY3D_DESCRIPTOR random_first(const Shape& shape) {
    CUDA_ARRAY3D_DESCRIPTOR first{};
    first.Width = 1 + below(24);
    if (shape.dimensions > 1) first.Height = shape.cube ? first.Width : 1 + below(24);
    if (shape.dimensions > 2) first.Depth = 1 + below(12);
    if (shape.layered) first.Depth = 1 + below(3);
    if (shape.cube) first.Depth = shape.layered ? first.Depth * 6 : 6;
    first.Flags = (shape.layered ? unsigned{CUDA_ARRAY3D_LAYERED} : 0U) |
                  (shape.cube ? unsigned{CUDA_ARRAY3D_CUBEMAP} : 0U);
    const bool bytes = below(3) == 0;  // read as numbers from 0 to 1
    first.Format = bytes ? CU_AD_FORMAT_UNSIGNED_INT8 : CU_AD_FORMAT_FLOAT;
    first.NumChannels = 1U << below(3);
    return first;
  }

  void fill(CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    ASSERT_OK(cuArray3DGetDescriptor(&shape, array));
    const std::size_t rows = std::max<std::size_t>(1, shape.Height);
    const std::size_t slices = std::max<std::size_t>(1, shape.Depth);
    const bool bytes = shape.Format == CU_AD_FORMAT_UNSIGNED_INT8;
    const std::size_t row = shape.Width * shape.NumChannels * (bytes ? 1 : 4);
    std::vector<unsigned char> texels(row * rows * slices);
    for (std::size_t at = 0; at < texels.size(); at += bytes ? 1 : 4) {
      const float value = between(-100, 100);
      if (bytes) {
        texels[at] = static_cast<unsigned char>(random_());
      } else {
        std::memcpy(&texels[at], &value, 4);
      }
    }
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels.data();
    copy.srcPitch = row;
    copy.srcHeight = rows;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = row;
    copy.Height = rows;
    copy.Depth = slices;
    ASSERT_OK(cuMemcpy3D(&copy));
  }

  CUDA_TEXTURE_DESC random_sampling(unsigned levels) {
    CUDA_TEXTURE_DESC sampling{};
    for (CUaddress_mode& mode : sampling.addressMode) mode = static_cast<CUaddress_mode>(below(4));
    sampling.filterMode = static_cast<CUfilter_mode>(below(2));
    sampling.mipmapFilterMode = static_cast<CUfilter_mode>(below(2));
    sampling.flags = CU_TRSF_NORMALIZED_COORDINATES;
    sampling.maxMipmapLevelClamp = static_cast<float>(levels);
    for (float& border : sampling.borderColor) border = between(-2, 2);
    if (below(2) == 0) sampling.mipmapLevelBias = between(-2, 2);
    if (below(2) == 0) sampling.minMipmapLevelClamp = between(0, levels);
    if (below(3) == 0) sampling.maxMipmapLevelClamp = between(0, levels);
    return sampling;
  }

  std::vector<LevelPoint> random_points(const Shape& shape, const CUDA_ARRAY3D_DESCRIPTOR& first) {
    std::vector<LevelPoint> points(64);
    for (LevelPoint& p : points) {
      for (float& x : p.at) x = shape.cube ? between(-1, 1) : between(-0.6, 1.6);
      p.level = below(4) == 0 ? static_cast<float>(below(6)) : between(-2, 7);
      const double reach = std::pow(2, between(-2, 6)) / static_cast<double>(first.Width);
      for (float& step : p.along_x) step = between(-reach, reach);
      for (float& step : p.along_y) step = between(-reach, reach);
      p.layer = below(5);
    }
    return points;
  }

  std::vector<Fetched> fetch(const Shape& shape, CUtexObject texture, const std::vector<LevelPoint>& points) {
    CUfunction function = nullptr;
    EXPECT_OK(cuModuleGetFunction(&function, module_, (std::string("read_") + shape.name).c_str()));
    std::vector<Fetched> fetched(points.size());
    auto count = static_cast<std::uint32_t>(points.size());
    CUdeviceptr in = allocate(points.size() * sizeof(LevelPoint));
    CUdeviceptr out = allocate(points.size() * sizeof(Fetched));
    EXPECT_OK(cuMemcpyHtoD(in, points.data(), points.size() * sizeof(LevelPoint)));
    void* arguments[] = {&texture, &in, &out, &count};
    EXPECT_OK(cuLaunchKernel(function, (count + 31) / 32, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT_OK(cuMemcpyDtoH(fetched.data(), out, fetched.size() * sizeof(Fetched)));
    EXPECT_OK(cuMemFree(in));
    EXPECT_OK(cuMemFree(out));
    return fetched;
  }

  /// One mipmapped texture, and a texture of each of its levels that it shows.
  struct Pyramid {
    CUDA_ARRAY3D_DESCRIPTOR first{};  // of those that are shown
    CUDA_TEXTURE_DESC sampling{};
    std::vector<std::vector<Fetched>> alone;  // what each level has at the points
  };

  static CUDA_RESOURCE_VIEW_DESC view_of(CUarray array, unsigned first_layer, unsigned last_layer) {
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    EXPECT_OK(cuArray3DGetDescriptor(&shape, array));
    CUDA_RESOURCE_VIEW_DESC view{};
    view.width = shape.Width;
    view.height = shape.Height;
    view.depth = shape.Depth;
    view.firstLayer = first_layer;
    view.lastLayer = last_layer;
    return view;
  }

  /// Reads the two levels around `wished` by their weights, or the nearest.
  static std::array<float, 4> blended(const Pyramid& of, std::size_t point, double wished) {
    const double most = static_cast<double>(of.alone.size()) - 1;
    const auto inside = [most](double level) { return std::clamp(level, 0.0, most); };
    double level = std::max(wished + of.sampling.mipmapLevelBias, inside(of.sampling.minMipmapLevelClamp));
    level = std::min(level, inside(of.sampling.maxMipmapLevelClamp));
    const auto texel = [&](double at) { return of.alone[static_cast<std::size_t>(at)][point].at_base; };
    if (of.sampling.mipmapFilterMode == CU_TR_FILTER_MODE_POINT) return texel(std::floor(level + 0.5));
    level = std::nearbyint(level * 256) / 256;
    const double low = std::floor(level), weight = level - low;
    std::array<float, 4> result = texel(low);
    if (weight == 0) return result;
    const std::array<float, 4> high = texel(low + 1);
    for (std::size_t c = 0; c < 4; ++c)
      result[c] = static_cast<float>(result[c] * (1 - weight) + high[c] * weight);
    return result;
  }

  /// Whether it is what a level within `error` of `wished` gives.
  static testing::AssertionResult fits(const std::array<float, 4>& seen, const Pyramid& of, std::size_t point,
                                       double wished, double error) {
    std::ostringstream wanted;
    for (const double off : {0.0, -error, error}) {
      const std::array<float, 4> expected = blended(of, point, wished + off);
      bool same = true;
      for (std::size_t c = 0; c < 4; ++c) {
        same = same && (seen[c] == expected[c] || std::abs(seen[c] - expected[c]) <= 2e-4);
        wanted << expected[c] << ' ';
      }
      if (same) return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << seen[0] << ' ' << seen[1] << ' ' << seen[2] << ' ' << seen[3]
                                       << ", not one of " << wanted.str() << "at level " << wished;
  }

  void compare_one(const Shape& shape);

  CUmodule module_ = nullptr;
  std::mt19937_64 random_{fairgv::harness::printed_seed()};
};

void MipmapSamples::compare_one(const Shape& shape) {
  const CUDA_ARRAY3D_DESCRIPTOR whole = random_first(shape);
  CUmipmappedArray mipmap = nullptr;
  ASSERT_OK(cuMipmappedArrayCreate(&mipmap, &whole, 1 + below(6)));
  std::vector<CUarray> levels;
  for (CUarray level = nullptr;
       cuMipmappedArrayGetLevel(&level, mipmap, static_cast<unsigned>(levels.size())) == CUDA_SUCCESS;) {
    levels.push_back(level);
    fill(level);
  }
  const auto count = static_cast<unsigned>(levels.size());
  const unsigned first = below(3) == 0 ? below(count) : 0;
  const unsigned last = below(3) == 0 ? first + below(count - first) : count - 1;
  const bool in_view = shape.layered && !shape.cube;
  const auto layers = static_cast<unsigned>(whole.Depth);
  const unsigned first_layer = in_view ? below(layers) : 0;
  const unsigned last_layer = in_view                       ? first_layer + below(layers - first_layer)
                              : shape.layered && shape.cube ? layers - 1
                                                            : 0;
  Pyramid pyramid;
  ASSERT_OK(cuArray3DGetDescriptor(&pyramid.first, levels[first]));
  pyramid.sampling = random_sampling(last - first + 1);
  const std::vector<LevelPoint> points = random_points(shape, pyramid.first);
  for (unsigned level = first; level <= last; ++level) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = levels[level];
    const CUDA_RESOURCE_VIEW_DESC view = view_of(levels[level], first_layer, last_layer);
    CUtexObject texture = 0;
    ASSERT_OK(cuTexObjectCreate(&texture, &resource, &pyramid.sampling, &view));
    pyramid.alone.push_back(fetch(shape, texture, points));
    for (const Fetched& each : pyramid.alone.back()) {
      ASSERT_EQ(0, std::memcmp(&each.at_level, &each.at_base, 16)) << "there is one level only";
      ASSERT_EQ(0, std::memcmp(&each.at_gradient, &each.at_base, 16)) << "there is one level only";
    }
    ASSERT_OK(cuTexObjectDestroy(texture));
  }
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = mipmap;
  CUDA_RESOURCE_VIEW_DESC view = view_of(levels[0], first_layer, last_layer);
  view.firstMipmapLevel = first;
  view.lastMipmapLevel = last;
  CUtexObject texture = 0;
  ASSERT_OK(cuTexObjectCreate(&texture, &resource, &pyramid.sampling, &view));
  const std::vector<Fetched> fetched = fetch(shape, texture, points);
  SCOPED_TRACE(testing::Message() << shape.name << ' ' << whole.Width << " x " << whole.Height << " x "
                                  << whole.Depth << ", levels " << first << " to " << last << " of " << count
                                  << ", filters " << pyramid.sampling.filterMode
                                  << pyramid.sampling.mipmapFilterMode << ", bias "
                                  << pyramid.sampling.mipmapLevelBias << ", clamps "
                                  << pyramid.sampling.minMipmapLevelClamp << ' '
                                  << pyramid.sampling.maxMipmapLevelClamp);
  for (std::size_t n = 0; n < points.size(); ++n) {
    ASSERT_TRUE(fits(fetched[n].at_base, pyramid, n, 0, 1e-6)) << "without a level";
    ASSERT_TRUE(fits(fetched[n].at_level, pyramid, n, points[n].level, 1e-6));
    ASSERT_TRUE(
        fits(fetched[n].at_gradient, pyramid, n, level_of_gradient(shape, pyramid.first, points[n]), 1e-4))
        << "by gradients";
  }
  ASSERT_OK(cuTexObjectDestroy(texture));
  ASSERT_OK(cuMipmappedArrayDestroy(mipmap));
}

TEST_F(MipmapSamples, OfEveryGeometryReadTheLevelsThatTheHostChooses) {
  for (int round = 0; round < 40; ++round) {
    for (const Shape& shape : kShapes) {
      compare_one(shape);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(MipmapSamples, GradientsAndLevelsThatAreNoNumbersReadWhatThereIs) {
  const Shape& shape = kShapes[1];
  CUDA_ARRAY3D_DESCRIPTOR first{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray mipmap = nullptr;
  ASSERT_OK(cuMipmappedArrayCreate(&mipmap, &first, 4));
  for (unsigned level = 0; level < 4; ++level) {
    CUarray array = nullptr;
    ASSERT_OK(cuMipmappedArrayGetLevel(&array, mipmap, level));
    const std::vector<float> texels(64, static_cast<float>(level));
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels.data();
    copy.srcPitch = copy.WidthInBytes = (8U >> level) * 4;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.Height = 8U >> level;
    ASSERT_OK(cuMemcpy2D(&copy));
  }
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = mipmap;
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  constexpr float kAll[] = {0, -INFINITY, INFINITY, kNone, 1e38F, -1e38F, 1.5F};
  std::vector<LevelPoint> points;
  for (const float odd : kAll) points.push_back({{0.5F, 0.5F, 0}, odd, {odd, 0, 0}, {0, odd, 0}, 0, 0});
  for (const float bias : kAll) {
    for (const float least : kAll) {
      for (const float most : {3.0F, kNone, -INFINITY, INFINITY}) {
        CUDA_TEXTURE_DESC sampling{};
        sampling.flags = CU_TRSF_NORMALIZED_COORDINATES;
        sampling.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
        sampling.mipmapLevelBias = bias;
        sampling.minMipmapLevelClamp = least;
        sampling.maxMipmapLevelClamp = most;
        CUtexObject texture = 0;
        ASSERT_OK(cuTexObjectCreate(&texture, &resource, &sampling, nullptr));
        for (const Fetched& each : fetch(shape, texture, points)) {
          for (const float seen : {each.at_level[0], each.at_gradient[0], each.at_base[0]}) {
            EXPECT_GE(seen, 0) << bias << ' ' << least << ' ' << most;
            EXPECT_LE(seen, 3) << bias << ' ' << least << ' ' << most;
          }
        }
        ASSERT_OK(cuTexObjectDestroy(texture));
      }
    }
  }
  ASSERT_OK(cuMipmappedArrayDestroy(mipmap));
}

}  // namespace
