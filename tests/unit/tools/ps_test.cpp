// `fairgv ps` as text: it fits the terminal, and shows the use of each tenant and the sessions that were
// killed.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/unit/top/report.hpp"
#include "tools/fairgv/ps/ps_table.hpp"
#include "tools/fairgv/top/text.hpp"

namespace fairgv::tools {
namespace {

control::Report ps_report() {
  control::Report report = top::top_report();
  report.daemon.share_window_s = 0.5;
  report.devices[0].name =
      "a device with a name that is so long that it does not fit on one line of a terminal";
  for (std::uint32_t i = 0; i < 3; ++i) {
    control::Report::Session& session = report.tenants[i].sessions[0];
    session.uid = 1000 + i;
    session.age_s = 30 + i;
    session.device_time_ns = {(i + 1) * 1'250'000'000ULL};
    session.memory_used = {(3 - i) * (1ULL << 30)};
    session.program = "a-program-with-a-name-that-never-ends-and-goes-on";
  }
  report.tenants[2].tenant = std::string(64, 'c');
  report.tenants[2].faults.watchdog = 1;
  report.kills = {{9, "carol", 1002, 4711, "endless",
                   "the worker held device 0 for 10.0 s in one turn while others waited for it", 75}};
  return report;
}

PsView view_of(std::size_t width = 80, const std::string& sort = {}) {
  return {width, sort, [](std::uint32_t uid) { return "user" + std::to_string(uid); }};
}

/// The text as one line, however it was broken.
std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += ' ' + line.substr(std::min(line.size(), line.find_first_not_of(' ')));
  return text;
}

/// The place of the first line that has this text.
std::size_t line_with(const std::vector<std::string>& lines, const std::string& text) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const auto& line) { return line.find(text) != std::string::npos; });
  return static_cast<std::size_t>(found - lines.begin());
}

TEST(PsTable, FitsEightyColumnsWhateverTheNames) {
  const auto lines = ps_lines(ps_report(), view_of());
  for (const std::string& line : lines) EXPECT_LE(top::width_of(line), 80u) << line;
  EXPECT_NE(joined(lines).find("a-prog"), std::string::npos);
}

TEST(PsTable, TellsNamesApartThatBeginAlike) {
  control::Report report = ps_report();
  report.tenants[0].tenant = "a-workload-of-the-cluster-number-1";
  report.tenants[1].tenant = "a-workload-of-the-cluster-number-2";
  const std::string text = joined(ps_lines(report, view_of()));
  for (const char* name : {" a-worklo~umber-1 ", " a-worklo~umber-2 ", " a-work~ber-1 ", " a-work~ber-2 "})
    EXPECT_NE(text.find(name), std::string::npos) << name << "in" << text;
}

TEST(PsTable, UsesTheRoomOfAWiderTerminal) {
  const auto lines = ps_lines(ps_report(), view_of(130));
  EXPECT_NE(joined(lines).find("a-program-with-a-name-that-never-ends-and-goes-on"), std::string::npos);
  for (const std::string& line : lines) EXPECT_LE(top::width_of(line), 130u) << line;
}

TEST(PsTable, ShowsUserAgeTimeAndMemoryOfEachSession) {
  const auto lines = ps_lines(ps_report(), view_of());
  const std::string& bob = lines.at(line_with(lines, "user1001"));
  for (const char* part : {"bob", "102", "busy", "31s", "2.50s", "2.0G"})
    EXPECT_NE(bob.find(part), std::string::npos) << part << " in " << bob;
}

TEST(PsTable, ShowsASessionThatCompilesUnlessItUsesTheDeviceOrIsPaused) {
  control::Report report = top::top_report();
  report.tenants.resize(1);
  report.tenants[0].paused.reset();
  control::Report::Session& session = report.tenants[0].sessions[0];
  session.state = "wanting";
  session.paused.reset();
  session.compiles = true;
  const auto state = [&] { return ps_sessions(report, {"state"}, view_of()).at(1); };
  EXPECT_EQ(state(), "compiling");
  session.state = "busy";
  EXPECT_EQ(state(), "busy");
  session.state = "idle";
  session.paused = control::Pause{};
  EXPECT_EQ(state(), "paused");
}

TEST(PsTable, ShowsASessionThatWaitsAtItsTenantsCeiling) {
  control::Report report = top::top_report();
  report.tenants.resize(1);
  control::Report::Tenant& tenant = report.tenants[0];
  tenant.paused.reset();
  tenant.sessions[0].state = "wanting";
  tenant.sessions[0].paused.reset();
  tenant.use.resize(2);
  const auto state = [&] { return ps_sessions(report, {"state"}, view_of()).at(1); };
  EXPECT_EQ(state(), "wanting");
  tenant.use[1].held_back = true;
  EXPECT_EQ(state(), "at max");
  tenant.sessions[0].state = "busy";
  EXPECT_EQ(state(), "busy");
}

TEST(PsTable, NamesPromisesThatADevicesPolicyDoesNotKeep) {
  control::Report report = ps_report();
  report.tenants.resize(1);
  report.tenants[0].min = "20%";
  report.tenants[0].max = "50%";
  report.tenants[0].service = "normal";
  const std::pair<const char*, const char*> kept[] = {{"fair", ""}, {"cap", "(min)"}, {"fifo", "(min, max)"}};
  for (const auto& [policy, unkept] : kept) {
    for (control::Report::Device& device : report.devices) device.policy = policy;
    const std::string text = joined(ps_lines(report, view_of()));
    const std::string line = std::string("policy ") + policy + " does not keep what is promised to " +
                             report.tenants[0].tenant + " " + unkept;
    EXPECT_EQ(text.find(line) != std::string::npos, *unkept != '\0') << line << "in\n" << text;
  }
}

TEST(PsTable, SaysWhoWasKilledAndWhy) {
  const std::string text = joined(ps_lines(ps_report(), view_of()));
  EXPECT_NE(
      text.find(
          "75s ago: session 9 of carol (endless 4711, user user1002): the worker held device 0 for 10.0 s"),
      std::string::npos)
      << text;
}

TEST(PsTable, SaysWhichDeviceWasChosenAndWhyNoOther) {
  control::Report report = ps_report();
  control::Report::Session& session = report.tenants[1].sessions[0];
  session.program = "prog";
  session.devices = {2};
  session.passed_over = {"device 0: memory: 1 GiB of 2 GiB left", "device 1: 33.3% of it to be expected"};
  const auto lines = ps_lines(report, view_of());
  EXPECT_NE(joined(lines).find("prog: device 2; not device 0: memory: 1 GiB of 2 GiB left, not device 1: "
                               "33.3% of it to be expected"),
            std::string::npos)
      << joined(lines);
  EXPECT_EQ(ps_sessions(report, {"devices"}, view_of()).at(2), "2");
  EXPECT_EQ(joined(ps_lines(ps_report(), view_of())).find("; not "), std::string::npos);
}

TEST(PsTable, WhatIsDueIsOfTheDevice) {
  control::Report report = ps_report();
  report.tenants[0].use.resize(1);
  report.tenants[0].use[0].entitled_share = 0.123;
  EXPECT_NE(joined(ps_lines(report, view_of())).find("12.3%"), std::string::npos);
}

TEST(PsTable, SaysWhatTheSharesAreOf) {
  EXPECT_NE(joined(ps_lines(ps_report(), view_of())).find("now: last 0.5 s"), std::string::npos);
}

TEST(PsTable, SortsTheMostFirstByWhatIsUsedUp) {
  const auto by_time = ps_sessions(ps_report(), {"user", "time"}, view_of(80, "time"));
  EXPECT_EQ(by_time, (std::vector<std::string>{"user      time", "user1002 3.75s", "user1001 2.50s",
                                               "user1000 1.25s"}));
  const auto by_memory = ps_sessions(ps_report(), {"pid"}, view_of(80, "memory"));
  EXPECT_EQ(by_memory, (std::vector<std::string>{"pid", "103", "102", "101"}));
}

TEST(PsTable, SortsNumbersByTheirSizeAndNotByTheirDigits) {
  control::Report report = top::top_report();
  report.tenants[0].sessions[0].session = 10;
  const auto lines = ps_sessions(report, {"session"}, view_of(80, "session"));
  EXPECT_EQ(lines, (std::vector<std::string>{"session", "      1", "      2", "     10"}));
}

TEST(PsTable, HasEveryColumnThatItNames) {
  for (const std::string& column : ps_columns()) {
    const auto lines = ps_sessions(ps_report(), {column}, view_of(80, column));
    ASSERT_EQ(lines.size(), 4u) << column;
    for (const std::string& line : lines) EXPECT_FALSE(line.empty()) << column;
  }
}

TEST(PsTable, OfAnOlderDaemonSaysThatItDoesNotKnow) {
  const auto lines = ps_sessions(top::top_report(), {"age", "time", "memory"}, view_of());
  EXPECT_EQ(lines.at(1), "  -    -      -");
}

TEST(PsTable, ShowsPromisesInColumnsThatAreThereOnlyIfATenantHasOne) {
  control::Report report = top::promised_report();
  for (const std::size_t width : {80U, 100U, 130U}) {
    const auto lines = ps_lines(report, view_of(width));
    for (const std::string& line : lines) EXPECT_LE(top::width_of(line), width) << line;
    const auto heading = line_with(lines, "weight");
    for (const char* title : {"min", "max", "class"})
      EXPECT_NE(lines.at(heading).find(title), std::string::npos) << title << " in " << lines[heading];
    EXPECT_NE(lines.at(line_with(lines, "alice")).find("5ms/20ms 75%"), std::string::npos);
    EXPECT_NE(lines.at(line_with(lines, "carol")).find(" batch "), std::string::npos);
    EXPECT_EQ(lines.at(line_with(lines, "bob  ")).find("none"), std::string::npos);
  }
  report.tenants[2].service = "normal";
  const auto lines = ps_lines(report, view_of());
  EXPECT_EQ(joined(lines).find("class"), std::string::npos) << "all are of the same";
  EXPECT_NE(joined(lines).find("│"), std::string::npos) << "there is room for bars";
  EXPECT_EQ(joined(ps_lines(ps_report(), view_of())).find(" min "), std::string::npos) << "an older daemon";
}

TEST(PsTable, ShowsPrioritiesAndReservesOfTimeGraph) {
  control::Report report = top::promised_report();
  for (control::Report::Tenant& tenant : report.tenants) {
    tenant.min = "none";
    tenant.max = "100%";
    tenant.service = "normal";
    tenant.timegraph = control::Report::TimeGraphTask{"PRT", "none", "none", "0"};
  }
  EXPECT_EQ(joined(ps_lines(report, view_of())).find(" prio "), std::string::npos) << "all have the lowest";
  report.tenants[0].timegraph = control::Report::TimeGraphTask{"PRT", "AE", "10ms/40ms", "*"};
  report.tenants[0].timegraph->foreground = true;
  report.tenants[2].timegraph->refused = true;
  const auto lines = ps_lines(report, view_of());
  for (const std::string& line : lines) EXPECT_LE(top::width_of(line), 80U) << line;
  EXPECT_NE(lines.at(line_with(lines, "weight")).find(" prio    reserve "), std::string::npos)
      << joined(lines);
  EXPECT_NE(lines.at(line_with(lines, report.tenants[0].tenant)).find(" * front 10ms/40ms AE "),
            std::string::npos)
      << joined(lines);
  EXPECT_NE(lines.at(line_with(lines, report.tenants[2].tenant)).find(" refused "), std::string::npos)
      << joined(lines);
}

TEST(PsTable, HasPromisesAsColumnsOfSessionsToo) {
  const auto lines = ps_sessions(top::promised_report(), {"min", "max", "class"}, view_of(80, "min"));
  EXPECT_EQ(lines.at(1), "5ms/20ms  75% normal");
  EXPECT_EQ(lines.at(2), "    none 100% normal");
  EXPECT_EQ(ps_sessions(top::top_report(), {"min"}, view_of()).at(1), "  -");
}

TEST(PsTable, WithoutTenantsSaysSo) {
  control::Report report;
  report.devices.resize(1);
  const std::string text = joined(ps_lines(report, view_of()));
  EXPECT_NE(text.find("no tenants"), std::string::npos);
  EXPECT_EQ(text.find("weight"), std::string::npos) << "a table of nothing";
}

}  // namespace
}  // namespace fairgv::tools
