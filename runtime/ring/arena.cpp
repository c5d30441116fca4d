#include "runtime/ring/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "runtime/base/page.hpp"

namespace fairgv::ring {
namespace {

constexpr uint64_t kSmallUnit = 64;

constexpr uint64_t round_down(uint64_t value, uint64_t unit) {
  return value / unit * unit;
}
constexpr uint64_t round_up(uint64_t value, uint64_t unit) {
  return round_down(value + unit - 1, unit);
}

/// Bytes in the whole pages of [begin, end).
uint64_t whole_pages(uint64_t begin, uint64_t end) {
  const uint64_t first = round_up(begin, kPageBytes);
  const uint64_t last = round_down(end, kPageBytes);
  return last > first ? last - first : 0;
}

}  // namespace

ArenaAllocator::ArenaAllocator(std::span<std::byte> arena, uint64_t keep_bytes)
    : base_(arena.data()), keep_bytes_(keep_bytes) {
  const uint64_t bytes = round_down(arena.size(), kPageBytes);
  if (bytes != 0) add_free({0, bytes});
}

std::optional<uint64_t> ArenaAllocator::allocate(uint64_t bytes) {
  const bool paged = bytes >= kPageBytes;
  const uint64_t unit = paged ? kPageBytes : kSmallUnit;
  const uint64_t rounded = round_up(std::max<uint64_t>(bytes, 1), unit);
  if (rounded < bytes) return std::nullopt;  // overflowed: larger than any arena

  const std::scoped_lock lock(mutex_);
  // A large piece starts on a page, so what counts is the room from a block's first page boundary on.
  const BySize& candidates = paged ? by_pages_ : by_bytes_;
  const auto found = candidates.lower_bound({rounded, 0});
  if (found == candidates.end()) return std::nullopt;

  const auto at = free_.find(found->second);
  const Range block{at->first, at->second};
  const uint64_t begin = round_up(block.begin, unit);
  const Range piece{begin, begin + rounded};
  remove_free(block);
  if (block.begin < piece.begin) add_free({block.begin, piece.begin});
  if (piece.end < block.end) add_free({piece.end, block.end});
  unmark_resident(piece);
  pieces_.emplace(piece.begin, rounded);
  used_ += rounded;
  return piece.begin;
}

void ArenaAllocator::free(uint64_t offset) {
  const std::scoped_lock lock(mutex_);
  const auto piece = pieces_.find(offset);
  if (piece == pieces_.end()) return;
  const Range freed{offset, offset + piece->second};
  used_ -= piece->second;
  pieces_.erase(piece);

  const Range block = coalesce(freed);
  add_free(block);
  mark_resident(freed, block);
  if (resident_free_ > keep_bytes_) give_back(resident_free_ - keep_bytes_);
}

uint64_t ArenaAllocator::used() const {
  const std::scoped_lock lock(mutex_);
  return used_;
}

uint64_t ArenaAllocator::resident_free() const {
  const std::scoped_lock lock(mutex_);
  return resident_free_;
}

void ArenaAllocator::add_free(Range block) {
  free_.emplace(block.begin, block.end);
  by_bytes_.emplace(block.end - block.begin, block.begin);
  if (const uint64_t pages = whole_pages(block.begin, block.end); pages != 0) {
    by_pages_.emplace(pages, block.begin);
  }
}

void ArenaAllocator::remove_free(Range block) {
  free_.erase(block.begin);
  by_bytes_.erase({block.end - block.begin, block.begin});
  by_pages_.erase({whole_pages(block.begin, block.end), block.begin});
}

/// Takes the free neighbours of `block` out of the books and returns the union.
ArenaAllocator::Range ArenaAllocator::coalesce(Range block) {
  const auto after = free_.lower_bound(block.end);
  if (after != free_.end() && after->first == block.end) {
    const Range next{after->first, after->second};
    remove_free(next);
    block.end = next.end;
  }
  const auto following = free_.lower_bound(block.begin);
  if (following != free_.begin()) {
    const Range previous{std::prev(following)->first, std::prev(following)->second};
    if (previous.end == block.begin) {
      remove_free(previous);
      block.begin = previous.begin;
    }
  }
  return block;
}

/// The pages that `freed` touched and that are now free as a whole (`block` is the free block around it) may
/// take memory. A page that others still use joins when the last of them is freed.
void ArenaAllocator::mark_resident(Range freed, Range block) {
  Range pages{std::max(round_down(freed.begin, kPageBytes), round_up(block.begin, kPageBytes)),
              std::min(round_up(freed.end, kPageBytes), round_down(block.end, kPageBytes))};
  if (pages.begin >= pages.end) return;
  resident_free_ += pages.end - pages.begin;

  const auto after = resident_.find(pages.end);
  if (after != resident_.end()) {
    pages.end = after->second;
    resident_.erase(after);
  }
  const auto following = resident_.lower_bound(pages.begin);
  if (following != resident_.begin() && std::prev(following)->second == pages.begin) {
    std::prev(following)->second = pages.end;
  } else {
    resident_.emplace(pages.begin, pages.end);
  }
}

/// Pages that `taken` lies on are no longer free as a whole.
void ArenaAllocator::unmark_resident(Range taken) {
  const Range pages{round_down(taken.begin, kPageBytes), round_up(taken.end, kPageBytes)};
  auto range = resident_.upper_bound(pages.begin);
  if (range != resident_.begin() && std::prev(range)->second > pages.begin) --range;
  while (range != resident_.end() && range->first < pages.end) {
    const Range old{range->first, range->second};
    range = resident_.erase(range);
    if (old.begin < pages.begin) resident_.emplace(old.begin, pages.begin);
    if (old.end > pages.end) resident_.emplace(pages.end, old.end);
    resident_free_ -= std::min(old.end, pages.end) - std::max(old.begin, pages.begin);
  }
}

/// Gives at least `excess` bytes of free pages back to the system, highest addresses first: the lowest are
/// allocated again soonest. The lock is held meanwhile, or a piece allocated on these pages would lose data.
void ArenaAllocator::give_back(uint64_t excess) {
  uint64_t left = round_up(excess, kPageBytes);
  while (left != 0 && !resident_.empty()) {
    const auto last = std::prev(resident_.end());
    const uint64_t end = last->second;
    const uint64_t begin = end - std::min(left, end - last->first);
    // Cannot fail on a shared mapping of an unsealed-for-writing memory file; if it did, memory would stay
    // resident until the session ends, and nothing else is lost.
    ::madvise(base_ + begin, end - begin, MADV_REMOVE);
    if (begin == last->first) {
      resident_.erase(last);
    } else {
      last->second = begin;
    }
    resident_free_ -= end - begin;
    left -= end - begin;
  }
}

}  // namespace fairgv::ring
