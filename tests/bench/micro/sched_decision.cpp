// The cost of one scheduling decision, against the number of tenants.
//
// To beat: 2.7 to 507 us (Pegasus); to reach: 200 ns for pick + charge + requeue at 10,000 tenants. Run a
// release build:
//   bench_sched_decision --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "sched/fair_queue.hpp"
#include "sched/policies/registry.hpp"

namespace {

using fairgv::sched::Duration;
using fairgv::sched::FairQueue;
using fairgv::sched::TenantId;

enum class Weights { equal, random };

FairQueue queue_of(std::uint32_t tenants, Weights weights, std::mt19937& random) {
  std::uniform_int_distribution<std::uint32_t> any_weight(fairgv::sched::kMinWeight,
                                                          fairgv::sched::kMaxWeight);
  FairQueue queue;
  for (std::uint32_t i = 0; i < tenants; ++i) {
    queue.add(TenantId{i}, weights == Weights::equal ? 1 : any_weight(random));
    queue.wake(TenantId{i});
  }
  return queue;
}

// Turns of 6 ms give or take a command, drawn beforehand: a power of two of them.
std::vector<Duration> turn_lengths(std::mt19937& random) {
  std::uniform_int_distribution<std::int64_t> length(5'500'000, 6'500'000);
  std::vector<Duration> lengths(4096);
  for (Duration& each : lengths) each = Duration(length(random));
  return lengths;
}

// Everybody has work all the time: pick the next one, charge its turn, put it back.
void pick_charge_requeue(benchmark::State& state, Weights weights) {
  std::mt19937 random(1);
  FairQueue queue = queue_of(static_cast<std::uint32_t>(state.range(0)), weights, random);
  const std::vector<Duration> lengths = turn_lengths(random);
  std::size_t turn = 0;
  // Past the start, where all tags are equal.
  for (std::int64_t i = 0; i < 4 * state.range(0); ++i) {
    queue.charge(*queue.pick(), lengths[turn++ % lengths.size()]);
  }
  for (auto _ : state) {
    const auto next = queue.pick();
    benchmark::DoNotOptimize(next);
    queue.charge(*next, lengths[turn++ % lengths.size()]);
  }
}

// Everybody blocks after its turn and some random sleeper wakes: one decision of a load that does not
// saturate.
void block_and_wake(benchmark::State& state) {
  std::mt19937 random(1);
  const auto tenants = static_cast<std::uint32_t>(state.range(0));
  FairQueue queue = queue_of(tenants, Weights::random, random);
  const std::vector<Duration> lengths = turn_lengths(random);
  std::size_t turn = 0;
  std::vector<TenantId> sleepers;
  for (std::uint32_t i = 0; i < tenants / 2; ++i) {
    sleepers.push_back(*queue.pick());
    queue.block(sleepers.back());
  }
  for (auto _ : state) {
    const TenantId next = *queue.pick();
    queue.block(next);
    queue.charge(next, lengths[turn++ % lengths.size()]);
    TenantId& sleeper = sleepers[random() % sleepers.size()];
    queue.wake(sleeper);
    sleeper = next;
  }
}

// The same as the dispatcher asks it: through the interface, with the turn's beginning and end.
void policy_decision(benchmark::State& state, const char* name) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::uint32_t> any_weight(fairgv::sched::kMinWeight,
                                                          fairgv::sched::kMaxWeight);
  const auto policy = fairgv::sched::make_policy(name, std::chrono::milliseconds(6));
  const std::vector<Duration> lengths = turn_lengths(random);
  fairgv::sched::Time now{std::chrono::seconds(1)};
  for (std::uint32_t i = 0; i < state.range(0); ++i) {
    policy->add(TenantId{i}, {any_weight(random)}, now);
    policy->wake(TenantId{i}, now);
  }
  std::size_t turn = 0;
  const auto take_turn = [&] {
    const TenantId next = policy->next(now).turn->tenant;
    const Duration used = lengths[turn++ % lengths.size()];
    policy->begin(next, now);
    now += used;
    policy->charge(next, used, now);
    policy->end(next, now);
  };
  for (std::int64_t i = 0; i < 4 * state.range(0); ++i) take_turn();
  for (auto _ : state) take_turn();
}

BENCHMARK_CAPTURE(pick_charge_requeue, equal_weights, Weights::equal)
    ->RangeMultiplier(10)
    ->Range(10, 100'000);
BENCHMARK_CAPTURE(pick_charge_requeue, random_weights, Weights::random)
    ->RangeMultiplier(10)
    ->Range(10, 100'000);
BENCHMARK(block_and_wake)->RangeMultiplier(10)->Range(10, 100'000);
BENCHMARK_CAPTURE(policy_decision, fair, "fair")->RangeMultiplier(10)->Range(10, 100'000);
BENCHMARK_CAPTURE(policy_decision, round_robin, "round-robin")->RangeMultiplier(10)->Range(10, 100'000);

}  // namespace

BENCHMARK_MAIN();
