// Access to a daemon: users that may connect, and the requests that each may make.
#include <sys/stat.h>

#include "runtime/daemon/tenants/peers/user_tenant.hpp"
#include "tests/unit/daemon/access.hpp"

namespace fairgv::daemon {
namespace {

constexpr gid_t kGroup = 54'321;
constexpr gid_t kAdminGroup = 54'322;

TEST_F(Access, IsOpenToEverybodyByDefault) {
  serve({});
  EXPECT_TRUE(as(kUser, {}, [&] { return may_connect(); }));
}

TEST_F(Access, IsClosedByTheKernelToUsersOutsideTheGroup) {
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
      as(kUser, {kGroup, kAdminGroup}, [&] { return ask(kChangePolicy) == control::success_text(); }));
}

TEST_F(Access, AConnectionMadeAsRootCountsAsRoots) {
  // The kernel reports the user who connected, not the user who speaks: a program that gives up root keeps
  // the connection that it made as root, and a connection that is handed on stays its maker's.
  serve({});
  EXPECT_TRUE(as(0, {}, [&] {
    session::Hello hello;
    hello.role = session::Hello::Role::control;
    const auto connected = Socket::connect(socket);
    if (!connected || ::setuid(kUser) != 0 || !connected->send(to_text(hello)) || !connected->receive())
      return false;
    if (!connected->send(kChangePolicy)) return false;
    return connected->receive()->text == control::success_text();
  }));
}

TEST_F(Access, AUsersSilentConnectionsKeepNobodyElseOut) {
  Config config;
  config.user_connection_limit = 3;
  serve(config);
  EXPECT_TRUE(as(kUser, {}, [&] {
    std::vector<Socket> silent;
    for (int i = 0; i < 3; ++i) silent.push_back(std::move(Socket::connect(socket)).value());
    const auto one_more = Socket::connect(socket);
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
