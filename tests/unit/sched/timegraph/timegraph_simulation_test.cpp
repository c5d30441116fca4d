// The policy `timegraph` in the simulator, and what the simulator has for it: commands of several shapes,
// host work, predicted costs, and the costs of scheduling.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "sched/simulator/simulation.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

double part_used(const SimulationSettings& settings, std::size_t tenant = 0) {
  const DeviceOutcome device = simulate(settings).devices[0];
  return static_cast<double>(device.tenants[tenant].used.count()) /
         static_cast<double>(settings.length.count());
}

SimulationSettings alone(const TenantSpec& spec) {
  SimulationSettings settings;
  settings.policy = "timegraph";
  settings.kinds = {spec};
  return settings;
}

TEST(TimeGraphSimulation, ALoneTaskGetsItsReserveAndNoMore) {
  TenantSpec spec;
  spec.attributes.min = {5ms, 20ms};
  spec.kernel = 700us;
  EXPECT_NEAR(part_used(alone(spec)), 0.25, 0.001);
  spec.attributes.timegraph.enforcement = Enforcement::apriori;
  spec.jitter = 0;
  EXPECT_NEAR(part_used(alone(spec)), 7 * 0.7 / 20, 0.002);  // seven commands fit into 5 ms
}

TEST(TimeGraphSimulation, ALoneTaskWithoutAReserveHasTheDevice) {
  EXPECT_NEAR(part_used(alone({})), 1.0, 0.001);
}

TEST(TimeGraphSimulation, EveryCommandOfAPrtTaskCostsADecision) {
  TenantSpec spec;
  spec.kernel = 300us;
  SimulationSettings settings = alone(spec);
  settings.costs.decision = 100us;
  EXPECT_NEAR(part_used(settings), 0.75, 0.001);
  settings.kinds[0].attributes.timegraph.scheduling = TimeGraphTask::Scheduling::high_throughput;
  EXPECT_GT(part_used(settings), 0.95);
}

TEST(TimeGraphSimulation, ATickDrivenSchedulerStartsOneCommandInATick) {
  TenantSpec spec;
  spec.kernel = 30us;
  SimulationSettings settings = alone(spec);
  settings.costs.tick = 1ms;
  EXPECT_NEAR(part_used(settings), 0.03, 0.001);
}

TEST(SimulatedProgram, IssuesItsCommandsAsOftenAsTheirFrequenciesSay) {
  TenantSpec spec;
  spec.commands = {{{1, 10}, 100us, 0, 3}, {{2, 20}, 500us, 0, 1}};
  EXPECT_EQ(mean_cost(spec), 200us);
  Program program(spec, 7);
  std::map<std::uint64_t, int> issued;
  for (int i = 0; i < 4'000; ++i) {
    const Command announced = program.next();
    const Command command = program.issue();
    ASSERT_EQ(command.shape, announced.shape);
    ASSERT_EQ(command.cost, command.shape.kind == 1 ? 100us : 500us);
    ++issued[command.shape.kind];
  }
  EXPECT_NEAR(issued[1], 3'000, 150);
}

TEST(SimulatedProgram, ComputesOnTheHostAfterEachBurst) {
  TenantSpec spec;
  spec.burst = 3;
  spec.host = 2ms;
  Program program(spec, 7);
  ASSERT_EQ(program.ready(), 3U);
  for (int i = 0; i < 3; ++i) program.issue();
  ASSERT_EQ(program.ready(), 0U);
  const Duration host = program.sleep(1ms);
  EXPECT_GE(host, 1'800us);
  EXPECT_LE(host, 2'200us);
  EXPECT_EQ(program.ready(), 3U);
}

TEST(SimulatedProgram, ScenesChangeTheCostsOfWholeBursts) {
  TenantSpec spec;
  spec.kernel = 100us;
  spec.jitter = 0;
  spec.burst = 2;
  spec.host = 1ms;
  spec.scene = 0.3;
  Program program(spec, 7);
  std::map<Duration, int> costs;
  for (int burst = 0; burst < 1'000; ++burst) {
    const Duration cost = program.issue().cost;
    ASSERT_EQ(program.issue().cost, cost);
    ASSERT_GE(cost, 70us);
    ASSERT_LE(cost, 130us);
    ++costs[cost];
    program.sleep(0ns);
  }
  EXPECT_NEAR(static_cast<double>(costs.size()), 1'000.0 / Program::kBurstsPerScene, 25);
}

TEST(SimulatedProgram, ATenantThatArrivesLaterBeginsLater) {
  TenantSpec first;
  TenantSpec later;
  later.burst = 1;
  later.period = 100ms;
  later.arrives = 3s;
  SimulationSettings settings = alone(first);
  settings.kinds.push_back(later);
  settings.length = 10s;
  const TenantOutcome outcome = simulate(settings).devices[0].tenants[1];
  ASSERT_FALSE(outcome.finished.empty());
  EXPECT_GE(outcome.finished.front(), kSimulationStart + 3s);
  EXPECT_EQ(outcome.finished.size(), outcome.responses.size());
}

// Tasks of any kind, with commands that predictions miss, and several programs in a task: reserves hold.
TEST(TimeGraphSimulation, NoTaskUsesMoreThanItsReserveAndOneCommand) {
  std::mt19937_64 random(harness::printed_seed());
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int set = 0; set < harness::rounds(60); ++set) {
    SimulationSettings settings;
    settings.policy = "timegraph";
    settings.length = 3s;
    settings.seed = random();
    for (std::int64_t i = between(1, 6); i > 0; --i) {
      TenantSpec spec;
      for (std::int64_t shape = between(1, 4); shape > 0; --shape) {
        spec.commands.push_back({{static_cast<std::uint64_t>(shape), 0}, between(50, 4'000) * 1us, 0.4, 1});
      }
      spec.burst = static_cast<std::uint32_t>(between(1, 10));
      spec.host = between(0, 3) * 1ms;
      spec.sessions = static_cast<std::uint32_t>(between(1, 3));
      TimeGraphTask& task = spec.attributes.timegraph;
      task.priority = static_cast<std::int32_t>(between(1, 99));
      if (between(0, 1) == 0) task.scheduling = TimeGraphTask::Scheduling::high_throughput;
      if (between(0, 2) > 0) {
        const Duration period = between(5, 80) * 1ms;
        spec.attributes.min = {period / between(8, 40), period};
        // An AE reserve forgets overruns, which wrong predictions cause.
        if (spec.commands.size() == 1 && between(0, 1) == 0) task.enforcement = Enforcement::apriori;
      }
      settings.kinds.push_back(spec);
    }
    const SimulationResult result = simulate(settings);
    for (std::size_t i = 0; i < settings.kinds.size(); ++i) {
      const TenantSpec& spec = settings.kinds[i];
      const Reservation& reserve = spec.attributes.min;
      if (reserve.empty() || spec.attributes.timegraph.enforcement == Enforcement::apriori) continue;
      const auto periods = settings.length / reserve.period + 2;  // the first and the last one in part
      EXPECT_LE(result.devices[0].tenants[i].used, periods * reserve.budget + 5'600us) << "task " << i;
    }
  }
}

}  // namespace
}  // namespace fairgv::sched
