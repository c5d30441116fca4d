// The lines of `fairgv ps` that name commands which held a device too long.
#include <gtest/gtest.h>

#include "tools/fairgv/ps/long_commands.hpp"

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

}  // namespace
}  // namespace fairgv::tools
