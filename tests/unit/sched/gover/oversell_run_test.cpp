// The simulator's run with a controller, and programs whose load changes with time.
#include "sched/simulator/oversell_run.hpp"

#include <gtest/gtest.h>

#include "sched/simulator/figures/gover_programs.hpp"

namespace fairgv::sched {
namespace {

using namespace gover;
using namespace std::chrono_literals;

constexpr Share kHalfDevice{500'000};

TEST(LoadPhases, MakeCommandsLongerForATimeAndGoRound) {
  TenantSpec spec{.kernel = 100us, .jitter = 0};
  spec.phases = {{2s, 1}, {1s, 3}};
  Program program(spec, 1);
  const Time begin{100s};
  const auto length = [&](Duration after) {
    program.advance(begin + after);
    return program.issue().cost;
  };
  EXPECT_EQ(length(0s), 100us);
  EXPECT_EQ(length(1'999ms), 100us);
  EXPECT_EQ(length(2s), 300us);
  EXPECT_EQ(length(3s), 100us);
  EXPECT_EQ(length(8'500ms), 300us);
}

TEST(OversellRun, ACapHoldsForAProgramThatIsAlone) {
  OversellSettings settings{.customers = {plot3d(Share{250'000})}, .at_first = 1, .length = 20s};
  const OversellOutcome outcome = run_oversell(settings);
  EXPECT_NEAR(outcome.mean_utilisation(), 0.25, 0.002);
  EXPECT_DOUBLE_EQ(outcome.broken_part(), 11.0 / 20) << "always, but for nine seconds in which it starts";
}

TEST(OversellRun, CustomersComeWhileItRunsAndOnlyThoseWhomThereIsCapacityForStay) {
  OversellSettings settings{.customers = {glxgears(kHalfDevice), plot3d(kHalfDevice), plot3d(kHalfDevice),
                                          glxgears(Share{100'000})},
                            .at_first = 2,
                            .between_customers = 20s,
                            .length = 60s};
  const OversellOutcome outcome = run_oversell(settings);
  EXPECT_EQ(outcome.sold_at, (std::vector<std::size_t>{40}));  // the small one: plot3D uses its half
  EXPECT_EQ(outcome.tenants.front(), 2U);
  EXPECT_EQ(outcome.tenants.back(), 3U);
  EXPECT_EQ(outcome.broken_part(), 0);
  EXPECT_DOUBLE_EQ(outcome.overbooking, 1.1);
}

TEST(OversellRun, IsRepeatedExactlyByItsSeed) {
  const auto busy = [](std::uint64_t seed) {
    OversellSettings settings{
        .customers = random_programs(20, kPessimistic, 7, 0), .at_first = 1, .length = 30s, .seed = seed};
    return run_oversell(settings).busy;
  };
  EXPECT_EQ(busy(1), busy(1));
  EXPECT_NE(busy(1), busy(2));
}

}  // namespace
}  // namespace fairgv::sched
