// The file that `fairgv trace` writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tools/fairgv/trace/trace_writer.hpp"

namespace fairgv::tools {
namespace {

using control::TraceReport;
using nlohmann::json;
using session::TracedCall;
using session::TracedCommand;

struct TraceWriterTest : ::testing::Test {
  TraceReport::Command command(TracedCommand::Kind kind, std::uint64_t began, std::uint64_t ended,
                               std::uint32_t part = 0) {
    return {7, 1, {began, ended, 64, 3, part, {8, 8, 1}, 1, 0, static_cast<std::uint8_t>(kind & 0xF), 0}};
  }
  TraceReport base() {
    TraceReport report;
    report.now_ns = 9'000'000;
    report.devices = {"GPU"};
    report.sessions = {{7, "alice", 4711, "prog"}};
    report.names = {{7, 1, "reduce"}};
    return report;
  }
  /// The events of this category.
  std::vector<json> written(const std::string& category) {
    writer.finish();
    const json trace = json::parse(out.str());
    std::vector<json> events;
    for (const json& event : trace["traceEvents"]) {
      if (event.value("cat", "") == category) events.push_back(event);
    }
    return events;
  }

  std::ostringstream out;
  TraceWriter writer{out};
};

TEST_F(TraceWriterTest, IsJsonAlsoWhenNothingWasRecorded) {
  writer.finish();
  const json trace = json::parse(out.str());
  EXPECT_TRUE(trace["traceEvents"].empty());
  EXPECT_EQ(trace["otherData"]["lost_commands"], 0);
}

TEST_F(TraceWriterTest, SaysOfEachPartHowManyThereWere) {
  TraceReport report = base();
  report.commands = {command(TracedCommand::kPart, 1'000, 2'000, 1)};
  writer.add(report);
  TraceReport rest;
  rest.commands = {command(TracedCommand::kPart, 3'000, 4'000, 2),
                   command(TracedCommand::kInParts, 1'000, 4'000, 2)};
  writer.add(rest);
  const auto slices = written("slice");
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0]["name"], "reduce");
  EXPECT_EQ(slices[0]["args"]["slice"], 1);
  EXPECT_EQ(slices[0]["args"]["of"], 2);
  EXPECT_EQ(slices[1]["ts"], 3.0);
  EXPECT_EQ(slices[1]["dur"], 1.0);
  EXPECT_EQ(writer.totals().commands, 1u);
}

TEST_F(TraceWriterTest, WritesPartsOfALaunchThatHasNotEnded) {
  TraceReport report = base();
  report.commands = {command(TracedCommand::kPart, 1'000, 2'000, 1)};
  writer.add(report);
  const auto slices = written("slice");
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_TRUE(slices[0]["args"]["of"].is_null());
}

TEST_F(TraceWriterTest, WritesATurnThatIsNotOverOnce) {
  TraceReport report = base();
  report.turns = {{7, 0, 1'000, 2'000, 3'000, 0, 0, 0}};
  writer.add(report);
  TraceReport later;
  later.turns = {{7, 0, 1'000, 2'000, 5'000, 0, 0, 0}};
  writer.add(later);
  const auto grants = written("grant");
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_EQ(grants[0]["name"], "alice");
  EXPECT_EQ(grants[0]["dur"], 3.0);
}

TEST_F(TraceWriterTest, SaysWhyACommandWaitedBeforeItWentToTheDriver) {
  TraceReport report = base();
  report.commands = {command(TracedCommand::kLaunch, 2'100, 2'200),
                     command(TracedCommand::kLaunch, 2'300, 2'400)};
  report.commands[1].command.waited_for = static_cast<std::uint32_t>(session::TurnWait::sample) & 0xF;
  writer.add(report);
  writer.finish();
  std::vector<std::string> reasons;
  const json written = json::parse(out.str());
  for (const json& event : written["traceEvents"]) {
    if (event["ph"] == "X") reasons.push_back(event["args"].value("waited_for", ""));
  }
  EXPECT_EQ(reasons, (std::vector<std::string>{"", "sample"}));
}

TEST_F(TraceWriterTest, NamesTheTracksOfDevicesAndTenants) {
  TraceReport report = base();
  report.turns = {{7, 0, 1'000, 2'000, 3'000, 900, 6'000'000, 1}};
  report.commands = {command(TracedCommand::kLaunch, 2'100, 2'200)};
  writer.add(report);
  writer.finish();
  std::vector<std::string> names;
  const json written = json::parse(out.str());
  for (const json& event : written["traceEvents"]) {
    if (event["name"] == "process_name" || event["name"] == "thread_name")
      names.push_back(event["args"]["name"]);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"device 0 GPU", "turns, by tenant", "tenant alice",
                                             "prog 4711, device 0: turns and waits",
                                             "prog 4711, device 0: commands"}));
}

TEST_F(TraceWriterTest, PutsCallsOfSeveralThreadsSideBySide) {
  const auto call = [](std::uint64_t began, std::uint64_t ended) {
    return TraceReport::Call{7, 1, {began, ended, TracedCall::kWaited, 0}};
  };
  TraceReport report = base();
  report.names = {{7, 1, "Finish"}};
  report.calls = {call(1'000, 2'000), call(2'000, 3'000), call(1'500, 4'000), call(3'000, 5'000)};
  report.calls.push_back({7, 1, {5'000, 6'000, TracedCall::kAnswered, 0}});
  writer.add(report);
  const auto calls = written("call");
  ASSERT_EQ(calls.size(), 5u);
  EXPECT_EQ(calls[0]["name"], "Finish");
  EXPECT_EQ(calls[0]["args"]["waited_for"], "command");
  EXPECT_EQ(calls[4]["args"]["waited_for"], "reply");
  EXPECT_EQ(calls[1]["tid"], calls[0]["tid"]);
  EXPECT_NE(calls[2]["tid"], calls[0]["tid"]);
  EXPECT_EQ(calls[3]["tid"], calls[0]["tid"]);
  EXPECT_EQ(writer.totals().calls, 5u);
  std::vector<std::string> tracks;
  const json trace = json::parse(out.str());
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") tracks.push_back(event["args"]["name"]);
  }
  EXPECT_EQ(tracks, (std::vector<std::string>{"prog 4711: calls", "prog 4711: calls (2)"}));
}

TEST_F(TraceWriterTest, LeavesOutWhatNamesNoSession) {
  TraceReport report = base();
  report.turns = {{8, 0, 1'000, 2'000, 3'000, 0, 0, 1}};
  report.commands = {command(TracedCommand::kLaunch, 3'000, 2'000)};
  report.calls = {{8, 1, {1'000, 2'000, TracedCall::kWaited, 0}},
                  {7, 1, {2'000, 1'000, TracedCall::kWaited, 0}}};
  writer.add(report);
  EXPECT_TRUE(written("grant").empty());
  EXPECT_EQ(writer.totals().commands, 0u);
  EXPECT_EQ(writer.totals().calls, 0u);
}

TEST_F(TraceWriterTest, QuotesNamesThatPeopleChose) {
  TraceReport report = base();
  report.sessions = {{7, "al\"ice", 4711, "pr\\og\n"}};
  report.names = {{7, 1, "a \"kernel\" {}"}};
  report.turns = {{7, 0, 1'000, 2'000, 3'007, 900, 6'000'000, 1, 1, 2'500'000}};
  report.commands = {command(TracedCommand::kLaunch, 2'100, 2'200)};
  report.commands.push_back(report.commands[0]);
  report.commands[1].name = 0;
  writer.add(report);
  const auto launches = written("launch");
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0]["name"], "a \"kernel\" {}");
  EXPECT_EQ(launches[1]["name"], "(unnamed)");
  const json trace = json::parse(out.str());
  const auto grant = std::find_if(trace["traceEvents"].begin(), trace["traceEvents"].end(),
                                  [](const json& event) { return event.value("cat", "") == "grant"; });
  ASSERT_NE(grant, trace["traceEvents"].end());
  EXPECT_EQ((*grant)["name"], "al\"ice");
  EXPECT_EQ((*grant)["args"]["program"], "pr\\og\n");
  EXPECT_DOUBLE_EQ((*grant)["dur"].get<double>(), 1.007);
  EXPECT_EQ((*grant)["args"]["promised"], true);
  EXPECT_EQ((*grant)["args"]["in_flight_us"], 2'500.0);
}

TEST_F(TraceWriterTest, SaysWhatWasLost) {
  TraceReport report = base();
  report.lost_commands = 5;
  writer.add(report);
  writer.finish();
  EXPECT_EQ(json::parse(out.str())["otherData"]["lost_commands"], 5);
  EXPECT_EQ(writer.totals().lost_commands, 5u);
}

}  // namespace
}  // namespace fairgv::tools
