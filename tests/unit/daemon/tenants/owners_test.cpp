// The owners of user ids: the text of /etc/subuid, and its reading.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "runtime/daemon/tenants/peers/owners.hpp"
#include "tests/harness/seed.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/daemon/tenants/users.hpp"

namespace fairgv::daemon {
namespace {

using Ranges = std::vector<SubordinateRange>;
using LineNumbers = std::vector<std::size_t>;

TEST(SubordinateIdsText, IsALineForEachRange) {
  const auto parsed = parse_subordinate_ids("alice:100000:65536\n1001:165536:1\nbob:4294967294:1");
  EXPECT_EQ(parsed.ranges, (Ranges{{"alice", 100'000, 165'535},
                                   {"1001", 165'536, 165'536},
                                   {"bob", 4'294'967'294, 4'294'967'294}}));
  EXPECT_TRUE(parsed.malformed.empty());
}

TEST(SubordinateIdsText, HasCommentsAndEmptyLines) {
  const auto parsed = parse_subordinate_ids("# who has what\n\nalice:1:2\n");
  EXPECT_EQ(parsed.ranges.size(), 1U);
  EXPECT_TRUE(parsed.malformed.empty());
}

TEST(SubordinateIdsText, LinesThatAreMalformedAreNamedAndTheOthersHold) {
  const std::string text =
      "alice\n"                         // 1: nothing behind the name
      "alice:1\n"                       // 2
      ":1:2\n"                          // 3: no name
      "alice:1:0\n"                     // 4: no ids
      "alice:-1:2\n"                    // 5
      "alice:1:2:3\n"                   // 6
      "alice:4294967290:100\n"          // 7: beyond the last id
      "alice:1:99999999999999999999\n"  // 8
      "alice:100000:10\n";
  const auto parsed = parse_subordinate_ids(text);
  EXPECT_EQ(parsed.ranges, (Ranges{{"alice", 100'000, 100'009}}));
  EXPECT_EQ(parsed.malformed, (LineNumbers{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(SubordinateIdsText, IsBounded) {
  std::string text;
  for (std::size_t i = 0; i < kMostSubordinateRanges + 20; ++i) text += "alice:1:2\n";
  const auto parsed = parse_subordinate_ids(text + std::string(1'000, 'x') + ":1:2\n");
  EXPECT_EQ(parsed.ranges.size(), kMostSubordinateRanges);
  EXPECT_EQ(parsed.malformed.size(), 10U) << "the first few are named";
}

TEST(SubordinateIdsRandom, AreFoundAsByLookingThroughAllRanges) {
  std::mt19937_64 random(harness::printed_seed());
  for (int round = 0; round < 200; ++round) {
    const uid_t world = 60;
    const auto up_to = [&](std::uint64_t most) { return static_cast<uid_t>(random() % (most + 1)); };
    Ranges ranges;
    for (uid_t i = up_to(12); i > 0; --i) {
      const uid_t first = up_to(world), last = first + up_to(10);
      ranges.push_back({std::string(1, static_cast<char>('a' + up_to(2))), first, last});
    }
    const SubordinateIds ids(ranges);
    for (uid_t id = 0; id < world + 20; ++id) {
      std::set<std::string> holders;
      for (const auto& range : ranges) {
        if (range.first <= id && id <= range.last) holders.insert(range.owner);
      }
      const auto* const block = ids.find(id);
      ASSERT_EQ(block != nullptr, !holders.empty()) << "round " << round << ", id " << id;
      if (block == nullptr) continue;
      ASSERT_EQ(std::set<std::string>(block->owners.begin(), block->owners.end()), holders) << id;
      ASSERT_TRUE(block->first <= id && id <= block->last);
    }
    const auto& blocks = ids.blocks();
    for (std::size_t i = 1; i < blocks.size(); ++i) ASSERT_LT(blocks[i - 1].last, blocks[i].first);
  }
}

TEST(SubordinateIdsRandom, OfManyOverlappingOwnersTakeLittleMemory) {
  Ranges ranges;
  for (uid_t i = 0; i < 50'000; ++i) ranges.push_back({"user" + std::to_string(i), i, 4'000'000'000});
  const SubordinateIds ids(ranges);
  EXPECT_EQ(ids.find(3'000'000'000)->owners.size(), kMostOwnersNamed);
}

/// The two users of a system that has no others but root.
struct OwnersTest : ::testing::Test {
  Owners owners_of(const std::string& text) {
    folder.write("subuid", text);
    return Owners(folder / "subuid", {[this](uid_t uid) { return users.contains(uid); },
                                      [this](const std::string& name) -> std::optional<uid_t> {
                                        ++searches;
                                        for (const auto& [uid, login] : users) {
                                          if (login == name) return uid;
                                        }
                                        return std::nullopt;
                                      }});
  }
  harness::TemporaryFolder folder;
  std::map<uid_t, std::string> users{{0, "root"}, {kAlice, "alice"}, {kBob, "bob"}};
  int searches = 0;
};

TEST_F(OwnersTest, OfSubordinateIdsAreTheirUsersByNameOrNumber) {
  Owners owners = owners_of("alice:100000:65536\n1001:200000:10\n");
  EXPECT_EQ(owners.owner_of(100'000), kAlice);
  EXPECT_EQ(owners.owner_of(165'535), kAlice);
  EXPECT_EQ(owners.owner_of(165'536), 165'536U);
  EXPECT_EQ(owners.owner_of(200'009), kBob);
  EXPECT_EQ(owners.owner_of(kAlice), kAlice);
  EXPECT_EQ(owners.owner_of(99'999), 99'999U);
}

TEST_F(OwnersTest, OfUsersAreTheyThemselvesWhateverTheFileSays) {
  Owners owners = owners_of("alice:0:70000\n");
  EXPECT_EQ(owners.owner_of(0), 0U);
  EXPECT_EQ(owners.owner_of(kBob), kBob);
  EXPECT_EQ(owners.owner_of(5'000), kAlice);
}

TEST_F(OwnersTest, OfRootsRangesAreNobodyAndEachRangeIsOne) {
  Owners owners = owners_of("root:100000:10\n0:200000:10\n");
  EXPECT_EQ(owners.owner_of(100'000), 100'000U);
  EXPECT_EQ(owners.owner_of(100'009), 100'000U);
  EXPECT_EQ(owners.owner_of(200'005), 200'000U);
}

TEST_F(OwnersTest, OfIdsThatSeveralUsersHoldIsNoneOfThem) {
  Owners owners = owners_of("alice:100000:20\nbob:100010:20\nroot:100025:1\n");
  EXPECT_EQ(owners.owner_of(100'009), kAlice);
  EXPECT_EQ(owners.owner_of(100'012), 100'010U);
  EXPECT_EQ(owners.owner_of(100'019), 100'010U);
  EXPECT_EQ(owners.owner_of(100'020), kBob);
  EXPECT_EQ(owners.owner_of(100'025), 100'025U);
}

TEST_F(OwnersTest, OfIdsThatOneUserHoldsByNameAndByNumberIsThatUser) {
  Owners owners = owners_of("alice:100000:20\n1000:100000:20\n");
  EXPECT_EQ(owners.owner_of(100'012), kAlice);
}

TEST_F(OwnersTest, OfARangeWhoseUserThereIsNoneIsOneOfItsIds) {
  Owners owners = owners_of("lxd:100000:20\nlxd:1000:3\n");
  EXPECT_EQ(owners.owner_of(100'012), 100'000U);
  EXPECT_EQ(owners.owner_of(1'002), 1'002U) << "and never a user, such as alice and bob there";
}

TEST_F(OwnersTest, OfSubordinateIdsOfSubordinateIdsAreTheUserBehindThem) {
  Owners owners =
      owners_of("alice:100000:10\n100005:200000:10\n300000:300000:5\n400000:500000:1\n500000:400000:1\n");
  EXPECT_EQ(owners.owner_of(200'003), kAlice);
  EXPECT_EQ(owners.owner_of(300'003), 300'000U);
  EXPECT_NO_FATAL_FAILURE(owners.owner_of(400'000)) << "a circle has an end";
}

TEST_F(OwnersTest, AreThoseOfTheFileAsItIsNow) {
  Owners owners = owners_of("alice:100000:10\n");
  EXPECT_EQ(owners.owner_of(100'001), kAlice);
  folder.write("subuid", "bob:100000:100\n");
  EXPECT_EQ(owners.owner_of(100'001), kBob);
  std::filesystem::remove(folder / "subuid");
  EXPECT_EQ(owners.owner_of(100'001), 100'001U);
}

TEST_F(OwnersTest, AreLookedUpOnceUntilTheyAreRefreshed) {
  Owners owners = owners_of("alice:100000:10\n");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(owners.owner_of(100'001), kAlice);
  EXPECT_EQ(owners.owner_of(99), 99U);
  EXPECT_EQ(searches, 1);
  users[100'001] = "carol";
  owners.refresh();
  EXPECT_EQ(owners.owner_of(100'001), 100'001U);
}

}  // namespace
}  // namespace fairgv::daemon
