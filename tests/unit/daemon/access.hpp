// A daemon that is made and runs in a child, and users who connect to it: children of the test that have
// become these users. The test itself has one thread only: a lock that another thread held at the moment of a
// fork would stay locked in the child.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sched.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/control/answers.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/daemon/server.hpp"
#include "tests/harness/crowd.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon {

inline constexpr const char* kLook = R"({"command":"ps"})";
inline constexpr const char* kStop = R"({"command":"stop"})";
inline constexpr const char* kChangePolicy = R"({"command":"policy","policy":"fifo"})";

/// A user without rights.
inline constexpr uid_t kUser = 65'534;

struct Access : ::testing::Test {
  static constexpr rlim_t kDescriptors = 4'096;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become other users";
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    // The test itself limits crowds.
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, kDescriptors));
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < kDescriptors) GTEST_SKIP() << "too few descriptors may be open here";
  }

  /// Runs `before` in the daemon's process first; the daemon serves nothing if `before` returns false.
  void serve(
      Config config, const std::function<bool()>& before = [] { return true; }) {
    config.vendors = folder / "no-vendors";
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
    daemon = ::fork();
    if (daemon == 0) ::_exit(before() ? run_server(std::move(config), ready[1]) : 1);
    ::close(ready[1]);
    char word = 0;
    EXPECT_EQ(::read(ready[0], &word, 1), 1) << "there is no server";
    ::close(ready[0]);
  }

  /// Reports on `ready` that others may connect.
  int run_server(Config config, int ready) const {
    ServerSettings settings;
    settings.socket_path = socket;
    settings.worker_program = worker;
    settings.log_level = log_level;
    const auto created = Server::create(std::move(settings), std::move(config));
    if (!created) {
      std::cerr << created.error().message << '\n';
      return 1;
    }
    if (::write(ready, "r", 1) != 1) return 1;
    created.value()->run();
    return 0;
  }

  void TearDown() override {
    if (daemon <= 0) return;
    EXPECT_EQ(ask(kStop), control::success_text());
    int status = 0;
    ::waitpid(daemon, &status, 0);
    EXPECT_EQ(status, 0);
  }

  static std::string hello_of_control() { return harness::hello_of_control(); }
  static std::string hello_of_tenant(const std::optional<std::string>& tenant) {
    session::Hello hello;
    hello.tenant = tenant;
    hello.program = "a program";
    return to_text(hello);
  }

  /// The answer to a control request; "refused" when the daemon does not take the connection.
  std::string ask(const std::string& request) const {
    const auto connected = Socket::connect(socket);
    if (!connected || !connected->send(hello_of_control())) return "refused";
    const auto welcome = connected->receive();
    if (!welcome || !session::parse_hello_answer(welcome->text) ||
        welcome->text.find("refused") != std::string::npos) {
      return "refused";
    }
    EXPECT_TRUE(connected->send(request));
    const auto answer = control::receive_answer(connected.value());
    return answer ? answer.value() : "lost";
  }

  /// Whether `holds` holds for a child that has become this user.
  static bool as(uid_t uid, std::vector<gid_t> groups, const std::function<bool()>& holds) {
    const pid_t child = ::fork();
    if (child == 0) {
      const bool became =
          ::setgroups(groups.size(), groups.data()) == 0 && ::setgid(uid) == 0 && ::setuid(uid) == 0;
      ::_exit(became && holds() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status == 0;
  }

  /// Connections that this user has made, and sent this text on, in the test's hands.
  std::vector<Socket> connections_of(uid_t uid, std::size_t count, const std::string& hello = "") {
    auto made = harness::connections_of(socket, uid, count, hello);
    EXPECT_EQ(made.size(), count) << "user " << uid << " could not connect";
    return made;
  }

  /// The daemon's next message; empty when it has hung up.
  static std::string heard(const Socket& from) {
    const auto packet = from.receive();
    return packet && packet->kind == Packet::Kind::message ? packet->text : "";
  }

  bool may_connect() const { return static_cast<bool>(Socket::connect(socket)); }
  bool may_stop() const { return ask(kStop) == control::success_text(); }

  /// Gives the calling process a view of the file system of its own, in which the file lies at that place.
  static bool put_over(const std::string& file, const char* place) {
    return ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount(file.c_str(), place, nullptr, MS_BIND, nullptr) == 0;
  }

  /// Makes the daemon start workers that live until they are killed, and say nothing.
  void use_sleeping_workers() {
    folder.write("worker", "#!/bin/sh\nexec sleep 1000\n");
    worker = folder / "worker";
    std::filesystem::permissions(worker, std::filesystem::perms(0755));
  }

  harness::TemporaryFolder folder;
  const std::string socket = folder / "fairgvd.sock";
  std::string worker = "/bin/false";
  std::string log_level = "off";
  pid_t daemon = -1;
};

}  // namespace fairgv::daemon
