// Subordinate user ids: the numbers that the administrator has lent to a user for containers (subuid(5)).
//
// A line "NAME:START:COUNT" lends the ids START to START+COUNT-1 to the user NAME, or to the user with that
// number. Pure logic: the text is read, and asked about, without looking at the system's users (owners.hpp).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairgv::daemon {

/// The most that is read of a file: the rest counts as malformed.
inline constexpr std::size_t kMostSubordinateRanges = 100'000;
inline constexpr std::size_t kLongestOwnerName = 256;
/// The most owners of one id that are kept; further ones make no difference.
inline constexpr std::size_t kMostOwnersNamed = 4;

struct SubordinateRange {
  std::string owner;  // a user's name, or number
  uid_t first = 0;
  uid_t last = 0;  // the range's last id: not below `first`
  friend bool operator==(const SubordinateRange&, const SubordinateRange&) = default;
};

struct SubordinateText {
  std::vector<SubordinateRange> ranges;
  std::vector<std::size_t> malformed;  // numbers of the lines that say nothing, from 1; the first few
};

/// Any bytes are some ranges. Empty lines and comments ("# ...") are no mistakes.
SubordinateText parse_subordinate_ids(std::string_view text);

/// Finds the ranges that an id is in. Ranges may overlap.
class SubordinateIds {
 public:
  /// Ids that the same owners hold; neighbours differ in them, or are apart.
  struct Block {
    uid_t first = 0;
    uid_t last = 0;
    std::vector<std::string> owners;  // as the file names them, each once; 1 to kMostOwnersNamed
    friend bool operator==(const Block&, const Block&) = default;
  };

  SubordinateIds() = default;
  explicit SubordinateIds(const std::vector<SubordinateRange>& ranges);

  /// The block that the id is in; null if nobody holds it.
  const Block* find(uid_t id) const;
  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::vector<Block> blocks_;  // by first id, without overlaps
};

}  // namespace fairgv::daemon
