// The lines of `fairgv ps` that name commands which held a device too long.
#include <gtest/gtest.h>

#include "tools/fairgv/ps/long_commands.hpp"
#include "tools/fairgv/ps/oversold.hpp"

namespace fairgv::tools {
namespace {

TEST(Ps, NamesEachLongCommandInALineOfItsOwn) {
  control::Report report;
  control::Report::Session session{3, 4711, "prog", 4712, "busy"};
  session.long_commands = {{0, "reduce", "it uses pipes", 3, 4'210'000'000, 5'000'000'000},
                           {1, "scan", "never_slice names it", 1, 12'340'000, 12'340'000}};
  report.tenants.resize(2);
  report.tenants[0].tenant = "alice";
  report.tenants[0].sessions = {{1, 10, "prog", 11, "idle"}};
  report.tenants[1].tenant = "bob";
  report.tenants[1].sessions = {session};
  EXPECT_EQ(long_command_lines(report),
            (std::vector<std::string>{
                "bob 4711 reduce: held device 0 up to 4210.0 ms (3 times), not sliceable: it uses pipes",
                "bob 4711 scan: held device 1 up to 12.3 ms (once), not sliceable: never_slice names it"}));
}

TEST(Ps, SaysNothingWhereNothingHeldADevice) {
  control::Report report;
  report.tenants.resize(1);
  report.tenants[0].sessions = {{1, 10, "prog", 11, "idle"}};
  EXPECT_TRUE(long_command_lines(report).empty());
}

TEST(Ps, SaysOfAnOversoldDeviceWhatIsBoughtUsedAndForSaleAndByWhom) {
  control::Report report;
  report.devices = {{0, "PoCL", "cpu", {}}, {1, "PoCL", "other", {}}};
  EXPECT_TRUE(oversold_lines(report, report.devices[0]).empty());
  report.devices[0].oversold = {0.2, 0.6321, 1.5, 2, true, 3, 4, false};
  report.tenants.resize(2);
  report.tenants[0].tenant = "alice";
  report.tenants[0].use.resize(1);
  report.tenants[0].use[0].holding = {0.5, 0.36, 0.9, 30, 24, 6};
  report.tenants[1].tenant = "bob";
  report.tenants[1].use.resize(1);
  report.tenants[1].use[0].holding = {1, 0.64, 0.1, 0, 0, 0};
  EXPECT_EQ(oversold_lines(report, report.devices[0]),
            (std::vector<std::string>{
                "oversold: 150% bought, 63.2% used, 20% for sale; overloaded tenants: 2: a "
                "program should move to another device",
                "alice has 36% of 50% bought, 24 of 30 units a second", "bob has 64% of 100% bought"}));
  EXPECT_TRUE(oversold_lines(report, report.devices[1]).empty());
  report.devices[0].oversold->resting = true;
  EXPECT_EQ(oversold_lines(report, report.devices[0])[0],
            "oversold: 150% bought, 63.2% used, 20% for sale; rests under another policy than cap");
}

}  // namespace
}  // namespace fairgv::tools
