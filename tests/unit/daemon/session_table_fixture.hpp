// A table of sessions whose workers are scripts that the test writes.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/daemon/house.hpp"
#include "tests/unit/daemon/log.hpp"

namespace fairgv::daemon {

/// The packet of a worker that is ready with one device.
inline const std::string kReady = to_text(session::WorkerReady{{{"Portable Computing Language", "cpu", 2}}});

inline session::LongCommand reduce(std::uint64_t count) {
  return {0, "reduce", "it uses pipes", count, 4'210'000'000, 4'210'000'000 * count};
}

struct SessionTableTest : ::testing::Test {
  /// Begins bob's session with a worker that sends these packets, and then runs `then`.
  void start(const std::vector<std::string>& packets, const std::string& then = "exec sleep 1000") {
    std::string script = R"(#!/bin/bash
while [ "$1" != --options-fd ]; do shift; done
options=$(</proc/self/fd/$2)
number_of() {
  local rest=${options#*\"$1\":}
  echo "${rest%%[,\}]*}"
}
channel=$(number_of daemon_fd)
ledger=$(number_of ledger_fd)
)";
    for (const std::string& packet : packets) script += "printf %s '" + packet + "' >&$channel\n";
    script += then;
    folder.write("worker", script + "\n");
    std::filesystem::permissions(folder / "worker", std::filesystem::perms::owner_all);
    const auto started = begin(joins, ::getuid(), client);
    ASSERT_TRUE(started) << started.error().message;
  }
  /// Begins a session of this tenant, by this user, with the same worker, and stores its client's end of the
  /// socket.
  Result<void> begin(const std::optional<std::string>& tenant, uid_t uid, Socket& client_end,
                     const session::TenantWish& wish = {}) {
    auto ends = std::move(Socket::pair()).value();
    client_end = std::move(ends.first);
    session::Hello hello;
    hello.tenant = tenant;
    hello.wish = wish;
    return table.start(hello, {::getpid(), uid, static_cast<gid_t>(uid)}, ends.second);
  }

  void run_until(const std::function<bool()>& so) {
    // The bound only prevents a broken daemon from hanging the test.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!so() && std::chrono::steady_clock::now() < give_up) {
      house.events->wait(std::min(give_up, table.deadline().value_or(give_up)));
      table.expire(std::chrono::steady_clock::now());
    }
    ASSERT_TRUE(so());
  }

  std::vector<session::LongCommand> reported() {
    std::vector<session::LongCommand> commands;
    for (const auto& tenant : house.report().tenants) {
      for (const auto& each : tenant.sessions) commands = each.long_commands;
    }
    return commands;
  }

  TenantCounts counts() { return house.tenancies.registry().all().at(0).counts; }

  void TearDown() override {
    table.end_all("the test ends");
    run_until([&] { return table.empty(); });
  }

  Log log;
  harness::TemporaryFolder folder;
  House house{folder / "worker", folder.path()};
  SessionTable& table = house.table;
  Socket client;
  std::string joins = "bob";  // the tenant of sessions that start
};

}  // namespace fairgv::daemon
