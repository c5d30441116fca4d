// The simulated host: credits of threads, ticks, boosts, polling, and work between bursts.
#include "sched/simulator/host.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "sched/simulator/simulation.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

/// Plays the simulation for a host alone: sessions are numbered from 0, on device 0.
struct HostPlayer {
  explicit HostPlayer(const HostModel& model) : host(model, events) {}

  SimulatedHost::Thread add(std::uint32_t host_weight, std::size_t processor = 0) {
    TenantSpec spec;
    spec.attributes.host_weight = host_weight;
    spec.processor = processor;
    return host.add(spec, 0, sessions++);
  }
  /// Until this time. A thread whose work ends has the same amount again, or else waits.
  void run_until(Time end, Duration again = Duration(0)) {
    while (!events.empty() && events.first().when <= end) {
      const SimulationEvent event = events.first();
      events.pop();
      now = event.when;
      if (event.kind == SimulationEvent::Kind::host_tick) {
        host.tick(now);
      } else if (host.finished(event.subject, now)) {
        ended[event.subject].push_back(now);
        if (again > Duration(0)) {
          host.work(event.subject, again, now);
        } else {
          host.wait(event.subject, now);
        }
      }
    }
    now = end;
  }

  EventQueue events;
  SimulatedHost host;
  std::size_t sessions = 0;
  Time now{};
  std::map<std::size_t, std::vector<Time>> ended;
};

TEST(SimulatedHost, WorkTakesItsTimeOnAFreeProcessorAndTheSwitch) {
  HostPlayer player({.processors = 1, .switch_cost = 5us});
  const auto thread = player.add(100);
  player.host.start(Time{});
  player.host.work(thread, 100us, Time{});
  player.run_until(Time(1ms));
  EXPECT_EQ(player.ended[thread], std::vector<Time>{Time(105us)});
}

TEST(SimulatedHost, ProcessorTimeIsInProportionToTheHostWeights) {
  HostPlayer player({.processors = 2});
  const auto light = player.add(100);
  const auto heavy = player.add(300);
  const auto alone = player.add(1, 1);
  player.host.start(Time{});
  for (const auto thread : {light, heavy, alone}) player.host.work(thread, 100us, Time{});
  player.run_until(Time(60s), 100us);
  EXPECT_NEAR(static_cast<double>(player.ended[heavy].size()) / 600'000, 0.75, 0.02);
  EXPECT_NEAR(static_cast<double>(player.ended[light].size()) / 600'000, 0.25, 0.02);
  EXPECT_NEAR(static_cast<double>(player.ended[alone].size()) / 600'000, 1, 0.001);
}

TEST(SimulatedHost, AThreadThatWakesWithCreditsGoesFirst) {
  HostPlayer player({.processors = 1});
  const auto busy = player.add(100);
  const auto waking = player.add(100);
  player.host.start(Time{});
  player.host.work(busy, 1s, Time{});
  player.run_until(Time(12ms));
  player.host.work(waking, 1ms, player.now);
  player.run_until(Time(20ms));
  EXPECT_EQ(player.ended[waking], std::vector<Time>{Time(13ms)});
}

TEST(SimulatedHost, AThreadThatWaitsYieldsUnlessProgramsPoll) {
  for (const bool polls : {false, true}) {
    HostPlayer player({.processors = 1, .polls = polls});
    const auto waits = player.add(100);
    const auto works = player.add(100);
    player.host.start(Time{});
    player.host.wait(waits, Time{});
    player.host.work(works, 40ms, Time{});
    player.run_until(Time(200ms));
    ASSERT_EQ(player.ended[works].size(), 1U);
    if (polls) {
      EXPECT_GT(player.ended[works][0], Time(50ms));
    } else {
      EXPECT_EQ(player.ended[works][0], Time(40ms));
    }
  }
}

TEST(SimulatedHost, AThreadThatIsSwitchedInAnswersWithoutASwitchAndGoesFirst) {
  HostPlayer player({.processors = 1, .switch_cost = 5us});
  const auto holder = player.add(100);
  const auto other = player.add(100);
  player.host.start(Time{});
  player.host.wait(holder, Time{});
  player.host.switch_in(holder, Time{});
  player.run_until(Time(1ms));
  EXPECT_TRUE(player.host.state(holder).scheduled);
  player.host.work(holder, 10us, player.now);
  player.run_until(Time(2ms));
  EXPECT_EQ(player.ended[holder], std::vector<Time>{Time(1010us)});
  player.host.work(other, 2ms, player.now);
  player.run_until(Time(3ms));
  EXPECT_TRUE(player.host.state(other).scheduled) << "polling gives way to work";
  player.host.work(holder, 10us, player.now);
  player.run_until(Time(3500us));
  EXPECT_EQ(player.ended[holder].back(), Time(3015us));
  player.host.switch_out(holder, player.now);
  player.run_until(Time(6ms));
  EXPECT_FALSE(player.host.state(holder).scheduled);
}

TEST(SimulatedHost, TellsWhoRunsAndWhatIsLeftOfTheCredits) {
  HostPlayer player({.processors = 1});
  const auto a = player.add(100);
  const auto b = player.add(200);
  player.host.start(Time{});
  player.host.work(a, 1s, Time{});
  player.run_until(Time(10ms));
  EXPECT_TRUE(player.host.state(a).scheduled);
  EXPECT_EQ(player.host.state(a).credit_left, 0ms) << "a third of 30 ms, and 10 ms used";
  EXPECT_FALSE(player.host.state(b).scheduled);
  EXPECT_EQ(player.host.state(b).credit_left, 20ms);
}

TEST(SimulatedHost, RefusesAProcessorThatItDoesNotHave) {
  HostPlayer player({.processors = 1});
  EXPECT_THROW(player.add(100, 1), std::invalid_argument);
}

struct HostedSimulation : testing::Test {
  HostedSimulation() {
    settings.length = 5s;
    settings.seed = harness::printed_seed();
    settings.slices = SliceRule::constant(6ms);
  }
  double used(std::size_t tenant) {
    return std::chrono::duration<double>(simulate(settings).devices[0].tenants[tenant].used).count();
  }
  SimulationSettings settings;
};

TEST_F(HostedSimulation, WithoutProcessorsHostWorkIsSleep) {
  settings.kinds = {{.kernel = 1ms, .burst = 1, .host_work = 3ms},
                    {.kernel = 1ms, .burst = 1, .host_work = 3ms}};
  settings.policy = "round-robin";
  EXPECT_NEAR(used(0), 5 * 0.25, 0.05);
  EXPECT_NEAR(used(1), 5 * 0.25, 0.05);
}

TEST_F(HostedSimulation, ProgramsOnOneProcessorTakeTurnsWithTheirHostWork) {
  settings.kinds = {{.kernel = 1ms, .burst = 1, .host_work = 3ms},
                    {.kernel = 1ms, .burst = 1, .host_work = 3ms}};
  settings.policy = "round-robin";
  settings.host.processors = 1;
  EXPECT_NEAR(used(0) + used(1), 5.0 / 3, 0.1) << "the processor is the bottleneck";
}

TEST_F(HostedSimulation, ThePolicyIsToldInEveryTick) {
  // cosched goes by the host alone while a scheduled tenant is ready.
  settings.kinds = {{.attributes = {.host_weight = 100}, .kernel = 1ms},
                    {.attributes = {.host_weight = 300}, .kernel = 1ms}};
  settings.host = {.processors = 1, .polls = true};
  settings.policy = "cosched";
  settings.slices = SliceRule::constant(10ms);
  settings.length = 30s;
  EXPECT_GT(used(1), 1.5 * used(0));
}

TEST_F(HostedSimulation, ASwitchOfTheDeviceCostsTimeThatNobodyIsChargedFor) {
  settings.kinds = {{.kernel = 300us}, {.kernel = 300us}};
  settings.policy = "fifo";
  settings.switch_cost = 100us;
  const DeviceOutcome device = simulate(settings).devices[0];
  const Duration sum = device.tenants[0].used + device.tenants[1].used;
  EXPECT_NEAR(static_cast<double>(sum.count()) / static_cast<double>(device.busy.count()), 0.75, 0.01);
}

TEST_F(HostedSimulation, AWorkerThatSpinsKeepsTheTurnOfAProgramThatComesBackSoon) {
  settings.kinds = {{.kernel = 100us}, {.kernel = 100us, .burst = 1, .host_work = 20us}};
  settings.policy = "fair-paper";
  const auto longest_turn = [&] { return simulate(settings).devices[0].tenants[1].longest_turn; };
  EXPECT_LE(longest_turn(), 110us) << "each pause gives the turn away";
  settings.spin = 50us;
  EXPECT_GE(longest_turn(), 5ms);
  settings.spin = 10us;
  EXPECT_LE(longest_turn(), 110us) << "it does not come back in time";
}

}  // namespace
}  // namespace fairgv::sched
