// From the daemon's report to the rows of `fairgv top`.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/top/report.hpp"
#include "tools/fairgv/top/once.hpp"
#include "tools/fairgv/top/view.hpp"

namespace fairgv::tools::top {
namespace {

std::vector<std::string> names(const View& view) {
  std::vector<std::string> list;
  for (const Row& row : view.devices.at(0).rows) list.push_back(row.tenant);
  return list;
}

TEST(TopView, CountsSessionsAndThoseThatHaveWork) {
  control::Report report = top_report();
  report.tenants[0].sessions = {{1, 10, "a", 11, "idle"},
                                {2, 12, "b", 13, "wanting"},
                                {3, 14, "c", 15, "held"},
                                {4, 16, "d", 17, "busy", true}};
  const View view = make_view(report, {}, {});
  const Row& alice = view.devices.at(0).rows.at(0);
  EXPECT_EQ(alice.sessions, 4u);
  EXPECT_EQ(alice.queue, 2u);
  EXPECT_TRUE(alice.interactive);
  EXPECT_FALSE(view.devices.at(0).rows.at(1).interactive);
  EXPECT_EQ(view.tenants, 3u);
  EXPECT_EQ(view.sessions, 6u);
}

TEST(TopView, CountsUnsliceableKernelsOnTheirDeviceOnly) {
  control::Report report = top_report();
  report.devices.push_back({1, "Platform", "Other", {}, "fair", 6});
  report.tenants[1].sessions[0].long_commands = {{1, "f", "why", 1, 2, 3}, {1, "g", "why", 1, 2, 3}};
  const View view = make_view(report, {}, {SortKey::tenant});
  EXPECT_EQ(view.devices.at(0).rows.at(1).unsliceable, 0u);
  EXPECT_EQ(view.devices.at(1).rows.at(1).unsliceable, 2u);
}

TEST(TopView, ShowsNothingWhereAnOlderDaemonSaysNothing) {
  control::Report report = top_report();
  report.tenants[0].memory_used.clear();
  report.tenants[0].share.clear();
  const Row row = make_view(report, {}, {SortKey::tenant}).devices.at(0).rows.at(0);
  EXPECT_FALSE(row.memory_used.has_value());
  EXPECT_EQ(row.share, 0);
}

TEST(TopView, TakesQueuesAndWaitsFromTheBooksOfTheDevice) {
  control::Report report = top_report();
  report.devices.push_back({1, "Platform", "Other", {}, "fair", 6});
  control::Report::Use first, second;
  first.queue = 3;
  first.share = 0.25;
  second.waits = 5;
  second.wait_p50_ns = 1'000;
  second.wait_p99_ns = 2'000;
  second.interactive = 1;
  second.launches = 77;
  report.tenants[0].use = {first, second};
  const View view = make_view(report, {}, {SortKey::tenant});
  const Row& on_first = view.devices.at(0).rows.at(0);
  EXPECT_EQ(on_first.queue, 3u);
  EXPECT_EQ(on_first.share, 0.25);
  EXPECT_FALSE(on_first.wait_p50_ns || on_first.interactive);
  const Row& on_second = view.devices.at(1).rows.at(0);
  EXPECT_EQ(on_second.wait_p50_ns, 1'000u);
  EXPECT_EQ(on_second.wait_p99_ns, 2'000u);
  EXPECT_EQ(on_second.launches, 77u);
  EXPECT_TRUE(on_second.interactive);
}

TEST(TopView, SortsByEveryColumnAndBothWays) {
  const control::Report report = top_report();
  const std::vector<std::string> falling{"alice", "bob", "carol"};
  const std::vector<std::string> rising{"carol", "bob", "alice"};
  for (const SortKey key : {SortKey::share, SortKey::tenant, SortKey::weight, SortKey::entitled,
                            SortKey::memory, SortKey::time}) {
    EXPECT_EQ(names(make_view(report, {}, {key})), falling) << name_of(key);
    EXPECT_EQ(names(make_view(report, {}, {key, true})), rising) << name_of(key);
  }
}

TEST(TopView, OrdersByNameWhereValuesAreTheSame) {
  control::Report report = top_report();
  std::reverse(report.tenants.begin(), report.tenants.end());
  for (const bool reversed : {false, true}) {
    EXPECT_EQ(names(make_view(report, {}, {SortKey::sessions, reversed})),
              (std::vector<std::string>{"alice", "bob", "carol"}));
  }
}

TEST(TopView, KnowsEverySortKeyByItsName) {
  for (int i = 0; i <= static_cast<int>(kLastSortKey); ++i) {
    EXPECT_EQ(sort_key(name_of(static_cast<SortKey>(i))), static_cast<SortKey>(i));
  }
  EXPECT_FALSE(sort_key("nonsense"));
}

TEST(TopView, ShowsOnlyWhatTheFilterNames) {
  control::Report report = top_report();
  report.devices.push_back({1, "Platform", "Other", {}, "fair", 6});
  const View view = make_view(report, {1, "bob"}, {});
  ASSERT_EQ(view.devices.size(), 1u);
  EXPECT_EQ(view.devices[0].device.index, 1u);
  EXPECT_EQ(names(view), std::vector<std::string>{"bob"});
  EXPECT_EQ(view.tenants, 1u);
}

TEST(TopOnce, SaysWhatTheFilterDoesNotFind) {
  const control::Report report = top_report();
  EXPECT_EQ(nothing_found(report, {}), "");
  EXPECT_EQ(nothing_found(report, {0, "bob"}), "");
  EXPECT_NE(nothing_found(report, {7, ""}).find("no device 7"), std::string::npos);
  EXPECT_NE(nothing_found(report, {{}, "dora"}).find("'dora'"), std::string::npos);
}

TEST(TopOnce, WritesWhatIsNotKnownAsNull) {
  control::Report report = top_report();
  report.tenants[0].memory_used.clear();
  const nlohmann::json json = to_json(make_view(report, {}, {SortKey::tenant}));
  const nlohmann::json& alice = json["devices"][0]["tenants"][0];
  EXPECT_EQ(alice["tenant"], "alice");
  EXPECT_TRUE(alice["memory_used"].is_null());
  EXPECT_EQ(json["devices"][0]["tenants"][1]["memory_used"], std::uint64_t{2} << 20);
  EXPECT_EQ(json["devices"][0]["holder"], "bob");
}

TEST(TopView, OfPromisesIsForScriptsAlwaysWhole) {
  const nlohmann::json json = to_json(make_view(promised_report(), {}, {SortKey::tenant}));
  const nlohmann::json& alice = json["devices"][0]["tenants"][0];
  EXPECT_EQ(alice["min"], "5ms/20ms");
  EXPECT_EQ(alice["min_share"], 0.25);
  EXPECT_EQ(alice["max_share"], 0.75);
  const nlohmann::json& bob = json["devices"][0]["tenants"][1];
  EXPECT_EQ(bob["min"], "none");
  EXPECT_EQ(bob["max"], "100%");
  EXPECT_EQ(bob["service"], "normal");
}

}  // namespace
}  // namespace fairgv::tools::top
