// Rectangles: pitches, bounds, overlap against brute force; gathering and scattering.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "icd/memory/host_region.hpp"
#include "icd/transfer/copy_bytes.hpp"

namespace fairgv::icd {
namespace {

using wire::Extent3;

TEST(HostRegion, PitchesOfZeroMeanNoGaps) {
  RectLayout layout;
  ASSERT_TRUE(resolve_pitches({7, 5, 3}, 0, 0, layout));
  EXPECT_EQ(7U, layout.row_pitch);
  EXPECT_EQ(35U, layout.slice_pitch);
}

TEST(HostRegion, PitchesSmallerThanTheRegionAreRefused) {
  RectLayout layout;
  EXPECT_FALSE(resolve_pitches({8, 4, 1}, 7, 0, layout));
  EXPECT_FALSE(resolve_pitches({8, 4, 1}, 8, 31, layout));
  EXPECT_FALSE(resolve_pitches({8, 4, 1}, 10, 45, layout)) << "no multiple of the row pitch";
  EXPECT_TRUE(resolve_pitches({8, 4, 1}, 10, 50, layout));
}

TEST(HostRegion, PitchesThatOverflowAreRefused) {
  RectLayout layout;
  EXPECT_FALSE(resolve_pitches({1, UINT64_MAX, 2}, 1U << 20, 0, layout));
}

TEST(HostRegion, RectanglesFitUpToTheirLastByte) {
  const Extent3 region{4, 3, 2};
  const RectLayout layout{10, 40};
  const std::uint64_t last = (1 + 1) * 40 + (2 + 2) * 10 + 3 + 4;
  EXPECT_TRUE(rect_fits({3, 2, 1}, region, layout, last));
  EXPECT_FALSE(rect_fits({3, 2, 1}, region, layout, last - 1));
}

TEST(HostRegion, RectanglesBeyondAllMemoryDoNotFit) {
  EXPECT_FALSE(rect_fits({UINT64_MAX, 0, 0}, {2, 1, 1}, {2, 2}, 4096));
  EXPECT_FALSE(rect_fits({0, 0, 4095}, {1, 1, 1}, {1, UINT64_MAX}, 4096));
  EXPECT_FALSE(rect_fits({0, 0, 0}, {1, 1, UINT64_MAX}, {1, 1}, 4096));
}

std::set<std::uint64_t> bytes_of(const Extent3& origin, const Extent3& region, const RectLayout& layout) {
  std::set<std::uint64_t> bytes;
  for (std::uint64_t z = 0; z < region.z; ++z) {
    for (std::uint64_t y = 0; y < region.y; ++y) {
      for (std::uint64_t x = 0; x < region.x; ++x) {
        bytes.insert(rect_offset({origin.x + x, origin.y + y, origin.z + z}, layout));
      }
    }
  }
  return bytes;
}

TEST(HostRegion, OverlapIsWhatCountingBytesSays) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t most) { return random() % (most + 1); };
  for (int round = 0; round < 5000; ++round) {
    const Extent3 region{1 + pick(5), 1 + pick(3), 1 + pick(2)};
    const std::uint64_t row = region.x + pick(4);
    const RectLayout layout{row, row * (region.y + pick(2))};
    const Extent3 a{pick(7), pick(5), pick(3)};
    const Extent3 b{pick(7), pick(5), pick(3)};
    const std::set<std::uint64_t> first = bytes_of(a, region, layout);
    bool shared = false;
    for (const std::uint64_t byte : bytes_of(b, region, layout)) shared = shared || first.count(byte) != 0;
    ASSERT_EQ(shared, rects_overlap(a, b, region, layout)) << "round " << round;
  }
}

TEST(HostRegion, GatherAndScatterAreInverseAndKeepGaps) {
  std::vector<std::byte> memory(200, std::byte{0xEE});
  HostRegion region = HostRegion::flat(memory.data() + 5, 1);
  region.region = {3, 4, 2};
  region.row_pitch = 7;
  region.slice_pitch = 50;
  std::vector<std::byte> staging(region.bytes());
  for (std::size_t i = 0; i < staging.size(); ++i) staging[i] = static_cast<std::byte>(i);
  scatter(staging.data(), region);
  EXPECT_EQ(std::byte{3}, memory[5 + 7]);
  EXPECT_EQ(std::byte{12}, memory[5 + 50]);
  EXPECT_EQ(std::byte{0xEE}, memory[5 + 3]) << "a gap";
  std::vector<std::byte> back(staging.size());
  gather(region, back.data());
  EXPECT_EQ(staging, back);
}

// Every distance between the places within their pages, with sizes around the blocks that are copied at a
// time.
TEST(CopyBytes, CopiesAllBytesAndNoOthers) {
  constexpr std::size_t kPage = 4096;
  alignas(4096) static std::array<std::byte, 4 * kPage> from;
  alignas(4096) static std::array<std::byte, 4 * kPage> to;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 31 + i / 256);
  for (const std::size_t distance : {0U, 1U, 16U, 63U, 64U, 4095U}) {
    for (const std::size_t bytes : {0U, 1U, 255U, 256U, 257U, 4096U, 5000U}) {
      to.fill(std::byte{0xEE});
      copy_bytes(to.data() + distance, from.data(), bytes);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const bool copied = i >= distance && i < distance + bytes;
        ASSERT_EQ(copied ? from[i - distance] : std::byte{0xEE}, to[i])
            << "distance " << distance << ", " << bytes << " bytes, at " << i;
      }
    }
  }
}

// A program may write into a buffer from a pointer into that buffer's mapped memory.
TEST(CopyBytes, CopiesBetweenPlacesThatOverlap) {
  constexpr std::size_t kBytes = 5000;
  std::vector<std::byte> before(3 * kBytes);
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<std::byte>(i * 31 + i / 256);
  for (const std::ptrdiff_t shift : {1, 63, 64, 300, 4097, 4999, -1, -63, -64, -300, -4095, -4090, -4999}) {
    std::vector<std::byte> bytes = before;
    copy_bytes(bytes.data() + kBytes + shift, bytes.data() + kBytes, kBytes);
    std::vector<std::byte> wanted = before;
    std::copy_n(before.data() + kBytes, kBytes, wanted.data() + kBytes + shift);
    EXPECT_EQ(wanted, bytes) << "shift " << shift;
  }
}

TEST(CopyBytes, CopiesWhatIsTooLargeForCaches) {
  constexpr std::size_t kBytes = (std::size_t{16} << 20) + 77;
  std::vector<std::byte> from(kBytes + 64);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 2654435761U >> 24);
  std::vector<std::byte> to(kBytes + 192);
  for (const std::size_t from_offset : {0U, 3U, 16U}) {
    for (const std::size_t to_offset : {64U, 65U, 127U}) {
      std::fill(to.begin(), to.end(), std::byte{0xEE});
      copy_bytes(to.data() + to_offset, from.data() + from_offset, kBytes);
      EXPECT_EQ(0, std::memcmp(to.data() + to_offset, from.data() + from_offset, kBytes));
      const auto untouched = [](std::byte byte) { return byte == std::byte{0xEE}; };
      EXPECT_TRUE(std::all_of(to.data(), to.data() + to_offset, untouched));
      EXPECT_TRUE(std::all_of(to.data() + to_offset + kBytes, to.data() + to.size(), untouched));
    }
  }
}

}  // namespace
}  // namespace fairgv::icd
