// The software driver's window of addresses, over ranges that nothing else uses.
#include "cuda-shim/softcuda/driver/device/address_window.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <random>

namespace fairgv::cuda::soft {
namespace {

constexpr std::uint64_t kWindowMiB = std::uint64_t{1} << 20U;

/// Of its own for each test: addresses that the system has just given, and taken back.
struct AddressWindowTest : testing::Test {
  static constexpr std::uint64_t kBytes = 512 * kWindowMiB;

  AddressWindowTest() {
    constexpr std::uint64_t kStepBytes = 2 * kWindowMiB;
    void* const got =
        ::mmap(nullptr, kBytes + kStepBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(got, MAP_FAILED);
    ::munmap(got, kBytes + kStepBytes);
    begin = (reinterpret_cast<std::uint64_t>(got) + kStepBytes - 1) / kStepBytes * kStepBytes;
    window.emplace(begin, begin + kBytes);
  }
  ~AddressWindowTest() override { ::munmap(reinterpret_cast<void*>(begin), kBytes); }

  static void fill(std::uint64_t address, std::uint64_t bytes, int value) {
    std::memset(reinterpret_cast<void*>(address), value, bytes);
  }
  static bool has(std::uint64_t address, std::uint64_t bytes, int value) {
    const auto* const at = reinterpret_cast<const unsigned char*>(address);
    return at[0] == value && at[bytes / 2] == value && at[bytes - 1] == value;
  }
  static bool is_there(std::uint64_t address) {
    unsigned char resident = 0;
    return ::mincore(reinterpret_cast<void*>(address / 4096 * 4096), 4096, &resident) == 0;
  }

  std::uint64_t begin = 0;
  std::optional<AddressWindow> window;
};

TEST_F(AddressWindowTest, MemoryCanBeUsedAndTakenAgainAtItsAddress) {
  const std::uint64_t first = window->take(1000, 512);
  const std::uint64_t second = window->take(5 * kWindowMiB, 4096);
  ASSERT_NE(first, 0U);
  ASSERT_NE(second, 0U);
  EXPECT_EQ(first % 512, 0U);
  EXPECT_EQ(second % 4096, 0U);
  fill(first, 1000, 1);
  fill(second, 5 * kWindowMiB, 2);
  EXPECT_TRUE(has(first, 1000, 1));
  EXPECT_FALSE(window->take_at(second, 512)) << "in use";
  EXPECT_FALSE(window->take_at(second + kWindowMiB, 512));
  EXPECT_FALSE(window->take_at(second - 512, kWindowMiB)) << "overlaps";
  window->give_back(second, 5 * kWindowMiB);
  EXPECT_TRUE(window->take_at(second, 5 * kWindowMiB));
  fill(second, 5 * kWindowMiB, 3);
  EXPECT_TRUE(has(first, 1000, 1));
}

TEST_F(AddressWindowTest, NothingLiesOutside) {
  EXPECT_EQ(window->take(kBytes + 1, 512), 0U);
  EXPECT_EQ(window->take(0, 512), 0U);
  EXPECT_FALSE(window->take_at(begin - 512, 512));
  EXPECT_FALSE(window->take_at(begin + kBytes - 512, 1024));
  EXPECT_FALSE(window->take_at(begin + kBytes, 512));
  EXPECT_FALSE(window->take_at(begin, 0));
  EXPECT_TRUE(window->take_at(begin + kBytes - 512, 512));
  fill(begin + kBytes - 512, 512, 1);
}

TEST_F(AddressWindowTest, PagesGoWhenMuchIsFree) {
  constexpr std::uint64_t kMuch = 256 * kWindowMiB;
  const std::uint64_t large = window->take(kMuch, 4096);
  const std::uint64_t small = window->take(4096, 4096);
  fill(small, 4096, 7);
  window->give_back(large, kMuch);
  EXPECT_FALSE(is_there(large + kMuch / 2));
  EXPECT_TRUE(has(small, 4096, 7)) << "in the same step";
  const std::uint64_t again = window->take(kMuch, 4096);
  ASSERT_NE(again, 0U);
  fill(again, kMuch, 8);
  EXPECT_TRUE(has(small, 4096, 7));
}

TEST_F(AddressWindowTest, OtherCodesPagesAreLeftAlone) {
  void* const theirs = ::mmap(reinterpret_cast<void*>(begin), 4096, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  ASSERT_NE(theirs, MAP_FAILED);
  fill(begin, 4096, 9);
  EXPECT_FALSE(window->take_at(begin, 512));
  EXPECT_TRUE(window->take_at(begin + 4 * kWindowMiB, 512));
  EXPECT_TRUE(has(begin, 4096, 9));
}

TEST_F(AddressWindowTest, RandomBlocksKeepTheirContents) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  struct Block {
    std::uint64_t bytes;
    int value;
  };
  std::map<std::uint64_t, Block> blocks;
  for (int step = 0; step < 3000; ++step) {
    if (blocks.size() > 40 || (!blocks.empty() && random() % 3 == 0)) {
      auto gone = blocks.begin();
      std::advance(gone, random() % blocks.size());
      const auto [address, block] = *gone;
      ASSERT_TRUE(has(address, block.bytes, block.value)) << step;
      window->give_back(address, block.bytes);
      blocks.erase(gone);
      if (random() % 2 == 0) continue;
      ASSERT_TRUE(window->take_at(address, block.bytes)) << step;
      fill(address, block.bytes, block.value);
      blocks.emplace(address, block);
      continue;
    }
    const bool is_large = random() % 8 == 0;
    const std::uint64_t bytes = 512 * (1 + random() % (is_large ? 12'000 : 20));
    const std::uint64_t address = window->take(bytes, random() % 2 == 0 ? 512 : 4096);
    ASSERT_NE(address, 0U) << step;
    const auto next = blocks.lower_bound(address);
    ASSERT_TRUE(next == blocks.end() || next->first >= address + bytes);
    ASSERT_TRUE(next == blocks.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= address);
    const int value = static_cast<int>(random() % 256);
    fill(address, bytes, value);
    blocks.emplace(address, Block{bytes, value});
  }
  for (const auto& [address, block] : blocks) ASSERT_TRUE(has(address, block.bytes, block.value));
}

}  // namespace
}  // namespace fairgv::cuda::soft
