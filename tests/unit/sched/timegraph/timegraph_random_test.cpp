// The policy `timegraph` on random task sets, compared with its rules written down simply, and with what
// reserves and priorities promise. FAIRGV_TEST_SEED=<the printed number> repeats a failure.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "sched/policies/timegraph/timegraph.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/sched/timegraph/reference_scheduler.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr int kTaskSets = harness::rounds(200);
constexpr int kTurns = 300;

/// One device, its policy, and the reference beside it.
class TaskSet {
 public:
  explicit TaskSet(std::uint64_t seed) : random_(seed) {
    const std::uint32_t count = between(1, 12);
    const int shared = chance(2) ? 0 : 2;
    for (std::uint32_t id = 1; id <= count; ++id) attributes_[id] = some_task(shared);
    // Tasks of one shared reserve agree on it.
    std::map<std::uint32_t, TenantAttributes> founders;
    for (auto& [id, attributes] : attributes_) {
      if (attributes.timegraph.shared_reserve == 0) continue;
      const auto& founder =
          founders.try_emplace(attributes.timegraph.shared_reserve, attributes).first->second;
      attributes.min = founder.min;
      attributes.timegraph.enforcement = founder.timegraph.enforcement;
    }
    for (const auto& [id, attributes] : attributes_) add(id);
  }

  void run() {
    for (int turn = 0; turn < kTurns && !testing::Test::HasFatalFailure(); ++turn) {
      if (chance(20)) restart();
      if (chance(10)) come_or_go();
      step();
    }
  }

  const ReferenceScheduler& reference() const { return reference_; }

 private:
  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  bool chance(std::uint32_t one_in) { return between(1, one_in) == 1; }
  Duration some_time(Duration most) {
    return Duration(std::uniform_int_distribution<Duration::rep>(1, most.count())(random_));
  }

  TenantAttributes some_task(int shared) {
    TenantAttributes attributes;
    TimeGraphTask& task = attributes.timegraph;
    task.priority = static_cast<std::int32_t>(between(0, 4));
    task.automatic = chance(4);
    task.foreground = chance(3);
    if (chance(3)) return attributes;
    // So little of the device each that all are admitted.
    const Duration period = some_time(50ms) + 12us;
    attributes.min = {std::max(period / 13 - some_time(period / 26), Duration(1)), period};
    task.enforcement = chance(2) ? Enforcement::apriori : Enforcement::posterior;
    if (shared > 0 && chance(2)) task.shared_reserve = between(1, static_cast<std::uint32_t>(shared));
    return attributes;
  }

  /// From far below C to several times C.
  Duration some_cost(std::uint32_t id) {
    const Duration c = attributes_.at(id).min.budget;
    return c > Duration(0) ? some_time((chance(4) ? 4 : 1) * c) : some_time(3ms);
  }

  void add(std::uint32_t id) {
    policy_->add({id}, attributes_.at(id), now_);
    reference_.add(id, attributes_.at(id), now_);
    if (!chance(4)) wake(id);
  }
  void wake(std::uint32_t id) {
    ReferenceScheduler::Task& task = reference_.tasks.at(id);
    task.cost = some_cost(id);
    task.waiting = true;
    task.arrival = ++arrivals_;
    policy_->expect({id}, task.cost, now_);
    policy_->wake({id}, now_);
  }
  void pass(Duration time) {
    now_ += time;
    reference_.advance(now_);
  }

  void come_or_go() {
    const std::uint32_t id = between(1, static_cast<std::uint32_t>(attributes_.size()));
    if (reference_.tasks.at(id).present) {
      policy_->remove({id}, now_);
      reference_.tasks.at(id) = {.attributes = attributes_.at(id)};
    } else {
      add(id);
    }
  }

  /// Another policy object takes over. Reserves without tasks are not handed over.
  void restart() {
    auto successor = std::make_unique<TimeGraphPolicy>(6ms);
    std::vector<std::uint32_t> order;
    for (const auto& [id, task] : reference_.tasks) {
      if (!task.present) continue;
      successor->add({id}, task.attributes, now_);
      if (task.waiting) order.push_back(id);
    }
    for (const auto& [id, task] : reference_.tasks) {
      if (task.present) successor->restore({id}, policy_->budget({id}, now_), now_);
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return reference_.tasks.at(a).arrival < reference_.tasks.at(b).arrival;
    });
    for (const std::uint32_t id : order) {
      successor->expect({id}, reference_.tasks.at(id).cost, now_);
      successor->wake({id}, now_);
    }
    std::erase_if(reference_.reserves,
                  [&](const auto& entry) { return reference_.members(entry.first) == 0; });
    policy_ = std::move(successor);
  }

  /// One decision, and what follows from it.
  void step() {
    expect_equal_budgets();
    const Decision decision = policy_->next(now_);
    const auto expected = reference_.next();
    ASSERT_EQ(decision.turn.has_value(), expected.has_value());
    if (!decision.turn) {
      ASSERT_EQ(decision.ask_again, reference_.next_chance());
      return wait_for_something(decision.ask_again);
    }
    ASSERT_EQ(decision.turn->tenant.value, *expected);
    run_command(*expected, decision.turn->cost_limit);
  }

  void expect_equal_budgets() {
    for (const auto& [id, task] : reference_.tasks) {
      if (!task.present || !ReferenceScheduler::has_reserve(task)) continue;
      const auto& reserve = reference_.reserves.at(ReferenceScheduler::key(id, task));
      const ReserveState expected{reserve.left, reserve.next};
      ASSERT_EQ(policy_->budget({id}, now_).reserve, expected) << "task " << id;
    }
  }

  void wait_for_something(const std::optional<Time>& ask_again) {
    if (ask_again && !chance(3)) return pass(*ask_again - now_);
    pass(some_time(ask_again ? *ask_again - now_ : Duration(20ms)));
    for (auto& [id, task] : reference_.tasks) {
      if (task.present && !task.waiting && chance(2)) wake(id);
    }
  }

  void run_command(std::uint32_t id, Duration cost_limit) {
    ReferenceScheduler::Task& task = reference_.tasks.at(id);
    const bool apriori = ReferenceScheduler::has_reserve(task) &&
                         task.attributes.timegraph.enforcement == Enforcement::apriori;
    ASSERT_GE(cost_limit, apriori ? task.cost : Duration(0));
    task.waiting = false;
    task.running = true;
    policy_->begin({id}, now_);
    const Duration before = some_time(task.cost);
    pass(before);
    for (auto& [other, asleep] : reference_.tasks) {
      if (asleep.present && !asleep.waiting && !asleep.running && chance(3)) wake(other);
    }
    pass(task.cost - before);
    policy_->charge({id}, task.cost, now_);
    reference_.charge(id, task.cost);
    if (apriori) {
      ASSERT_GE(policy_->budget({id}, now_).reserve->left, 0ns) << "task " << id << " overran";
    }
    policy_->end({id}, now_);
    task.running = false;
    if (chance(3)) {
      policy_->block({id}, now_);
      return;
    }
    task.waiting = true;
    task.arrival = ++arrivals_;
    task.cost = some_cost(id);
    policy_->expect({id}, task.cost, now_);
  }

  std::mt19937_64 random_;
  Time now_{1'000s};
  std::uint64_t arrivals_ = 0;
  std::map<std::uint32_t, TenantAttributes> attributes_;
  std::unique_ptr<TimeGraphPolicy> policy_ = std::make_unique<TimeGraphPolicy>(6ms);
  ReferenceScheduler reference_;
};

/// Over any number of successive periods the use is at most their budgets and one command.
void expect_at_most_one_command_too_much(const ReferenceScheduler::Reserve& reserve) {
  Duration excess{0};  // of the worst sequence of periods that ends here
  for (const Duration used : reserve.used) {
    excess = std::max(excess, Duration(0)) + used - reserve.c;
    ASSERT_LE(excess, reserve.longest);
  }
}

TEST(TimeGraphRandom, DecisionsAndBudgetsAreThoseOfTheRulesThroughRestartsAndTasksThatComeAndGo) {
  std::mt19937_64 seeds(harness::printed_seed());
  for (int set = 0; set < kTaskSets && !testing::Test::HasFatalFailure(); ++set) {
    TaskSet tasks(seeds());
    tasks.run();
    for (const auto& [name, reserve] : tasks.reference().reserves) {
      if (!reserve.apriori) expect_at_most_one_command_too_much(reserve);
    }
  }
}

// Beside tasks of the same priority, a task waits for one command of each, and for one of a task below it
// that was on the device.
TEST(TimeGraphRandom, TheHighestPriorityWaitsForOneCommandOfEachEqualAndOneOfAnyOther) {
  std::mt19937_64 random(harness::printed_seed());
  const auto between = [&](std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
  };
  for (int set = 0; set < kTaskSets; ++set) {
    TimeGraphPolicy policy(6ms);
    Time now{1'000s};
    const std::uint32_t equals = between(1, 5);
    const std::uint32_t count = equals + between(0, 5);
    const auto is_equal = [&](TenantId id) { return id.value <= equals; };
    std::map<TenantId, bool> runnable;
    for (std::uint32_t id = 1; id <= count; ++id) {
      TenantAttributes attributes;
      attributes.timegraph.priority = id <= equals ? 5 : static_cast<std::int32_t>(between(0, 4));
      policy.add({id}, attributes, now);
      runnable[{id}] = false;
    }
    std::map<TenantId, std::pair<std::uint32_t, std::uint32_t>> waited;  // turns of equals, and of others
    for (int turn = 0; turn < kTurns; ++turn) {
      std::optional<TenantId> runs;
      if (const Decision decision = policy.next(now); decision.turn) runs = decision.turn->tenant;
      if (runs) {
        policy.begin(*runs, now);
        waited[*runs] = {};
      }
      now += Duration(between(1, 3'000'000));
      for (auto& [id, wants] : runnable) {
        if (wants && is_equal(id) && id != runs && runs) {
          ++(is_equal(*runs) ? waited[id].first : waited[id].second);
          ASSERT_LT(waited[id].first, equals);
          ASSERT_LE(waited[id].second, 1U);
        }
        if (wants || between(0, 2) > 0) continue;
        wants = true;
        waited[id] = {0, runs && !is_equal(*runs) ? 1 : 0};
        policy.wake(id, now);
      }
      if (!runs) continue;
      policy.end(*runs, now);
      if (between(0, 2) > 0) continue;
      policy.block(*runs, now);
      runnable[*runs] = false;
    }
  }
}

}  // namespace
}  // namespace fairgv::sched
