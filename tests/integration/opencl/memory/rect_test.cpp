// Rectangles: random transfers and copies against a model on the host.
#include <algorithm>
#include <array>
#include <cstring>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

using Triple = std::array<std::size_t, 3>;

/// One side of a rectangle transfer: the place of the box in linear memory.
struct Side {
  Triple origin{};
  std::size_t row_pitch = 0;
  std::size_t slice_pitch = 0;

  std::size_t offset(const Triple& at) const {
    return (origin[2] + at[2]) * slice_pitch + (origin[1] + at[1]) * row_pitch + origin[0] + at[0];
  }
  std::size_t end(const Triple& region) const {
    return offset({region[0] - 1, region[1] - 1, region[2] - 1}) + 1;
  }
};

class Rects : public OpenCL {
 protected:
  Triple random_region() { return {1 + pick(40), 1 + pick(9), 1 + pick(5)}; }

  Side random_side(const Triple& region) {
    Side side;
    side.origin = {pick(10), pick(4), pick(3)};
    side.row_pitch = region[0] + side.origin[0] + pick(8);
    side.slice_pitch = side.row_pitch * (region[1] + side.origin[1] + pick(3));
    return side;
  }
};

void copy_box(const Triple& region, const Side& from, const Bytes& source, const Side& to,
              Bytes& destination) {
  for (std::size_t z = 0; z < region[2]; ++z) {
    for (std::size_t y = 0; y < region[1]; ++y) {
      for (std::size_t x = 0; x < region[0]; ++x) {
        destination[to.offset({x, y, z})] = source[from.offset({x, y, z})];
      }
    }
  }
}

TEST_F(Rects, AreReadAsTheModelReadsThem) {
  for (int round = 0; round < 40; ++round) {
    const Triple region = random_region();
    const Side device_side = random_side(region);
    const Side host_side = random_side(region);
    const Bytes contents = random_bytes(device_side.end(region) + pick(50));
    const Buffer buffer = make_buffer(contents);
    Bytes host = random_bytes(host_side.end(region) + pick(50));
    Bytes model = host;
    copy_box(region, device_side, contents, host_side, model);
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueReadBufferRect(queue, buffer, round % 2 == 0, device_side.origin.data(),
                                      host_side.origin.data(), region.data(), device_side.row_pitch,
                                      device_side.slice_pitch, host_side.row_pitch, host_side.slice_pitch,
                                      host.data(), 0, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS, clFinish(queue));
    ASSERT_EQ(model, host) << "round " << round;
  }
}

TEST_F(Rects, AreWrittenAsTheModelWritesThem) {
  for (int round = 0; round < 40; ++round) {
    const Triple region = random_region();
    const Side device_side = random_side(region);
    const Side host_side = random_side(region);
    Bytes model = random_bytes(device_side.end(region) + pick(50));
    const Buffer buffer = make_buffer(model);
    const Bytes host = random_bytes(host_side.end(region) + pick(50));
    copy_box(region, host_side, host, device_side, model);
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueWriteBufferRect(queue, buffer, round % 2 == 0, device_side.origin.data(),
                                       host_side.origin.data(), region.data(), device_side.row_pitch,
                                       device_side.slice_pitch, host_side.row_pitch, host_side.slice_pitch,
                                       host.data(), 0, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS, clFinish(queue));
    ASSERT_EQ(model, read(buffer, model.size())) << "round " << round;
  }
}

TEST_F(Rects, AreCopiedAsTheModelCopiesThem) {
  for (int round = 0; round < 40; ++round) {
    const Triple region = random_region();
    const Side from = random_side(region);
    const Side to = random_side(region);
    const Bytes source = random_bytes(from.end(region) + pick(50));
    Bytes model = random_bytes(to.end(region) + pick(50));
    const Buffer first = make_buffer(source);
    const Buffer second = make_buffer(model);
    copy_box(region, from, source, to, model);
    ASSERT_EQ(CL_SUCCESS, clEnqueueCopyBufferRect(queue, first, second, from.origin.data(), to.origin.data(),
                                                  region.data(), from.row_pitch, from.slice_pitch,
                                                  to.row_pitch, to.slice_pitch, 0, nullptr, nullptr));
    ASSERT_EQ(model, read(second, model.size())) << "round " << round;
  }
}

TEST_F(Rects, WithoutPitchesLieWithoutGaps) {
  const Triple region{7, 5, 3};
  const Triple zero{};
  const Bytes data = random_bytes(7 * 5 * 3);
  const Buffer buffer = make_buffer(data.size());
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, zero.data(), zero.data(), region.data(), 0, 0, 0,
                                     0, data.data(), 0, nullptr, nullptr));
  EXPECT_EQ(data, read(buffer, data.size()));
}

TEST_F(Rects, ThatOverlapInOneBufferAreRefused) {
  const Buffer buffer = make_buffer(4096);
  const Triple region{8, 4, 1};
  const Triple first{0, 0, 0};
  const Triple meets{4, 2, 0};
  const Triple beside{8, 0, 0};
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, clEnqueueCopyBufferRect(queue, buffer, buffer, first.data(), meets.data(),
                                                         region.data(), 64, 0, 64, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, clEnqueueCopyBufferRect(queue, buffer, buffer, first.data(), beside.data(),
                                                region.data(), 64, 0, 64, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, clFinish(queue));
}

}  // namespace
}  // namespace fairgv::test
