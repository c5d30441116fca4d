// The notation that describes tenants to `fairgv sim`.
#include <gtest/gtest.h>

#include "tools/fairgv/sim/sim_tenant.hpp"

namespace fairgv::tools {
namespace {

using namespace std::chrono_literals;

TEST(SimTenant, EveryPropertyIsRead) {
  const auto spec = parse_tenant("weight=2,kernel=1.5ms,jitter=0.25,sleep=0.5,burst=3,sessions=4,count=5");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->attributes.weight, 2u);
  EXPECT_EQ(spec->kernel, 1'500us);
  EXPECT_EQ(spec->jitter, 0.25);
  EXPECT_EQ(spec->sleep, 0.5);
  EXPECT_EQ(spec->burst, 3u);
  EXPECT_EQ(spec->sessions, 4u);
  EXPECT_EQ(spec->count, 5u);
}

TEST(SimTenant, PromisesAreWrittenAsForPrograms) {
  const auto spec = parse_tenant("min=5ms/50ms,max=40%,class=latency:2ms,period=20ms");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->attributes.min, (sched::Reservation{5ms, 50ms}));
  EXPECT_EQ(spec->attributes.max, sched::Share{400'000});
  EXPECT_EQ(spec->attributes.service, sched::ServiceClass::latency);
  EXPECT_EQ(spec->attributes.response, 2ms);
  EXPECT_EQ(spec->period, 20ms);
}

TEST(SimTenant, HasALineOfTimeGraphsSpecification) {
  const auto spec = parse_tenant("weight=2,spec=HT:AE@games:*:5000:40000");
  ASSERT_TRUE(spec) << spec.error().message;
  const sched::TimeGraphTask& task = spec->attributes.timegraph;
  EXPECT_EQ(task.scheduling, sched::TimeGraphTask::Scheduling::high_throughput);
  EXPECT_EQ(task.enforcement, sched::Enforcement::apriori);
  EXPECT_TRUE(task.automatic);
  EXPECT_EQ(task.reserve, (sched::Reservation{5ms, 40ms}));
  EXPECT_EQ(task.shared_reserve,
            parse_tenant("spec=PRT:AE@games:1:5000:40000")->attributes.timegraph.shared_reserve);
  EXPECT_EQ(parse_tenant("spec=FIFO:none:1:-:-").error().message,
            "spec: the scheduling policy is 'FIFO', write PRT or HT");
}

TEST(SimTenant, FieldsThatAreLeftOutHaveTheirDefaults) {
  const auto spec = parse_tenant("weight=2");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->kernel, sched::TenantSpec{}.kernel);
  EXPECT_EQ(spec->count, 1u);
}

TEST(SimTenant, TimesHaveUnits) {
  EXPECT_EQ(parse_duration("40ns").value(), 40ns);
  EXPECT_EQ(parse_duration("21us").value(), 21us);
  EXPECT_EQ(parse_duration("1.5s").value(), 1'500ms);
}

struct SimMistake : testing::TestWithParam<const char*> {};

TEST_P(SimMistake, IsToldInOneLine) {
  const auto spec = parse_tenant(GetParam());
  ASSERT_FALSE(spec);
  EXPECT_FALSE(spec.error().message.empty());
  EXPECT_EQ(spec.error().message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Each, SimMistake,
                         testing::Values("3", "height=3", "weight=0", "weight=10001", "weight=1.5", "weight=",
                                         "weight=2x", "kernel=5", "kernel=-1us", "kernel=0us", "kernel=us",
                                         "kernel=nanus", "sleep=1", "sleep=-0.1", "sleep=nan", "jitter=1.1",
                                         "burst=0", "count=0", "count=1e9", "weight=1,,kernel=1us", "min=20",
                                         "max=0%", "class=fast", "period=0", "spec=", "spec=HT"));

}  // namespace
}  // namespace fairgv::tools
