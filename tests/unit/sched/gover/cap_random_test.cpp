// What `cap` promises of any population, on random turns; FAIRGV_TEST_SEED=<the printed number> repeats a
// run.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "sched/policies/gover/cap.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

class CapRandom : public testing::Test {
 protected:
  static constexpr std::uint32_t kTenants = 6;

  CapRandom() : random_(harness::printed_seed()) {}

  std::uint32_t below(std::uint32_t bound) {
    return std::uniform_int_distribution<std::uint32_t>(0, bound - 1)(random_);
  }
  TenantAttributes capped() {
    TenantAttributes attributes;
    attributes.max = {below(4) == 0 ? 1'000 * below(50) : 10'000 * below(100)};
    return attributes;
  }
  void begin_with(std::unique_ptr<CapPolicy> policy) {
    policy_ = std::move(policy);
    for (std::uint32_t i = 0; i < kTenants; ++i) {
      tenants_[{i}] = {capped()};
      policy_->add({i}, tenants_[{i}].attributes, now_);
    }
  }
  /// A turn with an overrun of up to 3 ms, or idle time.
  void turn() {
    const Decision decision = policy_->next(now_);
    if (!decision.turn) {
      ASSERT_GT(decision.ask_again.value_or(Time::max()), now_);
      const Time wake = now_ + std::chrono::microseconds(1 + below(20'000));
      now_ = std::min(wake, decision.ask_again.value_or(wake));
      return;
    }
    const TenantId id = decision.turn->tenant;
    Tenant& tenant = tenants_[id];
    ASSERT_TRUE(tenant.runnable);
    ASSERT_TRUE(decision.turn->bounded);
    ASSERT_GT(decision.turn->slice, 0ns);
    const Duration overrun = std::chrono::microseconds(below(3'000));
    const Duration used = below(3) == 0 ? decision.turn->slice / 2 : decision.turn->slice + overrun;
    policy_->begin(id, now_);
    now_ += used;
    charge(id, used, decision.turn->slice);
    policy_->end(id, now_);
  }
  void charge(TenantId id, Duration used, Duration slice) {
    policy_->charge(id, used, now_);
    Tenant& tenant = tenants_[id];
    const auto second = now_.time_since_epoch() / 1s;
    if (second != tenant.second) tenant = {tenant.attributes, tenant.runnable, second};
    tenant.used += used;
    tenant.overrun = std::max(tenant.overrun, used - slice);
    // The turn in which the second began counts for it whole, but was no longer than cap x 1 s and an
    // overrun.
    ASSERT_LE(tenant.used, tenant.attributes.max.of(1s) + tenant.overrun) << "tenant " << id.value;
  }
  void wake_or_block() {
    const TenantId id{below(kTenants)};
    bool& runnable = tenants_[id].runnable;
    runnable = !runnable;
    runnable ? policy_->wake(id, now_) : policy_->block(id, now_);
  }
  /// The tenant leaves and comes back, or all of them go to another object.
  void restart() {
    const bool all = below(2) == 0;
    const TenantId one{below(kTenants)};
    auto next = all ? std::make_unique<CapPolicy>(1ms) : std::move(policy_);
    std::map<TenantId, TenantBudget> budgets;
    for (const auto& [id, tenant] : tenants_) {
      if (!all && id != one) continue;
      const CapPolicy& before = all ? *policy_ : *next;
      budgets[id] = before.budget(id, now_);
      const Duration left = before.left(id, now_);
      if (!all) next->remove(id, now_);
      next->add(id, tenant.attributes, now_);
      next->restore(id, budgets[id], now_);
      ASSERT_EQ(next->left(id, now_), left);
    }
    policy_ = std::move(next);
    for (const auto& [id, tenant] : tenants_) {
      if (budgets.contains(id) && tenant.runnable) policy_->wake(id, now_);
    }
  }

  struct Tenant {
    TenantAttributes attributes{};
    bool runnable = false;
    std::int64_t second = 0;
    Duration used{0};  // in this second
    Duration overrun{0};
  };

  std::mt19937_64 random_;
  std::unique_ptr<CapPolicy> policy_;
  std::map<TenantId, Tenant> tenants_;
  Time now_{1'000s};
};

TEST_F(CapRandom, NobodyHasMoreThanItsCapAndOneOverrunInAnySecond) {
  for (int population = 0; population < harness::rounds(20); ++population) {
    begin_with(std::make_unique<CapPolicy>(1ms));
    for (int step = 0; step < 5'000 && !HasFatalFailure(); ++step) {
      below(10) == 0 ? wake_or_block() : turn();
    }
    if (HasFatalFailure()) return;
  }
}

TEST_F(CapRandom, NothingRefillsWhenTenantsOrPoliciesComeAndGo) {
  for (int population = 0; population < harness::rounds(20); ++population) {
    begin_with(std::make_unique<CapPolicy>(1ms));
    for (int step = 0; step < 5'000 && !HasFatalFailure(); ++step) {
      const std::uint32_t kind = below(20);
      kind == 0 ? restart() : kind < 3 ? wake_or_block() : turn();
    }
    if (HasFatalFailure()) return;
  }
}

TEST_F(CapRandom, ATenantThatAlwaysWantsTheDeviceGetsItsCapIfTheCapsFit) {
  for (int population = 0; population < harness::rounds(20); ++population) {
    policy_ = std::make_unique<CapPolicy>(1ms);
    std::map<TenantId, Duration> used;
    std::uint32_t percent = 95;
    for (std::uint32_t i = 0; i < kTenants; ++i) {
      const std::uint32_t part = 1 + below(percent / 2);
      percent -= part;
      tenants_[{i}] = {};
      tenants_[{i}].attributes.max = {part * 10'000};
      policy_->add({i}, tenants_[{i}].attributes, now_);
      policy_->wake({i}, now_);
    }
    now_ = Time((now_.time_since_epoch() / 1s + 1) * 1s);
    const Time begin = now_;
    while (now_ < begin + 3s) {
      const Decision decision = policy_->next(now_);
      if (!decision.turn) {
        ASSERT_TRUE(decision.ask_again);
        now_ = *decision.ask_again;
        continue;
      }
      now_ += decision.turn->slice;
      used[decision.turn->tenant] += decision.turn->slice;
      policy_->charge(decision.turn->tenant, decision.turn->slice, now_);
      policy_->end(decision.turn->tenant, now_);
    }
    for (const auto& [id, tenant] : tenants_) EXPECT_GE(used[id], tenant.attributes.max.of(3s) - 1ms);
  }
}

}  // namespace
}  // namespace fairgv::sched
