// Weighted max-min fairness with guarantees and ceilings: exact, and as the definition says on random claims.
#include "sched/water_level.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "tests/harness/seed.hpp"

namespace fairgv::sched {
namespace {

using Claim = WaterLevel::Claim;
using Parts = WaterLevel::Parts;

constexpr TenantId kFirst{1}, kSecond{2}, kThird{3};
constexpr Parts kPercent = WaterLevel::kWhole / 100;

TEST(WaterLevel, DividesByWeightWithoutPromises) {
  WaterLevel level;
  EXPECT_TRUE(level.empty());
  level.set(kFirst, {.weight = 1});
  EXPECT_EQ(level.share(kFirst), 1.0);
  level.set(kSecond, {.weight = 3});
  EXPECT_EQ(level.share(kFirst), 0.25);
  EXPECT_EQ(level.share(kSecond), 0.75);
  EXPECT_EQ(level.share(kThird), 0.0);
  level.set(kSecond, {});
  EXPECT_EQ(level.share(kFirst), 1.0);
}

TEST(WaterLevel, GivesWhatACeilingLeavesToTheOthersByWeight) {
  WaterLevel level;
  level.set(kFirst, {.weight = 6, .most = 10 * kPercent});
  level.set(kSecond, {.weight = 1});
  level.set(kThird, {.weight = 2});
  EXPECT_TRUE(level.is_full(kFirst));
  EXPECT_DOUBLE_EQ(level.share(kFirst), 0.1);
  EXPECT_DOUBLE_EQ(level.share(kSecond), 0.3);
  EXPECT_DOUBLE_EQ(level.share(kThird), 0.6);
}

TEST(WaterLevel, ThatWhichOneLeavesMayFillTheNext) {
  WaterLevel level;
  level.set(kFirst, {.weight = 1, .most = 40 * kPercent});
  level.set(kSecond, {.weight = 1, .most = 10 * kPercent});
  level.set(kThird, {.weight = 1});
  EXPECT_TRUE(level.is_full(kFirst)) << "by weight it would be 33 %, but 45 % are left for it";
  EXPECT_DOUBLE_EQ(level.share(kFirst), 0.4);
  EXPECT_DOUBLE_EQ(level.share(kSecond), 0.1);
  EXPECT_DOUBLE_EQ(level.share(kThird), 0.5);
}

TEST(WaterLevel, CountsAGuaranteeBeforeWeights) {
  WaterLevel level;
  level.set(kFirst, {.weight = 1, .least = 50 * kPercent, .most = 60 * kPercent});
  level.set(kSecond, {.weight = 1, .most = 20 * kPercent});
  level.set(kThird, {.weight = 4});
  EXPECT_DOUBLE_EQ(level.share(kFirst), 0.5 + 0.5 / 6);
  EXPECT_DOUBLE_EQ(level.share(kSecond), 0.5 / 6);
  EXPECT_DOUBLE_EQ(level.share(kThird), 2.0 / 6);
  level.set(kThird, {});
  EXPECT_DOUBLE_EQ(level.share(kFirst), 0.6);
  EXPECT_DOUBLE_EQ(level.share(kSecond), 0.2) << "20 % are nobody's";
}

TEST(WaterLevel, DecidesExactlyWhoIsFull) {
  WaterLevel level;
  level.set(kFirst, {.weight = 1, .most = 250'000'000});
  level.set(kSecond, {.weight = 3});
  EXPECT_TRUE(level.is_full(kFirst)) << "the level just fills it";
  level.set(kFirst, {.weight = 1, .most = 250'000'001});
  EXPECT_FALSE(level.is_full(kFirst));
  EXPECT_EQ(level.share(kFirst), 0.25);
  level.set(kFirst, {.weight = 1, .most = 249'999'999});
  EXPECT_TRUE(level.is_full(kFirst));
}

TEST(WaterLevel, TellsWhoHasBecomeFullAndWhoNoLonger) {
  WaterLevel level;
  level.set(kFirst, {.weight = 1, .most = 40 * kPercent});
  EXPECT_EQ(level.take_changed(), std::vector<TenantId>{kFirst});
  level.set(kSecond, {.weight = 2});
  EXPECT_EQ(level.take_changed(), std::vector<TenantId>{kFirst});
  level.set(kSecond, {.weight = 3});
  EXPECT_TRUE(level.take_changed().empty());
  level.set(kSecond, {});
  EXPECT_EQ(level.take_changed(), std::vector<TenantId>{kFirst});
}

TEST(WaterLevel, GivesAllThatIsGuaranteedEvenIfThatIsTooMuch) {
  WaterLevel level;
  level.set(kFirst, {.weight = 1, .least = 80 * kPercent});
  level.set(kSecond, {.weight = 1, .least = 70 * kPercent, .most = 30 * kPercent});
  level.set(kThird, {.weight = 1});
  EXPECT_DOUBLE_EQ(level.share(kFirst), 0.8);
  EXPECT_DOUBLE_EQ(level.share(kSecond), 0.3) << "never beyond its ceiling";
  EXPECT_DOUBLE_EQ(level.share(kThird), 0.0);
}

/// The definition: shares lie between guarantee and ceiling and add up to all that can be used; tenants below
/// their ceilings have the same beyond their guarantees for each unit of weight, and nobody has more.
void expect_max_min(const WaterLevel& level, const std::map<TenantId, Claim>& claims, std::uint64_t seed) {
  const auto part = [](Parts parts) {
    return static_cast<double>(parts) / static_cast<double>(WaterLevel::kWhole);
  };
  double sum = 0, usable = 0, guaranteed = 0;
  double most_per_weight = 0;
  for (const auto& [id, claim] : claims) {
    const double share = level.share(id);
    sum += share;
    usable += part(claim.most);
    guaranteed += part(claim.least);
    ASSERT_GE(share, part(claim.least) - 1e-12) << "seed " << seed;
    ASSERT_LE(share, part(claim.most) + 1e-12) << "seed " << seed;
    most_per_weight = std::max(most_per_weight, (share - part(claim.least)) / claim.weight);
  }
  ASSERT_LE(guaranteed, 1.0);
  ASSERT_NEAR(sum, std::min(1.0, usable), 1e-9) << "seed " << seed;
  for (const auto& [id, claim] : claims) {
    const double per_weight = (level.share(id) - part(claim.least)) / claim.weight;
    if (level.share(id) < part(claim.most) - 1e-12) {
      ASSERT_NEAR(per_weight, most_per_weight, 1e-12) << "tenant " << id.value << ", seed " << seed;
    }
  }
}

TEST(WaterLevel, IsMaxMinFairForRandomClaimsThatComeAndGo) {
  const auto seed = harness::printed_seed();
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  for (int run = 0; run < 50; ++run) {
    WaterLevel level;
    std::map<TenantId, Claim> claims;
    std::map<TenantId, bool> full;
    for (int step = 0; step < 200; ++step) {
      const TenantId id{1 + static_cast<std::uint32_t>(below(20))};
      Claim claim;
      if (below(4) != 0) {
        claim.weight = 1 + static_cast<std::uint32_t>(below(below(2) == 0 ? 4 : 10'000));
        if (below(2) == 0) claim.most = static_cast<Parts>(below(WaterLevel::kWhole + 1));
        if (below(3) == 0) claim.least = std::min(claim.most, static_cast<Parts>(below(5 * kPercent)));
      }
      level.set(id, claim);
      claims.erase(id);
      if (claim.weight > 0) claims[id] = claim;
      expect_max_min(level, claims, seed);
      if (HasFatalFailure()) return;
      const auto list = level.take_changed();
      const std::set<TenantId> changed(list.begin(), list.end());
      for (std::uint32_t each = 1; each <= 20; ++each) {
        const bool now = level.is_full(TenantId{each});
        EXPECT_TRUE(full[TenantId{each}] == now || changed.contains(TenantId{each})) << "seed " << seed;
        full[TenantId{each}] = now;
      }
    }
  }
}

}  // namespace
}  // namespace fairgv::sched
