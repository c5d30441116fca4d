// A user and his subordinate ids are one person to the daemon. The ids are real: children of the test have
// become these users, and the daemon has an /etc/subuid of its own.
#include "tests/unit/daemon/access.hpp"

namespace fairgv::daemon {
namespace {

constexpr uid_t kMine = 300'000;   // ten ids of kUser's
constexpr uid_t kRoots = 400'000;  // ten of root's
constexpr uid_t kStranger = 500'000;

struct Subordinate : Access {
  void SetUp() override {
    Access::SetUp();
    if (IsSkipped()) return;
    if (!std::filesystem::exists(Owners::kSystemFile)) GTEST_SKIP() << "there is no " << Owners::kSystemFile;
    folder.write("subuid", std::to_string(kUser) + ":300000:10\nroot:400000:10\n");
    file = folder / "subuid";
    if (!as(0, {}, [&] { return put_over(file, Owners::kSystemFile); })) {
      GTEST_SKIP() << "no view of the file system of its own can be had here";
    }
    use_sleeping_workers();
  }
  void serve_with(TenantRules rules, std::uint32_t user_session_limit = 64) {
    Config config;
    config.tenants = std::move(rules);
    config.user_session_limit = user_session_limit;
    config.user_connection_limit = 3;
    serve(std::move(config), [this] { return put_over(file, Owners::kSystemFile); });
  }
  control::WhoAmI who(uid_t uid, const std::string& tenant = "") {
    control::ControlRequest request;
    request.command = control::ControlRequest::Command::whoami;
    request.tenant = tenant;
    const auto made = connections_of(uid, 1, hello_of_control());
    EXPECT_FALSE(heard(made.at(0)).empty());
    EXPECT_TRUE(made[0].send(to_text(request)));
    const auto answer = control::parse_whoami(heard(made[0]));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? answer.value() : control::WhoAmI();
  }
  /// The answer to this user's request.
  std::string answer_to(uid_t uid, const std::string& request) {
    const auto made = connections_of(uid, 1, hello_of_control());
    EXPECT_FALSE(heard(made.at(0)).empty());
    EXPECT_TRUE(made[0].send(request));
    return heard(made[0]);
  }

  std::string file;
};

TEST_F(Subordinate, IdsHaveTheTenantOfTheirOwner) {
  serve_with({});
  const std::string owners = who(kUser).tenant;
  const control::WhoAmI mine = who(kMine + 5);
  EXPECT_EQ(mine.tenant, owners);
  EXPECT_EQ(mine.uid, kMine + 5);
  EXPECT_EQ(mine.counts_for, owners);
  EXPECT_FALSE(mine.administrator);
  EXPECT_FALSE(mine.refusal);
  EXPECT_EQ(who(kStranger).tenant, "uid-500000");
  EXPECT_FALSE(who(kStranger).counts_for);
}

TEST_F(Subordinate, IdsHaveNoNamesOfTheirOwn) {
  TenantRules rules;
  rules.free_names = false;
  rules.by_name["given"] = {.uid = kUser};
  rules.by_name["itself"] = {.uid = kMine + 1};
  serve_with(rules);
  for (const uid_t uid : {kUser, kMine + 1, kMine + 2}) {
    EXPECT_TRUE(who(uid, "uid-300001").refusal) << uid;
    EXPECT_TRUE(who(uid, "uid-" + std::to_string(kUser)).refusal) << uid << ": a second name by number";
    EXPECT_FALSE(who(uid, "given").refusal) << uid;
    EXPECT_EQ(who(uid, "itself").refusal.has_value(), uid != kMine + 1) << "a name can be for one id alone";
  }
  EXPECT_TRUE(who(kStranger, "uid-300001").refusal);
}

TEST_F(Subordinate, IdsOfRootsAreNeitherRootNorSeveral) {
  TenantRules rules;
  rules.free_names = false;
  serve_with(rules);
  EXPECT_EQ(who(kRoots + 7).tenant, "uid-400000");
  EXPECT_FALSE(who(kRoots + 7).administrator);
  EXPECT_TRUE(who(kRoots + 7, "root").refusal);
  EXPECT_NE(answer_to(kRoots, kStop).find("only root"), std::string::npos);
  EXPECT_NE(answer_to(kMine, kStop).find("only root"), std::string::npos);
}

TEST_F(Subordinate, IdsShareTheLimitsOfTheirOwner) {
  serve_with({}, 2);
  const auto first = connections_of(kMine, 1, hello_of_tenant(std::nullopt));
  const auto second = connections_of(kMine + 1, 1, hello_of_tenant("another"));
  ASSERT_EQ(ask(kLook).find("refused"), std::string::npos) << "both have begun when this is answered";
  const auto third = connections_of(kMine + 2, 1, hello_of_tenant("a.third"));
  EXPECT_NE(heard(third.at(0)).find("user 65534 already has 2 sessions"), std::string::npos);
  const auto silent = connections_of(kMine + 3, 3);
  const auto one_more = connections_of(kMine + 4, 1);
  EXPECT_NE(heard(one_more.at(0)).find("user 65534 has too many connections"), std::string::npos);
  EXPECT_EQ(connections_of(kStranger, 1, hello_of_control()).size(), 1U);
}

TEST_F(Subordinate, IdsCountAsUsersOfTheirOwnIfTheConfigurationSaysSo) {
  TenantRules rules;
  rules.subordinate_to_owner = false;
  serve_with(rules);
  EXPECT_EQ(who(kMine + 5).tenant, "uid-300005");
  EXPECT_FALSE(who(kMine + 5).counts_for);
}

TEST_F(Subordinate, IdsTenantsAreTheirOwnersToSet) {
  serve_with({});
  const auto session = connections_of(kMine, 1, hello_of_tenant("boxed"));
  ASSERT_EQ(ask(kLook).find("refused"), std::string::npos);
  const char* const set = R"({"command":"set","tenant":"boxed","weight":3})";
  EXPECT_EQ(answer_to(kUser, set), control::success_text());
  EXPECT_EQ(answer_to(kMine + 9, set), control::success_text());
  EXPECT_NE(answer_to(kStranger, set).find("belongs to user 65534"), std::string::npos);
  EXPECT_NE(answer_to(kRoots, set).find("belongs to user 65534"), std::string::npos);
}

}  // namespace
}  // namespace fairgv::daemon
