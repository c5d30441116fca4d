// Programs whose sessions move, over devices of PoCL that are set apart as if each had hardware of its own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {

inline constexpr std::uint64_t kBallast = 8 * kMiB;

/// The processes that this one has started and that live.
inline std::set<pid_t> children_of(pid_t parent) {
  std::set<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    const auto after_name = line.rfind(')');
    if (after_name == std::string::npos || line.size() < after_name + 4) continue;
    if (std::atoi(line.c_str() + after_name + 4) == parent && alive(pid)) children.insert(pid);
  }
  return children;
}

struct Moving : System {
  void SetUp() override { start(""); }

  /// `rules`: lines of [device.1], and tables of the configuration. `drivers`: a device for each word.
  void start(const std::string& rules, const std::string& drivers = "pthread pthread") {
    tenancy.reset();
    auto started = harness::Tenancy::start({}, {{"POCL_DEVICES", drivers}},
                                           "memory = \"2GiB\"\n[device.1]\nsame_as = 1\n" + rules);
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
  }

  std::string stop_file() {
    return std::filesystem::path(tenancy->socket()).replace_filename("stop").string();
  }
  /// A program that finds any result that is lost or made twice.
  harness::Child start_wanderer(const std::string& name, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> program{"/usr/bin/env"};
    program.insert(program.end(), environment.begin(), environment.end());
    program.insert(program.end(),
                   {harness::beside("opencl_wanderer"), std::to_string(kBallast / kMiB), stop_file()});
    auto child = harness::Child::start(tenancy->tenant(name, 1, std::move(program)));
    EXPECT_TRUE(child);
    return std::move(child).value();
  }
  /// Ends the program, which finds its results right.
  void expect_right(harness::Child child) {
    std::ofstream(stop_file()) << "";
    const auto finished = harness::finish(std::move(child));
    EXPECT_EQ(finished.status, 0) << joined(finished);
    EXPECT_EQ(finished.lines.empty() ? "" : finished.lines.back(), "right") << joined(finished);
  }

  nlohmann::json session(const std::string& name) { return tenant(name)["sessions"][0]; }
  std::string number(const std::string& name) { return std::to_string(session(name)["session"].get<int>()); }
  std::uint64_t memory(const std::string& name, std::size_t device) {
    return session(name)["memory_used"][device].get<std::uint64_t>();
  }
  /// The answer to a command that does all that it is to do.
  nlohmann::json answer_of(std::vector<std::string> command) {
    command.push_back("--json");
    const auto finished = fairgv(std::move(command));
    EXPECT_EQ(finished.status, 0) << joined(finished);
    std::string text;
    for (const std::string& line : finished.lines) text += line;
    return nlohmann::json::parse(text, nullptr, false);
  }
  nlohmann::json migrate(std::vector<std::string> what) {
    what.insert(what.begin(), {"migrate"});
    return answer_of(std::move(what));
  }
  /// The output of a command, errors and all.
  harness::Finished tried(const std::vector<std::string>& what) {
    std::vector<std::string> command{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", harness::beside("fairgv")};
    command.insert(command.end(), what.begin(), what.end());
    command.insert(command.end(), {"--socket", tenancy->socket()});
    auto finished = harness::run({std::move(command), {}});
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  }
  /// The line with which the command fails.
  std::string failure_of(const std::vector<std::string>& command) {
    const auto finished = tried(command);
    EXPECT_EQ(finished.status, 1) << joined(finished);
    EXPECT_EQ(finished.lines.size(), 1U) << joined(finished);
    return joined(finished);
  }
  /// The same of `fairgv migrate`.
  std::string failure(std::vector<std::string> what) {
    what.insert(what.begin(), {"migrate"});
    return failure_of(what);
  }
  /// The command, at work while the test does something else.
  harness::Child begin(std::vector<std::string> command) {
    command.insert(command.begin(), harness::beside("fairgv"));
    command.insert(command.end(), {"--socket", tenancy->socket()});
    auto child = harness::Child::start({std::move(command), {}});
    EXPECT_TRUE(child);
    return std::move(child).value();
  }
  /// Stops the program where it has nothing under way, so that it needs its device no more.
  void stop_idle(const harness::Child& program, const std::string& name) {
    ASSERT_TRUE(eventually([&] {
      ::kill(program.pid(), SIGSTOP);
      bool idle = true;
      for (int look = 0; look < 3; ++look)
        idle = idle && (session(name)["state"] == "idle" || session(name)["state"] == "held");
      if (!idle) ::kill(program.pid(), SIGCONT);
      return idle;
    }));
  }
  pid_t daemon() { return ps()["daemon"]["pid"].get<pid_t>(); }
  pid_t worker(const std::string& name) { return session(name)["worker_pid"].get<pid_t>(); }
  /// The second worker of a session that moves, as soon as there is one.
  pid_t next_worker(pid_t daemon_pid, pid_t first) {
    pid_t next = 0;
    EXPECT_TRUE(eventually([&] {
      for (const pid_t child : children_of(daemon_pid)) {
        if (child != first) next = child;
      }
      return next != 0;
    }));
    return next;
  }
};

}  // namespace fairgv::integration
