// What the controller promises whatever its tenants do; FAIRGV_TEST_SEED=<the printed number> repeats a run.
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>

#include "sched/oversell/controller.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/sched/gover/load_for_test.hpp"

namespace fairgv::sched::oversell {
namespace {

class ControllerRandom : public testing::Test {
 protected:
  ControllerRandom() : random_(harness::printed_seed()) {}

  std::uint32_t below(std::uint32_t bound) {
    return std::uniform_int_distribution<std::uint32_t>(0, bound - 1)(random_);
  }
  double fraction() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  /// Tries to sell; what is sold must have been for sale.
  void sell() {
    const TenantId id{next_++};
    const Share wanted{1 + below(600'000)};
    const Share offered = controller_.for_sale();
    std::uint64_t floors = 0;
    std::uint64_t sold_before = 0;
    for (const Load& load : controller_.loads()) floors += load.floor().ppm;
    for (const auto& [each, tenant] : tenants_) sold_before += tenant.initial.ppm;
    const bool sold = controller_.sell(id, wanted, below(2) == 0 ? 0 : 1 + 200 * fraction());
    ASSERT_EQ(sold, wanted <= offered);
    if (!sold) return;
    // Either the device was not sold before, or the remembered load and the newcomer stay below U_l.
    const bool unsold = sold_before + wanted.ppm <= Share::kWholePpm;
    ASSERT_TRUE(unsold || floors + wanted.ppm <= kSellUpTo.ppm);
    ASSERT_EQ(controller_.cap(id), wanted);
    tenants_[id] = {wanted, fraction(), 300 * fraction()};
  }
  /// Tries to buy more or less; what is bought in addition must have been for sale.
  void resize() {
    auto& [id, tenant] = *std::next(tenants_.begin(), below(static_cast<std::uint32_t>(tenants_.size())));
    const Share wanted{1 + below(600'000)};
    const Share offered = controller_.for_sale();
    const bool fits = wanted <= tenant.initial || wanted.ppm - tenant.initial.ppm <= offered.ppm;
    ASSERT_EQ(controller_.resize(id, wanted), fits);
    if (fits) tenant.initial = wanted;
    ASSERT_EQ(controller_.bought(id), tenant.initial);
  }
  void second() {
    std::vector<Observation> seen;
    std::map<TenantId, Share> before;
    for (auto& [id, tenant] : tenants_) {
      if (below(10) == 0) tenant.wants = fraction();
      before[id] = controller_.cap(id);
      const double used = std::min(tenant.wants, before[id].fraction()) * (1 + 0.02 * fraction());
      seen.push_back({id, Duration(static_cast<std::int64_t>(used * 1e9)),
                      static_cast<std::uint64_t>(tenant.units_per_device * used)});
    }
    last_ = controller_.second(seen);
    for (const Load& load : last_.loads) {
      const Share after = controller_.cap(load.id);
      if (after >= before[load.id]) continue;
      // It has given: nothing that it uses or needs, but for what is beyond its target.
      const Share kept = load.target > 0 && load.shortfall == 0 ? load.needed : load.floor();
      ASSERT_GE(after, std::min(kept, before[load.id])) << "tenant " << load.id.value;
      ASSERT_FALSE(load.is_new) << "tenant " << load.id.value;
    }
  }
  void check() {
    std::uint64_t sum = controller_.free().ppm;
    for (const auto& [id, tenant] : tenants_) {
      ASSERT_LE(controller_.cap(id), tenant.initial);
      sum += controller_.cap(id).ppm;
    }
    ASSERT_EQ(sum, Share::kWholePpm);
  }

  struct Tenant {
    Share initial{};
    double wants = 0;             // of the device
    double units_per_device = 0;  // per second
  };

  std::mt19937_64 random_;
  Controller controller_;
  std::map<TenantId, Tenant> tenants_;
  Report last_;
  std::uint32_t next_ = 0;
};

TEST_F(ControllerRandom, CapsKeepTheirSumAndNobodyLosesWhatItNeeds) {
  for (int population = 0; population < harness::rounds(40); ++population) {
    controller_ = Controller();
    tenants_.clear();
    last_ = {};
    for (int step = 0; step < 500 && !HasFatalFailure(); ++step) {
      const std::uint32_t kind = below(10);
      if (kind < 2) {
        sell();
      } else if (kind == 2 && tenants_.size() > 3) {
        const TenantId gone = tenants_.begin()->first;
        controller_.remove(gone);
        tenants_.erase(gone);
      } else if (kind == 3 && !tenants_.empty()) {
        resize();
      } else {
        second();
      }
      check();
    }
    if (HasFatalFailure()) return;
  }
}

TEST_F(ControllerRandom, MitigationEndsForAnyDivision) {
  for (int round = 0; round < harness::rounds(20'000); ++round) {
    Division division;
    std::uint32_t left = Share::kWholePpm;
    const std::uint32_t tenants = 1 + below(8);
    for (std::uint32_t i = 0; i < tenants; ++i) {
      const double cap = fraction() * left / 10'000;
      left -= part(cap).ppm;
      Load load = load_of({i}, cap + fraction() * (100 - cap), cap, fraction() * cap);
      if (below(2) == 0) load = served(load, 0.5 + fraction(), fraction() * 100);
      load.is_new = below(5) == 0;
      division.parts.push_back({load, load.cap});
    }
    division.free = {below(left + 1)};
    std::uint64_t before = division.free.ppm;
    for (const auto& each : division.parts) before += each.cap.ppm;
    const Share given = mitigate(division, {{below(tenants)}, below(2) == 0 ? 0 : fraction()});
    std::uint64_t after = division.free.ppm;
    for (const auto& each : division.parts) after += each.cap.ppm;
    ASSERT_EQ(before, after);
    ASSERT_LE(given, kWholeDevice);
  }
}

}  // namespace
}  // namespace fairgv::sched::oversell
