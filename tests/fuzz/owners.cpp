// Any text in the place of /etc/subuid: the parsed ranges lie in bounds, and every id is found in the ranges
// that hold it and in no others.
#include <algorithm>
#include <limits>
#include <string_view>

#include "runtime/daemon/tenants/peers/subordinate_ids.hpp"
#include "tests/fuzz/records.hpp"
#include "tests/fuzz/target.hpp"

namespace fairgv::fuzz {
namespace {

using daemon::SubordinateIds;
using daemon::SubordinateRange;

void check_id(const SubordinateIds& ids, const std::vector<SubordinateRange>& ranges, uid_t id) {
  const auto holds = [&](const SubordinateRange& range) { return range.first <= id && id <= range.last; };
  const SubordinateIds::Block* const block = ids.find(id);
  expect((block != nullptr) == std::any_of(ranges.begin(), ranges.end(), holds),
         "an id is found where it is");
  if (block == nullptr) return;
  expect(block->first <= id && id <= block->last, "a block holds what is found in it");
  for (const std::string& owner : block->owners) {
    expect(std::any_of(ranges.begin(), ranges.end(),
                       [&](const SubordinateRange& range) { return holds(range) && range.owner == owner; }),
           "an owner of an id has a range that holds it");
  }
}

void run_owners(Input input) {
  const auto parsed =
      daemon::parse_subordinate_ids({reinterpret_cast<const char*>(input.data()), input.size()});
  const SubordinateIds ids(parsed.ranges);
  for (const SubordinateRange& range : parsed.ranges) {
    expect(range.first <= range.last && range.last != std::numeric_limits<uid_t>::max(), "a range has ids");
    expect(!range.owner.empty() && range.owner.size() <= daemon::kLongestOwnerName, "an owner has a name");
    for (const uid_t id : {range.first, range.last, range.first - 1, range.last + 1}) {
      check_id(ids, parsed.ranges, id);
    }
  }
  for (const auto& block : ids.blocks()) {
    expect(!block.owners.empty() && block.owners.size() <= daemon::kMostOwnersNamed, "a block has owners");
  }
}

std::vector<Bytes> owners_seeds() {
  std::vector<Bytes> seeds;
  for (const std::string_view text :
       {"alice:100000:65536\nbob:165536:65536\n", "# LXD\nroot:1000000:1000000000\nlxd:1000000:1000000000\n",
        "alice:100000:20\nbob:100010:20\n1000:100005:10\n", "a:1\n:1:2\na:4294967295:1\na:1:2:3\n"}) {
    seeds.emplace_back(text.begin(), text.end());
  }
  return seeds;
}

}  // namespace

const Target kOwners{"owners", &run_owners, &owners_seeds, &mutate_bytes};

}  // namespace fairgv::fuzz
