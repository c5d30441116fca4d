// Who may connect to a daemon and what they may ask of it. The server is made and runs in a child; other
// users are children of the test that have become them. The test itself has one thread only: what another one
// had locked at the moment of a fork would stay locked in the child.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <iostream>

#include "runtime/daemon/server.hpp"
#include "runtime/session/control_protocol.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon {
namespace {

constexpr uid_t kUser = 65'534;
constexpr gid_t kGroup = 54'321;
constexpr gid_t kAdminGroup = 54'322;

constexpr const char* kLook = R"({"command":"ps"})";
constexpr const char* kStop = R"({"command":"stop"})";
constexpr const char* kChangePolicy = R"({"command":"policy","policy":"fifo"})";

struct Access : ::testing::Test {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become other users";
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  }

  void serve(Config config) {
    config.vendors = folder / "no-vendors";
    config.log_level = "off";
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
    daemon = ::fork();
    if (daemon == 0) ::_exit(run_server(std::move(config), ready[1]));
    ::close(ready[1]);
    char word = 0;
    EXPECT_EQ(::read(ready[0], &word, 1), 1) << "there is no server";
    ::close(ready[0]);
  }

  /// Says on `ready` that others may connect.
  int run_server(Config config, int ready) const {
    ServerSettings settings;
    settings.socket_path = socket;
    settings.worker_program = "/bin/false";
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
    EXPECT_EQ(ask(kStop), session::success_text());
    int status = 0;
    ::waitpid(daemon, &status, 0);
    EXPECT_EQ(status, 0);
  }

  /// The answer to a control request; "refused" when the daemon does not take the connection.
  std::string ask(const std::string& request) const {
    session::Hello hello;
    hello.role = session::Hello::Role::control;
    const auto connected = session::Socket::connect(socket);
    if (!connected || !connected->send(to_text(hello))) return "refused";
    const auto welcome = connected->receive();
    if (!welcome || !session::parse_hello_answer(welcome->text) ||
        welcome->text.find("refused") != std::string::npos) {
      return "refused";
    }
    EXPECT_TRUE(connected->send(request));
    const auto answer = connected->receive();
    return answer ? answer->text : "lost";
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

  bool may_connect() const { return static_cast<bool>(session::Socket::connect(socket)); }
  bool may_stop() const { return ask(kStop) == session::success_text(); }

  harness::TemporaryFolder folder;
  const std::string socket = folder / "fairgvd.sock";
  pid_t daemon = -1;
};

TEST_F(Access, IsOpenToEverybodyByDefault) {
  serve({});
  EXPECT_TRUE(as(kUser, {}, [&] { return may_connect(); }));
}

TEST_F(Access, IsClosedByTheKernelToWhoIsNotInTheGroup) {
  Config config;
  config.group = kGroup;
  serve(config);
  struct stat status {};
  ASSERT_EQ(::stat(socket.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0660u);
  EXPECT_EQ(status.st_gid, kGroup);
  EXPECT_FALSE(as(kUser, {}, [&] { return may_connect(); }));
  EXPECT_TRUE(as(kUser, {kGroup}, [&] { return may_connect(); }));
}

TEST_F(Access, LooksAreFreeAndChangesAreNot) {
  serve({});
  EXPECT_TRUE(as(kUser, {}, [&] { return ask(kLook).find("\"daemon\"") != std::string::npos; }));
  EXPECT_FALSE(as(kUser, {}, [&] { return may_stop(); }));
  EXPECT_TRUE(as(kUser, {}, [&] { return ask(kChangePolicy).find("only root") != std::string::npos; }));
  EXPECT_FALSE(as(kUser, {kAdminGroup}, [&] { return may_stop(); }));
}

TEST_F(Access, TheAdminGroupMayWhatRootMay) {
  Config config;
  config.admin_group = kAdminGroup;
  serve(config);
  EXPECT_FALSE(as(kUser, {kGroup}, [&] { return may_stop(); }));
  EXPECT_TRUE(
      as(kUser, {kGroup, kAdminGroup}, [&] { return ask(kChangePolicy) == session::success_text(); }));
}

TEST_F(Access, WhoeverConnectedAsRootIsRootToTheDaemon) {
  // The kernel tells who connected, not who speaks: a program that gives up root keeps the connection that it
  // made as root, and one that is handed on is that of its maker.
  serve({});
  EXPECT_TRUE(as(0, {}, [&] {
    session::Hello hello;
    hello.role = session::Hello::Role::control;
    const auto connected = session::Socket::connect(socket);
    if (!connected || ::setuid(kUser) != 0 || !connected->send(to_text(hello)) || !connected->receive())
      return false;
    if (!connected->send(kChangePolicy)) return false;
    return connected->receive()->text == session::success_text();
  }));
}

TEST_F(Access, AUsersSilentConnectionsKeepNobodyElseOut) {
  Config config;
  config.user_connection_limit = 3;
  serve(config);
  EXPECT_TRUE(as(kUser, {}, [&] {
    std::vector<session::Socket> silent;
    for (int i = 0; i < 3; ++i) silent.push_back(std::move(session::Socket::connect(socket)).value());
    const auto one_more = session::Socket::connect(socket);
    // The daemon takes connections in their order, so the answer comes after it has seen the first three.
    const bool refused =
        one_more && one_more->receive()->text.find("too many connections") != std::string::npos;
    return refused && ask(kLook) == "refused";
  }));
  EXPECT_NE(ask(kLook), "refused");
  EXPECT_TRUE(as(kUser + 1, {}, [&] { return ask(kLook) != "refused"; }));
}

TEST(AccessOfUsers, ALoginAndANumberAreSomebodysNames) {
  EXPECT_EQ(namesake("root"), 0u);
  EXPECT_EQ(namesake("uid-4242"), 4242u);
  EXPECT_FALSE(namesake("uid-4242x"));
  EXPECT_FALSE(namesake("no-such-user-here"));
}

}  // namespace
}  // namespace fairgv::daemon
