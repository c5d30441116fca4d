// Addresses of device memory, kept free in this process.
#include "cuda-shim/driver/memory/reservation.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <optional>
#include <random>
#include <vector>

namespace {

using fairgv::cuda::remote::Reservation;

constexpr std::uint64_t kPage = 4096;

/// Addresses that nobody uses: those of a mapping that is gone. Nothing in this test maps memory of that size
/// meanwhile.
std::uint64_t unused_pages(std::size_t count) {
  void* const found =
      ::mmap(nullptr, count * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(found, MAP_FAILED);
  ::munmap(found, count * kPage);
  return reinterpret_cast<std::uint64_t>(found);
}

bool is_mapped(std::uint64_t address) {
  // msync() fails with ENOMEM on pages that are not mapped.
  return ::msync(reinterpret_cast<void*>(address / kPage * kPage), kPage, MS_ASYNC) == 0 || errno != ENOMEM;
}

}  // namespace

TEST(Reservation, HoldsThePagesOfItsRangeAndLetsGoOfThem) {
  const std::uint64_t begin = unused_pages(1024);
  {
    const auto held = Reservation::make(begin + 100, 3 * kPage);
    ASSERT_TRUE(held);
    EXPECT_TRUE(is_mapped(begin));
    EXPECT_TRUE(is_mapped(begin + 3 * kPage));
    EXPECT_FALSE(is_mapped(begin + 4 * kPage));
  }
  EXPECT_FALSE(is_mapped(begin));
  EXPECT_FALSE(is_mapped(begin + 3 * kPage));
}

TEST(Reservation, IsRefusedWhereTheProgramHasMemoryOfItsOwn) {
  const std::uint64_t begin = unused_pages(1024);
  void* const own = ::mmap(reinterpret_cast<void*>(begin + 2 * kPage), kPage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(reinterpret_cast<std::uint64_t>(own), begin + 2 * kPage);
  *static_cast<int*>(own) = 42;
  EXPECT_FALSE(Reservation::make(begin, 4 * kPage));
  EXPECT_FALSE(Reservation::make(begin + 2 * kPage + 8, 8));
  EXPECT_FALSE(is_mapped(begin)) << "what was refused holds nothing";
  EXPECT_TRUE(Reservation::make(begin, 2 * kPage));
  EXPECT_EQ(*static_cast<int*>(own), 42);
  ::munmap(own, kPage);
  EXPECT_TRUE(Reservation::make(begin, 4 * kPage));
}

// Small allocations of the worker's heap lie side by side.
TEST(Reservation, RangesThatShareAPageHoldItTogether) {
  constexpr std::uint64_t kPages = 16;
  const std::uint64_t begin = unused_pages(1024);
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> cuts{0};
  while (cuts.back() < kPages * kPage) cuts.push_back(cuts.back() + 1 + random() % (3 * kPage / 2));
  std::vector<std::optional<Reservation>> held(cuts.size() - 1);
  const auto expect_exactly_what_is_held = [&] {
    for (std::uint64_t page = 0; page < cuts.back() / kPage + 2; ++page) {
      bool wanted = false;
      for (std::size_t at = 0; at < held.size(); ++at) {
        wanted |= held[at] && cuts[at] < (page + 1) * kPage && cuts[at + 1] > page * kPage;
      }
      EXPECT_EQ(is_mapped(begin + page * kPage), wanted) << "page " << page;
    }
  };
  for (int step = 0; step < 200; ++step) {
    const std::size_t at = random() % held.size();
    if (held[at]) {
      held[at].reset();
    } else {
      held[at] = Reservation::make(begin + cuts[at], cuts[at + 1] - cuts[at]);
      ASSERT_TRUE(held[at]);
    }
    expect_exactly_what_is_held();
  }
  held.clear();
}
