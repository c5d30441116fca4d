#include "runtime/daemon/tenants/peers/subordinate_ids.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

namespace fairgv::daemon {
namespace {

constexpr std::size_t kMostNamedLines = 10;
/// (uid_t)-1 is nobody's: system calls mean "leave it as it is" by it.
constexpr std::uint64_t kLastId = std::numeric_limits<uid_t>::max() - 1;

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<SubordinateRange> range_of(std::string_view line) {
  const auto first_colon = line.find(':');
  if (first_colon == std::string_view::npos || first_colon == 0 || first_colon > kLongestOwnerName) {
    return std::nullopt;
  }
  const auto second_colon = line.find(':', first_colon + 1);
  if (second_colon == std::string_view::npos) return std::nullopt;
  const auto start = number_of(line.substr(first_colon + 1, second_colon - first_colon - 1));
  const auto count = number_of(line.substr(second_colon + 1));
  if (!start || !count || *count == 0 || *start > kLastId || *count > kLastId - *start + 1) {
    return std::nullopt;
  }
  return SubordinateRange{std::string(line.substr(0, first_colon)), static_cast<uid_t>(*start),
                          static_cast<uid_t>(*start + *count - 1)};
}

}  // namespace

SubordinateText parse_subordinate_ids(std::string_view text) {
  SubordinateText parsed;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line.front() == '#') continue;
    auto range = parsed.ranges.size() < kMostSubordinateRanges ? range_of(line) : std::nullopt;
    if (range) {
      parsed.ranges.push_back(std::move(*range));
    } else if (parsed.malformed.size() < kMostNamedLines) {
      parsed.malformed.push_back(number);
    }
  }
  return parsed;
}

/// Goes over the ends of all ranges in their order, and keeps the owners of the ids between two of them.
SubordinateIds::SubordinateIds(const std::vector<SubordinateRange>& ranges) {
  struct End {
    std::uint64_t at;  // the first id for which it holds
    bool begins;
    const std::string* owner;
  };
  std::vector<End> ends;
  ends.reserve(2 * ranges.size());
  for (const SubordinateRange& range : ranges) {
    ends.push_back({range.first, true, &range.owner});
    ends.push_back({std::uint64_t{range.last} + 1, false, &range.owner});
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.at < b.at; });
  std::map<std::string_view, std::size_t> holders;  // by owner: how many ranges
  for (std::size_t i = 0; i < ends.size();) {
    const std::uint64_t at = ends[i].at;
    for (; i < ends.size() && ends[i].at == at; ++i) {
      if (ends[i].begins) {
        ++holders[*ends[i].owner];
      } else if (--holders[*ends[i].owner] == 0) {
        holders.erase(*ends[i].owner);
      }
    }
    if (holders.empty()) continue;
    Block block{static_cast<uid_t>(at), static_cast<uid_t>(ends[i].at - 1), {}};
    for (auto each = holders.begin(); each != holders.end() && block.owners.size() < kMostOwnersNamed;
         ++each) {
      block.owners.emplace_back(each->first);
    }
    const bool goes_on =
        !blocks_.empty() && blocks_.back().last + 1 == block.first && blocks_.back().owners == block.owners;
    if (goes_on) {
      blocks_.back().last = block.last;
    } else {
      blocks_.push_back(std::move(block));
    }
  }
}

const SubordinateIds::Block* SubordinateIds::find(uid_t id) const {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), id,
                                      [](uid_t value, const Block& block) { return value < block.first; });
  if (after == blocks_.begin()) return nullptr;
  const Block& block = *std::prev(after);
  return id <= block.last ? &block : nullptr;
}

}  // namespace fairgv::daemon
