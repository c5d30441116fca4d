// `fairgv trace` of real tenants: its output has the right format, and is true.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

using nlohmann::json;

/// Rounding to the nanosecond of times that are written in microseconds.
constexpr double kRounding = 0.01;

struct TraceSystem : System {
  json recorded(std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"trace", "-o", folder / "out.json", "--seconds", "1"});
    const auto finished = fairgv(std::move(options));
    EXPECT_EQ(finished.status, 0);
    std::ifstream file(folder / "out.json");
    return json::parse(file, nullptr, false);
  }
  static std::vector<json> of_category(const json& trace, const std::string& category) {
    std::vector<json> events;
    for (const json& event : trace["traceEvents"]) {
      if (event.value("cat", "") == category) events.push_back(event);
    }
    std::sort(events.begin(), events.end(),
              [](const json& left, const json& right) { return left["ts"] < right["ts"]; });
    return events;
  }
  static double end_of(const json& event) { return event["ts"].get<double>() + event["dur"].get<double>(); }

  static void expect_format(const json& trace) {
    ASSERT_TRUE(trace.is_object());
    ASSERT_TRUE(trace["traceEvents"].is_array());
    for (const json& event : trace["traceEvents"]) {
      ASSERT_TRUE(event["name"].is_string() && event["pid"].is_number_unsigned()) << event;
      const std::string phase = event["ph"];
      ASSERT_TRUE(phase == "X" || phase == "M" || phase == "C") << event;
      if (phase == "M") continue;
      ASSERT_TRUE(event["ts"].is_number()) << event;
      if (phase != "X") continue;
      ASSERT_TRUE(event["tid"].is_number_unsigned() && event["cat"].is_string()) << event;
      ASSERT_GE(event["dur"].get<double>(), 0) << event;
    }
  }
  static void expect_no_overlap(const std::vector<json>& spans) {
    for (std::size_t i = 1; i < spans.size(); ++i) {
      ASSERT_LE(end_of(spans[i - 1]), spans[i]["ts"].get<double>() + kRounding) << spans[i - 1] << spans[i];
    }
  }
  /// A worker reads the clock just before it looks whether it has the turn: the difference is microseconds,
  /// more with a sanitizer.
  static constexpr double kLook = FAIRGV_SANITIZED ? 5'000 : 200;
  static json near(double at, const std::vector<json>& turns) {
    constexpr double kNear = 50'000;
    json found = json::array();
    for (const json& turn : turns) {
      if (turn["ts"].get<double>() < at + kNear && at < end_of(turn) + kNear) found.push_back(turn);
    }
    return found;
  }
  /// Each command begins and ends within a turn of its session: the same one, unless that was interrupted.
  static void expect_within(const std::vector<json>& commands, const std::vector<json>& turns) {
    for (const json& command : commands) {
      for (const double at : {command["ts"].get<double>(), end_of(command)}) {
        const bool within = std::any_of(turns.begin(), turns.end(), [&](const json& turn) {
          return turn["args"]["session"] == command["args"]["session"] &&
                 turn["ts"].get<double>() <= at + kLook && at <= end_of(turn) + kLook;
        });
        ASSERT_TRUE(within) << at << " of " << command << " and not of the turns " << near(at, turns);
      }
    }
  }

  harness::TemporaryFolder folder;
};

TEST_F(TraceSystem, HasGrantsThatNeverOverlapAndEveryLaunchWithinOne) {
  // A worker that is interrupted goes on until the host stops it: with every processor in use, for
  // milliseconds.
  start_daemon("interrupts = false");
  auto alice = start_long_program("alice", 2);
  auto bob = start_long_program("bob", 1);
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  const json trace = recorded();
  expect_format(trace);
  const auto grants = of_category(trace, "grant");
  const auto launches = of_category(trace, "launch");
  ASSERT_GT(grants.size(), 4u);
  ASSERT_GT(launches.size(), 4u);
  expect_no_overlap(grants);
  expect_within(launches, grants);
  expect_within(of_category(trace, "slice"), grants);
  EXPECT_FALSE(of_category(trace, "wait").empty());
  std::set<std::string> tenants;
  for (const json& grant : grants) tenants.insert(grant["name"]);
  EXPECT_EQ(tenants, (std::set<std::string>{"alice", "bob"}));
  for (const json& launch : launches) {
    EXPECT_NE(launch["name"], "(unnamed)");
    EXPECT_GT(launch["args"]["groups"], 0);
  }
  EXPECT_EQ(trace["otherData"]["lost_commands"], 0);
  EXPECT_TRUE(progresses(alice) && progresses(bob));
}

TEST_F(TraceSystem, RecordsALoneTenantsTurnThoughItIsNotOver) {
  auto alice = start_long_program("alice");
  ASSERT_TRUE(progresses(alice));
  // A second trace of the same workers gets their names anew.
  for (int i = 0; i < 2; ++i) {
    const json trace = recorded({"--tenant", "alice", "--device", "0"});
    expect_format(trace);
    const auto grants = of_category(trace, "grant");
    const auto launches = of_category(trace, "launch");
    ASSERT_FALSE(grants.empty() || launches.empty());
    expect_no_overlap(launches);
    expect_within(launches, grants);
    EXPECT_NE(launches[0]["name"], "(unnamed)");
  }
}

/// A call with the times that the program itself saw, in microseconds.
struct SeenCall {
  std::string name;
  double began, ended;
};

const std::set<std::string> kSeenCalls{"BuildProgram", "EnqueueReadBuffer", "Finish", "GetProgramInfo",
                                       "WaitForEvents"};

struct TracedCalls : TraceSystem {
  /// Reads the program's lines since the last time. If nobody reads them, the program makes no calls.
  void read_calls() {
    for (const std::string& line : program->read_lines()) {
      const auto call = harness::parse_line(line);
      if (!call.is_object()) continue;
      seen.push_back({call["call"], call["began"].get<double>() / 1e3, call["ended"].get<double>() / 1e3});
    }
  }
  json recorded_for(int seconds) {
    auto tracing =
        harness::Child::start({{harness::beside("fairgv"), "trace", "-o", folder / "out.json", "--seconds",
                                std::to_string(seconds), "--socket", tenancy->socket()},
                               {}});
    EXPECT_TRUE(tracing && eventually([&] {
                  read_calls();
                  (void)tracing->read_lines();
                  return tracing->ended();
                }));
    EXPECT_EQ(tracing->wait(), 0);
    std::ifstream file(folder / "out.json");
    return json::parse(file, nullptr, false);
  }
  /// Records for as many seconds as the program needs to make each of these calls.
  json recorded_with_all_calls() {
    json trace;
    for (const int seconds : {1, 4, 16}) {
      trace = recorded_for(seconds);
      std::set<std::string> missing = kSeenCalls;
      for (const json& call : of_category(trace, "call")) missing.erase(call["name"]);
      if (missing.empty()) break;
    }
    return trace;
  }

  std::optional<harness::Child> program;
  std::vector<SeenCall> seen;
};

TEST_F(TracedCalls, LieWithinTheTimeThatTheProgramSawThemTake) {
  auto started = harness::Child::start(tenancy->tenant("alice", 1, {harness::beside("opencl_calls")}));
  ASSERT_TRUE(started);
  program.emplace(std::move(started).value());
  ASSERT_TRUE(progresses(*program));
  const json trace = recorded_with_all_calls();
  expect_format(trace);
  const auto calls = of_category(trace, "call");
  const auto launches = of_category(trace, "launch");
  ASSERT_FALSE(calls.empty() || launches.empty());
  expect_no_overlap(calls);  // it has one thread
  ASSERT_TRUE(eventually([&] {
    read_calls();
    return !seen.empty() && seen.back().began > end_of(calls.back());
  }));
  std::set<std::string> names;
  bool finish_ends_with_its_launch = false;
  for (const json& call : calls) {
    const std::string name = call["name"];
    const double began = call["ts"];
    const double ended = end_of(call);
    if (!kSeenCalls.contains(name)) continue;  // made inside another call, for instance to create a kernel
    names.insert(name);
    if (name == "Finish") {
      finish_ends_with_its_launch |= std::any_of(launches.begin(), launches.end(), [&](const json& launch) {
        return std::abs(end_of(launch) - ended) < kRounding;
      });
    }
    EXPECT_EQ(call["args"]["waited_for"], name == "GetProgramInfo" ? "reply" : "command");
    EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [&](const SeenCall& its) {
      return its.name == name && its.began <= began + kRounding && ended <= its.ended + kRounding;
    })) << call;
  }
  EXPECT_EQ(names, kSeenCalls);
  EXPECT_TRUE(finish_ends_with_its_launch);
  const std::string track = "opencl_calls " + std::to_string(program->pid()) + ": calls";
  EXPECT_TRUE(std::any_of(trace["traceEvents"].begin(), trace["traceEvents"].end(), [&](const json& event) {
    return event["name"] == "thread_name" && event["args"]["name"] == track;
  })) << track;
}

TEST_F(TraceSystem, RecordsCudaProgramsLikeOthers) {
  if (!std::filesystem::exists(workload("cuda/computeLoop"))) GTEST_SKIP() << "built without CUDA programs";
  auto child = harness::Child::start(tenancy->tenant(
      "carol", 1,
      {workload("cuda/computeLoop"), "--seconds", "60", "--iterations", "200", "--progress-ms", "50"}));
  ASSERT_TRUE(child && progresses(child.value()));
  const json trace = recorded();
  expect_format(trace);
  const auto launches = of_category(trace, "launch");
  ASSERT_FALSE(launches.empty());
  expect_no_overlap(launches);
  expect_within(launches, of_category(trace, "grant"));
  for (const json& launch : launches) {
    EXPECT_EQ(launch["name"], "workloads::cuda::iterate");
    EXPECT_GT(launch["args"]["groups"], 0);
  }
  const auto calls = of_category(trace, "call");
  EXPECT_TRUE(std::any_of(calls.begin(), calls.end(),
                          [](const json& call) { return call["name"] == "Synchronize"; }));
}

TEST_F(TraceSystem, SaysWhatItCannotDo) {
  const std::string file = folder / "out.json";
  EXPECT_EQ(fairgv({"trace", "-o", file, "--seconds", "0.2"}).status, 1);  // there are no tenants
  EXPECT_EQ(fairgv({"trace", "-o", file, "--tenant", "a b"}).status, 2);
  EXPECT_EQ(fairgv({"trace", "-o", folder / "no" / "folder", "--seconds", "0.2"}).status, 1);
  EXPECT_EQ(fairgv({"trace"}).status, 2);
}

}  // namespace
}  // namespace fairgv::integration
