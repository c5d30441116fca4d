// A probe in a worker's cage: it is started as a worker is, and reports its rights.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/daemon/worker/process.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon::caged {

namespace fs = std::filesystem;

/// The probe's lines, by their first word.
using Report = std::multimap<std::string, std::string>;

inline std::string only(const Report& report, const std::string& key) {
  const auto [first, last] = report.equal_range(key);
  return std::distance(first, last) == 1 ? first->second
                                         : "(" + std::to_string(std::distance(first, last)) + ")";
}

inline void expect_each(const Report& report, const std::vector<std::string>& paths,
                        const std::string& access) {
  for (const std::string& path : paths) EXPECT_EQ(only(report, path), access) << path;
}

struct Cage : ::testing::Test {
  Cage() {
    rule.cache = folder / "caches";
    fs::create_directory(folder / "vendors");
    fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    const std::string probe = fs::read_symlink("/proc/self/exe").parent_path() / "daemon_cage_probe";
    command.program = probe;
    command.vendors = folder / "vendors";
  }

  WorkerPlace place() const { return {command.program, command.vendors, drivers, command.run_as}; }

  void plan() {
    auto planned = plan_cage(rule, "/etc/OpenCL/vendors", place());
    ASSERT_TRUE(planned) << planned.error().message;
    command.cage = std::move(planned).value();
  }

  /// Starts the probe in the cage and lets it try these paths.
  Report probe(const std::vector<std::string>& paths = {}) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    command.arguments = paths;
    command.output = writer.get();
    auto worker = WorkerProcess::spawn(command);
    EXPECT_TRUE(worker);
    writer.reset();
    std::string text;
    char part[4096];
    for (ssize_t length; (length = ::read(reader.get(), part, sizeof(part))) > 0;) {
      text.append(part, static_cast<std::size_t>(length));
    }
    EXPECT_EQ(worker->reap(), "ended with status 0");
    Report report;
    std::istringstream lines(text);
    for (std::string key, value; lines >> key >> value;) report.emplace(key, value);
    return report;
  }

  harness::TemporaryFolder folder;
  WorkerRule rule;
  WorkerCommand command;
  std::vector<std::string> drivers;
};

struct RootsCage : Cage {
  void SetUp() override {
    if (view_means() != ViewMeans::mounts) GTEST_SKIP() << "needs root, who may mount";
  }
};

}  // namespace fairgv::daemon::caged
