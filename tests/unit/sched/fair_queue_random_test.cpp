// Properties of start-time fair queuing under random load. Every bound checked here is a theorem, so a
// failure is a bug and not bad luck; FAIRGV_TEST_SEED=<the printed number> repeats it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "sched/fair_queue.hpp"
#include "tests/harness/seed.hpp"

namespace {

using fairgv::harness::printed_seed;
using fairgv::sched::Duration;
using fairgv::sched::FairQueue;
using fairgv::sched::kMaxWeight;
using fairgv::sched::kMinWeight;
using fairgv::sched::TenantId;
using std::chrono::milliseconds;

class FairQueueRandom : public testing::Test {
 protected:
  FairQueueRandom() : random_(printed_seed()) {}

  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
  }
  std::uint32_t weight_up_to(std::uint32_t most) {
    return static_cast<std::uint32_t>(between(kMinWeight, most));
  }

  // Mostly near a slice of 6 ms, often short because the program had no more work, now and then a gross
  // overrun.
  Duration turn_length(Duration gross) {
    const std::uint64_t kind = between(0, 99);
    const auto longest = kind == 0   ? gross
                         : kind < 30 ? Duration(milliseconds(6))
                                     : Duration(milliseconds(7));
    const auto shortest = kind < 30 ? Duration(1) : Duration(milliseconds(5));
    return Duration(static_cast<std::int64_t>(
        between(static_cast<std::uint64_t>(shortest.count()), static_cast<std::uint64_t>(longest.count()))));
  }

 private:
  std::mt19937_64 random_;
};

struct Account {
  std::uint32_t weight = 1;
  Duration used{0};
  Duration longest{0};
  double weighted() const { return static_cast<double>(used.count()) / weight; }
  double longest_weighted() const { return static_cast<double>(longest.count()) / weight; }
};

TEST_F(FairQueueRandom, NobodyGetsAheadOfAnotherByMoreThanItsOwnLongestTurn) {
  constexpr double kRounding = 1.0 / 8;  // weighted nanoseconds: one tag unit, and the rounding of doubles
  std::vector<Account> accounts(8);
  FairQueue queue;
  for (std::uint32_t i = 0; i < accounts.size(); ++i) {
    accounts[i].weight = weight_up_to(kMaxWeight);
    queue.add(TenantId{i}, accounts[i].weight);
    queue.wake(TenantId{i});
  }
  for (int turn = 0; turn < 50'000; ++turn) {
    const TenantId next = *queue.pick();
    const Duration used = turn_length(milliseconds(1000));
    queue.charge(next, used);
    Account& runner = accounts[next.value];
    runner.used += used;
    runner.longest = std::max(runner.longest, used);
    for (const Account& other : accounts) {
      ASSERT_LE(runner.weighted() - other.weighted(), runner.longest_weighted() + kRounding)
          << "turn " << turn;
    }
  }
}

TEST_F(FairQueueRandom, SharesConvergeToTheWeightsWhateverTheTurnsLast) {
  std::vector<Account> accounts(6);
  FairQueue queue;
  for (std::uint32_t i = 0; i < accounts.size(); ++i) {
    accounts[i].weight = weight_up_to(10);
    queue.add(TenantId{i}, accounts[i].weight);
    queue.wake(TenantId{i});
  }
  for (int turn = 0; turn < 200'000; ++turn) {
    const TenantId next = *queue.pick();
    const Duration used = turn_length(milliseconds(100));
    queue.charge(next, used);
    accounts[next.value].used += used;
  }
  // Some 1,100 s over a total weight of at most 60, and no tenant is further ahead than 100 ms: well within 1
  // %.
  const auto [least, most] =
      std::minmax_element(accounts.begin(), accounts.end(),
                          [](const auto& a, const auto& b) { return a.weighted() < b.weighted(); });
  EXPECT_GE(least->weighted() / most->weighted(), 0.99);
}

TEST_F(FairQueueRandom, EveryRunnableTenantRunsWithinItsShareOfTurns) {
  constexpr std::uint32_t kTenants = 40;
  std::array<std::uint32_t, kTenants> weights{};
  std::array<std::uint64_t, kTenants> patience{};  // turns of other tenants until it must have run
  FairQueue queue;
  for (std::uint32_t i = 0; i < kTenants; ++i) {
    weights[i] = weight_up_to(100);
    queue.add(TenantId{i}, weights[i]);
    queue.wake(TenantId{i});
  }
  // With equal turns, another tenant runs while its tag is not past ours: w_other / w_ours times, and once
  // more.
  for (std::uint32_t i = 0; i < kTenants; ++i) {
    for (std::uint32_t weight : weights) patience[i] += weight / weights[i] + 1;
  }
  std::array<std::uint64_t, kTenants> last_turn{};
  for (std::uint64_t turn = 1; turn <= 50'000; ++turn) {
    const TenantId next = *queue.pick();
    queue.charge(next, milliseconds(6));
    last_turn[next.value] = turn;
    for (std::uint32_t i = 0; i < kTenants; ++i) {
      ASSERT_LE(turn - last_turn[i], patience[i])
          << "tenant " << i << " of weight " << weights[i] << " starves";
    }
  }
}

// The same rules written the slow and obvious way: a list that is searched from end to end, and tags computed
// anew from the total that was charged since they were last set.
class ReferenceQueue {
 public:
  void add(TenantId id, std::uint32_t weight) { tenants_[id] = {weight, virtual_tag(), 0, 0, false, 0, 0}; }

  void rest(Duration time) {
    std::uint64_t weights = 0;
    for (const auto& [id, tenant] : tenants_) weights += tenant.weight;
    if (weights == 0 || runnable_count() > 1) return;
    const std::uint64_t by = static_cast<std::uint64_t>(time.count()) * kUnits / weights;
    if (runnable_count() == 0) {
      idle_tag_ += by;
      return;
    }
    Tenant& lone = tenants_.at(*pick());
    lone.base += by;
    lone.since = ++events_;
    lone.leads = false;
  }

  void remove(TenantId id) {
    block(id);
    if (last_ == id) last_.reset();
    tenants_.erase(id);
  }

  void set_weight(TenantId id, std::uint32_t weight) {
    Tenant& tenant = tenants_.at(id);
    const std::uint64_t left_over = tenant.units() % tenant.weight;
    tenant = {weight,          tenant.tag(), 0,           left_over * weight / tenant.weight,
              tenant.runnable, tenant.since, tenant.lead, tenant.leads};
  }

  void wake(TenantId id, Duration lead) {
    Tenant& tenant = tenants_.at(id);
    if (tenant.runnable) return;
    if (tenant.tag() < virtual_tag()) tenant = {tenant.weight, virtual_tag(), 0, 0, false, 0, 0};
    tenant.runnable = true;
    tenant.lead = static_cast<std::uint64_t>(lead.count()) * kUnits / tenant.weight;
    tenant.leads = lead > Duration::zero();
    tenant.since = ++events_;
  }

  void block(TenantId id) {
    Tenant& tenant = tenants_.at(id);
    if (!tenant.runnable) return;
    tenant.runnable = tenant.leads = false;
    if (runnable_count() > 0) return;
    idle_tag_ = tenant.tag();
    last_ = id;
  }

  void charge(TenantId id, Duration used) {
    Tenant& tenant = tenants_.at(id);
    tenant.charged += static_cast<std::uint64_t>(used.count());
    tenant.since = ++events_;
    tenant.leads = false;
    if (runnable_count() == 0 && last_ == id) idle_tag_ = std::max(idle_tag_, tenant.tag());
  }

  void spend_lead(TenantId id) { tenants_.at(id).leads = false; }

  std::optional<TenantId> pick() const {
    return first([](const Tenant& tenant) {
      const std::uint64_t ahead = tenant.leads ? std::min(tenant.tag(), tenant.lead) : 0;
      return std::tuple(tenant.tag() - ahead, !tenant.leads, tenant.since);
    });
  }

  std::size_t runnable_count() const {
    return static_cast<std::size_t>(std::count_if(tenants_.begin(), tenants_.end(),
                                                  [](const auto& entry) { return entry.second.runnable; }));
  }
  double start_tag(TenantId id) const { return static_cast<double>(tenants_.at(id).tag()) / kUnits; }
  double virtual_time() const { return static_cast<double>(virtual_tag()) / kUnits; }

 private:
  static constexpr std::uint64_t kUnits = 16;  // per weighted nanosecond

  struct Tenant {
    std::uint32_t weight;
    std::uint64_t base;     // tag when it was last set
    std::uint64_t charged;  // nanoseconds since
    std::uint64_t carry;    // brought in by a change of weight
    bool runnable;
    std::uint64_t since;
    std::uint64_t lead;
    bool leads = false;

    std::uint64_t units() const { return charged * kUnits + carry; }
    std::uint64_t tag() const { return base + units() / weight; }
  };

  template <typename Order>
  std::optional<TenantId> first(Order order) const {
    std::optional<TenantId> best;
    for (const auto& [id, tenant] : tenants_) {
      if (!tenant.runnable) continue;
      if (!best || order(tenant) < order(tenants_.at(*best))) best = id;
    }
    return best;
  }

  std::uint64_t virtual_tag() const {
    const auto next = first([](const Tenant& tenant) { return tenant.tag(); });
    return next ? tenants_.at(*next).tag() : idle_tag_;
  }

  std::map<TenantId, Tenant> tenants_;
  std::optional<TenantId> last_;
  std::uint64_t idle_tag_ = 0;
  std::uint64_t events_ = 0;
};

void wake(FairQueue& queue, TenantId id, Duration lead) {
  queue.wake(id, {}, lead);
}

void wake(ReferenceQueue& queue, TenantId id, Duration lead) {
  queue.wake(id, lead);
}

// Both queues side by side: every operation goes to both.
struct Pair {
  FairQueue queue;
  ReferenceQueue reference;

  template <typename Operation>
  void both(Operation operation) {
    operation(queue);
    operation(reference);
  }

  void expect_same(TenantId any) const {
    ASSERT_EQ(queue.pick(), reference.pick());
    ASSERT_EQ(queue.runnable_count(), reference.runnable_count());
    ASSERT_EQ(queue.virtual_time(), reference.virtual_time());
    ASSERT_EQ(queue.start_tag(any), reference.start_tag(any));
  }
};

TEST_F(FairQueueRandom, DecidesLikeTheObviousQueueUnderRandomOperations) {
  Pair pair;
  std::vector<TenantId> known;
  double latest = 0;
  for (int step = 0; step < 50'000; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const std::uint64_t operation = known.size() < 2 ? 0 : between(0, 99);
    const bool many_sleep = step / 5'000 % 2 == 1;  // every other phase runs dry again and again
    const bool whole_ticks = between(0, 1) == 0;    // makes equal tags frequent
    const Duration used =
        whole_ticks ? Duration(milliseconds(between(0, 3))) : turn_length(milliseconds(500));
    const std::uint32_t weight = weight_up_to(whole_ticks ? 4 : kMaxWeight);

    if (operation < 5) {
      const TenantId fresh{static_cast<std::uint32_t>(between(0, UINT32_MAX))};
      if (known.size() == 60 || pair.queue.contains(fresh)) continue;
      pair.both([&](auto& queue) { queue.add(fresh, weight); });
      known.push_back(fresh);
    } else if (operation < 8) {
      const std::size_t index = between(0, known.size() - 1);
      pair.both([&](auto& queue) { queue.remove(known[index]); });
      known.erase(known.begin() + static_cast<std::ptrdiff_t>(index));
    }
    const TenantId any = known[between(0, known.size() - 1)];
    if (operation >= 8 && operation < 12) {
      pair.both([&](auto& queue) { queue.set_weight(any, weight); });
    } else if (operation < (many_sleep ? 20 : 40)) {
      const Duration lead = between(0, 1) == 0 ? Duration(0) : used;
      pair.both([&](auto& queue) { wake(queue, any, lead); });
    } else if (operation < 55) {
      pair.both([&](auto& queue) { queue.block(any); });
    } else if (operation < 57) {
      pair.both([&](auto& queue) { queue.spend_lead(any); });
    } else if (operation < 60) {
      pair.both([&](auto& queue) { queue.rest(used); });
    } else {
      const TenantId charged = operation < 64 ? any : pair.queue.pick().value_or(any);
      pair.both([&](auto& queue) { queue.charge(charged, used); });
    }

    pair.expect_same(any);
    if (HasFatalFailure()) return;
    ASSERT_GE(pair.queue.virtual_time(), latest) << "virtual time went backwards";
    latest = pair.queue.virtual_time();
  }
}

}  // namespace
