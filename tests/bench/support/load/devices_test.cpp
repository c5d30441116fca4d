// Several devices of PoCL in one experiment: tenants see their own, and programs that work at once do so
// until all are done.
#include "tests/bench/support/load/devices.hpp"

#include <gtest/gtest.h>

#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/on_request.hpp"

namespace fairgv::bench {
namespace {

using Names = std::vector<std::string>;

TEST(SeveralDevices, HaveTenantsWithNamesOfTheirOwn) {
  EXPECT_EQ(tenants_on_all({"low", "high"}, 1), (Names{"low", "high"}));
  const Names all = tenants_on_all({"low", "high"}, 2);
  EXPECT_EQ(all, (Names{"low-0", "high-0", "low-1", "high-1"}));
  EXPECT_EQ(of_device(all, 0, 2), (Names{"low-0", "high-0"}));
  EXPECT_EQ(of_device(all, 1, 2), (Names{"low-1", "high-1"}));
}

TEST(SeveralDevices, AreChosenByProgramsOnTheDriverAlone) {
  EXPECT_EQ(on_device({"scan", "--size", "64"}, 0, 1), (Names{"scan", "--size", "64"}));
  EXPECT_EQ(on_device({"scan"}, 1, 2), (Names{"scan", "--device", "1"}));
}

TEST(SeveralDevices, AreEachChargedForTheirOwnTenantsAlone) {
  const auto tenancy = start_on(2, "slice_ms = 6", {}, {{"first", "second"}, {"a", "b", "c", "d"}});
  ASSERT_TRUE(tenancy) << tenancy.error().message;
  const auto company = start_idle(tenancy.value(), {"first", "second", "b", "c"});
  ASSERT_TRUE(company) << company.error().message;
  const auto report = look_at(tenancy.value());
  ASSERT_TRUE(report);
  EXPECT_EQ(report.value()["daemon"]["slice_ms"], 6) << "the rest of the configuration holds";
  for (const auto& [name, device] :
       std::vector<std::pair<std::string, std::size_t>>{{"first", 0}, {"second", 1}, {"b", 0}, {"c", 1}}) {
    SCOPED_TRACE(name);
    const auto tenant = tenant_in(report.value(), name);
    ASSERT_TRUE(tenant);
    const nlohmann::json& charged = tenant.value()["device_time_ns"];
    ASSERT_EQ(charged.size(), 2U) << charged;
    EXPECT_GT(charged[device].get<double>(), 0);
    EXPECT_EQ(charged[1 - device].get<double>(), 0);
  }
}

TEST(ProgramsOnRequest, WorkOnUntilAllThatWereAskedAtOnceAreDone) {
  const auto loop = loop_iterations({});
  ASSERT_TRUE(loop) << loop.error().message;
  const harness::CommandLine program =
      harness::bare({harness::beside("workloads/computeLoop"), "--iterations", std::to_string(loop.value())});
  OnRequest brief(".brief");
  OnRequest lasting(".lasting");
  for (OnRequest* each : {&brief, &lasting}) ASSERT_TRUE(each->start(program));
  const auto seconds = OnRequest::run_at_once({{&brief, 2}, {&lasting, 300, true, 5}});
  ASSERT_TRUE(seconds) << seconds.error().message;
  ASSERT_EQ(seconds->size(), 2U);
  for (const double each : seconds.value()) EXPECT_GT(each, 0);
  const auto alone = OnRequest::run_at_once({{&lasting, 7, false}});
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(alone->size(), 1U);
  const auto of_brief = brief.end();
  ASSERT_TRUE(of_brief) << of_brief.error().message;
  EXPECT_GT(of_brief.value()["rounds"].get<int>(), 2) << "it stopped while the other one was at work";
  EXPECT_TRUE(lasting.end());
}

}  // namespace
}  // namespace fairgv::bench
