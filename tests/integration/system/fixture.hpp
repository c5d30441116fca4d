// A private daemon per test, and the questions that tests ask it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/harness/measured.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::integration {

/// Checks the condition again and again until it holds. The bound only prevents a broken system from hanging
/// the test.
inline bool eventually(const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// A process that was killed may stay a zombie until its parent looks; only a process that runs counts as
/// alive.
inline bool alive(pid_t pid) {
  if (::kill(pid, 0) != 0) return false;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const auto after_name = line.rfind(')');
  return after_name != std::string::npos && line.size() > after_name + 2 && line[after_name + 2] != 'Z';
}

/// The program's output, each line marked as the program's: CTest takes a line that begins like GoogleTest's
/// line of a skipped test for its own, and would call a failure skipped.
inline std::string joined(const harness::Finished& finished) {
  std::string text;
  for (const std::string& line : finished.lines)
    text += "| " + line.substr(line.starts_with('[') ? 1 : 0) + '\n';
  return text;
}

struct System : ::testing::Test {
  void SetUp() override { start_daemon({}); }
  /// `device`: lines for [device] of the configuration.
  void start_daemon(const std::string& device) {
    tenancy.reset();
    auto started = harness::Tenancy::start({}, {}, device);
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
  }

  static std::string workload(const std::string& name) { return harness::beside("workloads/" + name); }

  /// A tenant's program that runs until it is killed, or for a minute.
  harness::Child start_long_program(const std::string& tenant, std::uint32_t weight = 1) {
    auto child = harness::Child::start(tenancy->tenant(
        tenant, weight,
        {workload("computeLoop"), "--seconds", "60", "--iterations", "200", "--progress-ms", "50"}));
    EXPECT_TRUE(child);
    return std::move(child).value();
  }

  harness::Finished fairgv(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), harness::beside("fairgv"));
    arguments.insert(arguments.end(), {"--socket", tenancy->socket()});
    auto finished = harness::run({std::move(arguments), {}});
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  }

  nlohmann::json ps() {
    const auto finished = fairgv({"ps", "--json"});
    EXPECT_EQ(finished.status, 0);
    std::string text;
    for (const std::string& line : finished.lines) text += line + '\n';
    return nlohmann::json::parse(text, nullptr, false);
  }

  /// The tenant as `fairgv ps` shows it, or null.
  nlohmann::json tenant(const std::string& name) {
    const nlohmann::json report = ps();
    for (const auto& each : report["tenants"]) {
      if (each["tenant"] == name) return each;
    }
    return nullptr;
  }

  std::size_t sessions_of(const std::string& name) {
    const auto found = tenant(name);
    return found.is_null() ? 0 : found["sessions"].size();
  }

  /// Whether the program makes progress that it had not reported when this was called.
  static bool progresses(harness::Child& child) {
    (void)child.read_lines();
    return eventually([&] {
             for (const std::string& line : child.read_lines()) {
               const auto object = harness::parse_line(line);
               if (object.is_object() && object.value("rounds", 0) > 0) return true;
             }
             return child.ended();
           }) &&
           !child.ended();
  }

  std::optional<harness::Tenancy> tenancy;
};

}  // namespace fairgv::integration
