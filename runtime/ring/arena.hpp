// Hands out pieces of a segment's arena, and gives memory that is no longer used back to the system.
//
// Bookkeeping lies in the private memory of the one process that allocates (the client): the other side sees
// offsets and checks them, and cannot damage the books. Any thread may call any method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

namespace fairgv::ring {

class ArenaAllocator {
 public:
  static constexpr uint64_t kDefaultKeepBytes = uint64_t{64} << 20;

  /// `arena` is a shared, page-aligned mapping of a memory file that outlives the allocator. Up to
  /// `keep_bytes` of free memory stay resident for the next allocation; any excess is given back (madvise
  /// MADV_REMOVE).
  explicit ArenaAllocator(std::span<std::byte> arena, uint64_t keep_bytes = kDefaultKeepBytes);
  ArenaAllocator(const ArenaAllocator&) = delete;
  ArenaAllocator& operator=(const ArenaAllocator&) = delete;

  /// The offset of a piece of at least `bytes`, or nothing when no free block is large enough. Pieces are
  /// multiples of 64 bytes and aligned to 64; from 4096 bytes on, of 4096. Contents are unspecified. Best
  /// fit, lowest address first; O(log n).
  std::optional<uint64_t> allocate(uint64_t bytes);

  /// Takes a piece back. An offset that is not allocated is ignored.
  void free(uint64_t offset);

  /// Bytes allocated now, rounded up to what the pieces occupy.
  uint64_t used() const;

  /// Bytes in whole free pages that may still take memory; at most keep_bytes.
  uint64_t resident_free() const;

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
  };
  /// Disjoint ranges: begin -> end.
  using Ranges = std::map<uint64_t, uint64_t>;
  /// Free blocks ordered by room, then address: (bytes, begin).
  using BySize = std::set<std::pair<uint64_t, uint64_t>>;

  void add_free(Range block);
  void remove_free(Range block);
  Range coalesce(Range block);
  void mark_resident(Range freed, Range block);
  void unmark_resident(Range taken);
  void give_back(uint64_t excess);

  std::byte* const base_;
  const uint64_t keep_bytes_;

  mutable std::mutex mutex_;                       // guards all below
  std::unordered_map<uint64_t, uint64_t> pieces_;  // allocated: begin -> bytes
  Ranges free_;                                    // coalesced: no two are adjacent
  BySize by_bytes_;                                // every free block, by its bytes
  BySize by_pages_;                                // those that hold a whole page, by bytes in whole pages
  Ranges resident_;                                // whole free pages touched since they were last given back
  uint64_t used_ = 0;
  uint64_t resident_free_ = 0;
};

}  // namespace fairgv::ring
