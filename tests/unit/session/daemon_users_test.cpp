// The administrator's list of users who may serve the daemon, and the kernel's list of existing users.
#include <gtest/gtest.h>

#include "runtime/session/trust/daemon_users.hpp"

namespace fairgv::session {
namespace {

TEST(DaemonUsers, AreNamesAndNumbersOneALine) {
  const auto users =
      parse_daemon_users("# the service\nfairgv\n\n  65534\t# outside\r\nDOMAIN\\svc.gpu$", "f");
  ASSERT_TRUE(users) << users.error().message;
  EXPECT_EQ(users->names, (std::vector<std::string>{"fairgv", "DOMAIN\\svc.gpu$"}));
  EXPECT_EQ(users->numbers, std::vector<uid_t>{65'534});
  EXPECT_TRUE(parse_daemon_users("", "f"));
}

TEST(DaemonUsers, AMistakeIsSaidWithItsLine) {
  for (const std::string bad : {"a b", "-1", "*", "4294967295", "99999999999", "a\x1b[31m", "a/b", "\xff"}) {
    const auto users = parse_daemon_users("root\n" + bad + "\nalice\n", "/etc/x");
    ASSERT_FALSE(users) << bad;
    EXPECT_TRUE(users.error().message.starts_with("/etc/x:2: '")) << users.error().message;
    EXPECT_EQ(users.error().message.find('\x1b'), std::string::npos);
    EXPECT_EQ(users.error().message.find('\xff'), std::string::npos);
  }
  EXPECT_FALSE(parse_daemon_users(std::string_view("a\0b", 3), "f"));
  EXPECT_FALSE(parse_daemon_users(std::string(100, 'a'), "f"));
  EXPECT_FALSE(parse_daemon_users(std::string(kLongestDaemonUsers + 1, '\n'), "f"));
}

TEST(UserNamespace, MapsEveryUserOnlyWhereAllNumbersAreMapped) {
  EXPECT_TRUE(maps_every_user("         0          0 4294967295\n"));
  EXPECT_TRUE(maps_every_user("0 0 1000\n1000 1000 4294966295\n"));
  EXPECT_FALSE(maps_every_user("         0      12345          1\n"));
  EXPECT_FALSE(maps_every_user("0 1000 1\n1 100000 65536\n"));
  EXPECT_FALSE(maps_every_user("7 0 1"));
}

TEST(UserNamespace, IsTakenForTheWholeMachineWhereNothingIsKnown) {
  for (const char* unknown : {"", "\n", "0 0", "a b c", "0 0 99999999999", "0 -1 5"}) {
    EXPECT_TRUE(maps_every_user(unknown)) << unknown;
  }
}

}  // namespace
}  // namespace fairgv::session
