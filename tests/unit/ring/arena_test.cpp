// The arena: pieces never overlap, free memory comes together again, and its pages go back to the system.
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "runtime/ring/arena.hpp"
#include "tests/unit/ring/support.hpp"

namespace fairgv::ring {
namespace {

constexpr uint64_t kArenaBytes = uint64_t{16} << 20;

class ArenaTest : public testing::Test {
 protected:
  static Segment make_segment() {
    SegmentSizes sizes = small_sizes();
    sizes.arena_bytes = kArenaBytes;
    return Segment::create(sizes).value();
  }

  /// Memory that the whole segment occupies now, in bytes.
  uint64_t resident() const {
    struct stat status {};
    EXPECT_EQ(fstat(segment.fd(), &status), 0);
    return static_cast<uint64_t>(status.st_blocks) * 512;
  }

  void touch(uint64_t offset, uint64_t bytes, int value = 0xAB) {
    std::memset(segment.arena().data() + offset, value, bytes);
  }

  bool holds(uint64_t offset, uint64_t bytes, int value) const {
    const std::span<std::byte> piece = segment.arena().subspan(offset, bytes);
    return std::all_of(piece.begin(), piece.end(),
                       [value](std::byte byte) { return byte == static_cast<std::byte>(value); });
  }

  const Segment segment = make_segment();
};

TEST_F(ArenaTest, SmallPiecesAreAlignedToSlotsAndLargeOnesToPages) {
  ArenaAllocator arena(segment.arena());
  EXPECT_EQ(arena.allocate(1), 0U);
  EXPECT_EQ(arena.allocate(65), 64U);
  EXPECT_EQ(arena.allocate(4096), 4096U);
  EXPECT_EQ(arena.allocate(4095), 8192U);
  EXPECT_EQ(arena.allocate(4097), 3 * 4096U);
  EXPECT_EQ(arena.allocate(4096), 5 * 4096U);
}

TEST_F(ArenaTest, EveryPieceEvenOfNothingIsItsOwn) {
  ArenaAllocator arena(segment.arena());
  EXPECT_NE(arena.allocate(0), arena.allocate(0));
}

TEST_F(ArenaTest, TheSmallestBlockThatFitsIsUsedAndOfEqualsTheLowest) {
  ArenaAllocator arena(segment.arena());
  // Three holes between pieces that stay: 3 pages, 1 page, 1 page.
  std::vector<uint64_t> holes;
  for (const uint64_t pages : {3U, 1U, 1U}) {
    holes.push_back(arena.allocate(pages * 4096).value());
    arena.allocate(4096).value();
  }
  for (const uint64_t hole : holes) arena.free(hole);
  EXPECT_EQ(arena.allocate(4096), holes[1]);
  EXPECT_EQ(arena.allocate(4096), holes[2]);
  EXPECT_EQ(arena.allocate(4096), holes[0]);
}

TEST_F(ArenaTest, AnExhaustedArenaAllocatesNothing) {
  ArenaAllocator arena(segment.arena());
  EXPECT_EQ(arena.allocate(kArenaBytes + 1), std::nullopt);
  EXPECT_EQ(arena.allocate(UINT64_MAX), std::nullopt);
  const std::optional<uint64_t> all = arena.allocate(kArenaBytes);
  EXPECT_EQ(all, 0U);
  EXPECT_EQ(arena.allocate(1), std::nullopt);
  arena.free(*all);
  EXPECT_TRUE(arena.allocate(kArenaBytes));
}

TEST_F(ArenaTest, FreeingWhatIsNotAllocatedChangesNothing) {
  ArenaAllocator arena(segment.arena());
  const uint64_t piece = arena.allocate(8192).value();
  arena.free(piece + 4096);
  arena.free(UINT64_MAX);
  EXPECT_EQ(arena.used(), 8192U);
  arena.free(piece);
  arena.free(piece);
  EXPECT_EQ(arena.used(), 0U);
}

TEST_F(ArenaTest, NeighboursFreedInAnyOrderBecomeOneBlock) {
  std::vector<int> order{0, 1, 2};
  do {
    ArenaAllocator arena(segment.arena());
    uint64_t pieces[3];
    for (uint64_t& piece : pieces) piece = arena.allocate(kArenaBytes / 4).value();
    const uint64_t rest = arena.allocate(kArenaBytes / 4).value();
    for (const int i : order) arena.free(pieces[i]);
    EXPECT_EQ(arena.allocate(kArenaBytes / 4 * 3), 0U);
    arena.free(0);
    arena.free(rest);
    EXPECT_EQ(arena.allocate(kArenaBytes), 0U);
  } while (std::next_permutation(order.begin(), order.end()));
}

/// Random allocations and frees against a plain model of pieces and pages.
TEST_F(ArenaTest, RandomUseAgreesWithAModel) {
  constexpr uint64_t kPages = kArenaBytes / kPageBytes;
  std::mt19937_64 random(harness::printed_seed());
  ArenaAllocator arena(segment.arena(), kArenaBytes);  // no memory is given back here
  std::map<uint64_t, uint64_t> pieces;                 // offset -> bytes the piece occupies
  std::vector<uint64_t> users(kPages);                 // pieces on each page
  std::vector<bool> touched(kPages);
  uint64_t used = 0;

  const auto for_pages = [&](uint64_t offset, uint64_t bytes, auto&& change) {
    for (uint64_t page = offset / kPageBytes; page * kPageBytes < offset + bytes; ++page) change(page);
  };
  const auto allocate = [&] {
    const uint64_t wanted = random() % 3 == 0 ? random() % 300'000 : random() % 5'000 + 1;
    const std::optional<uint64_t> offset = arena.allocate(wanted);
    if (!offset) return;
    const uint64_t unit = wanted >= 4096 ? 4096 : 64;
    const uint64_t bytes = std::max<uint64_t>((wanted + unit - 1) / unit, 1) * unit;
    ASSERT_EQ(*offset % unit, 0U);
    ASSERT_LE(*offset + bytes, kArenaBytes);
    const auto after = pieces.lower_bound(*offset);
    if (after != pieces.end()) {
      ASSERT_LE(*offset + bytes, after->first) << "overlaps the next piece";
    }
    if (after != pieces.begin()) {
      ASSERT_LE(std::prev(after)->first + std::prev(after)->second, *offset) << "overlaps the previous piece";
    }
    pieces.emplace(*offset, bytes);
    used += bytes;
    for_pages(*offset, bytes, [&](uint64_t page) {
      ++users[page];
      touched[page] = true;
    });
  };
  const auto release = [&] {
    if (pieces.empty()) return;
    auto piece = pieces.lower_bound(random() % kArenaBytes);
    if (piece == pieces.end()) piece = pieces.begin();
    arena.free(piece->first);
    used -= piece->second;
    for_pages(piece->first, piece->second, [&](uint64_t page) { --users[page]; });
    pieces.erase(piece);
  };

  for (int step = 0; step < 20'000; ++step) {
    // Phases of growing and of shrinking, so that the arena is both exhausted and nearly empty.
    const bool growing = step / 1'000 % 2 == 0;
    if (random() % 10 < (growing ? 7 : 3)) {
      allocate();
    } else {
      release();
    }
    if (HasFatalFailure()) return;
    ASSERT_EQ(arena.used(), used);
    if (step % 50 == 0) {
      uint64_t idle = 0;
      for (uint64_t page = 0; page < kPages; ++page) idle += touched[page] && users[page] == 0 ? 1U : 0U;
      ASSERT_EQ(arena.resident_free(), idle * kPageBytes);
    }
  }
  while (!pieces.empty()) release();
  EXPECT_EQ(arena.used(), 0U);
  EXPECT_TRUE(arena.allocate(kArenaBytes)) << "all free memory is one block again";
}

TEST_F(ArenaTest, PagesOfFreedPiecesGoBackToTheSystem) {
  const uint64_t before = resident();
  ArenaAllocator arena(segment.arena(), 0);
  const uint64_t piece = arena.allocate(8 << 20).value();
  touch(piece, 8 << 20);
  ASSERT_GE(resident(), before + (8 << 20));
  arena.free(piece);
  EXPECT_EQ(resident(), before);
  EXPECT_EQ(arena.resident_free(), 0U);
}

TEST_F(ArenaTest, NoMoreThanTheKeptBytesStayResident) {
  constexpr uint64_t kKeep = 1 << 20;
  const uint64_t before = resident();
  ArenaAllocator arena(segment.arena(), kKeep);
  std::vector<uint64_t> pieces;
  for (int i = 0; i < 8; ++i) {
    pieces.push_back(arena.allocate(1 << 20).value());
    touch(pieces.back(), 1 << 20);
  }
  for (const uint64_t piece : pieces) {
    arena.free(piece);
    EXPECT_LE(arena.resident_free(), kKeep);
    EXPECT_LE(resident(), before + arena.used() + kKeep);
  }
  EXPECT_EQ(resident(), before + kKeep) << "what may be kept is kept";
}

TEST_F(ArenaTest, AKeptPageIsUsedAgainWithoutCountingTwice) {
  ArenaAllocator arena(segment.arena());
  const uint64_t piece = arena.allocate(1 << 20).value();
  arena.free(piece);
  EXPECT_EQ(arena.resident_free(), uint64_t{1} << 20);
  EXPECT_EQ(arena.allocate(1 << 19), piece);
  EXPECT_EQ(arena.resident_free(), uint64_t{1} << 19);
}

TEST_F(ArenaTest, GivingPagesBackLeavesNeighboursOnTheSamePageAlone) {
  ArenaAllocator arena(segment.arena(), 0);
  const uint64_t before = arena.allocate(64).value();
  const uint64_t middle = arena.allocate(4032).value();
  const uint64_t large = arena.allocate(64 * 4096).value();
  const uint64_t after = arena.allocate(64).value();
  touch(before, 64, 1);
  touch(middle, 4032, 2);
  touch(large, 64 * 4096, 3);
  touch(after, 64, 4);
  arena.free(large);
  arena.free(middle);
  EXPECT_TRUE(holds(before, 64, 1));
  EXPECT_TRUE(holds(after, 64, 4));
  EXPECT_TRUE(holds(large, 64 * 4096, 0)) << "a page that was given back reads as zero";
}

TEST_F(ArenaTest, APageSharedByManySmallPiecesGoesBackWithTheLastOfThem) {
  const uint64_t empty = resident();
  ArenaAllocator arena(segment.arena(), 0);
  std::vector<uint64_t> pieces;
  for (int i = 0; i < 64; ++i) pieces.push_back(arena.allocate(64).value());
  touch(pieces.front(), 4096);
  std::shuffle(pieces.begin(), pieces.end(), std::mt19937_64(harness::printed_seed()));
  for (const uint64_t piece : pieces) {
    EXPECT_EQ(resident(), empty + kPageBytes);
    arena.free(piece);
  }
  EXPECT_EQ(resident(), empty);
}

TEST_F(ArenaTest, ThreadsNeverShareAPiece) {
  const uint64_t seed = harness::printed_seed();
  ArenaAllocator arena(segment.arena(), 1 << 20);
  std::atomic<int> damaged{0};
  std::vector<std::thread> threads;
  for (int me = 1; me <= 4; ++me) {
    threads.emplace_back([&, me] {
      std::mt19937_64 random(seed + static_cast<uint64_t>(me));
      for (int round = 0; round < 2'000; ++round) {
        const uint64_t bytes = random() % 20'000 + 1;
        const std::optional<uint64_t> piece = arena.allocate(bytes);
        if (!piece) continue;
        touch(*piece, bytes, me);
        if (!holds(*piece, bytes, me)) ++damaged;
        arena.free(*piece);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(arena.used(), 0U);
}

}  // namespace
}  // namespace fairgv::ring
