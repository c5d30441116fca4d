// The rules that decide a process' tenant, and that nobody gets around them.
#include <gtest/gtest.h>

#include "runtime/daemon/tenants/peers/matching.hpp"
#include "runtime/daemon/tenants/peers/peer_process.hpp"
#include "tests/unit/daemon/tenants/users.hpp"

namespace fairgv::daemon {
namespace {

const std::string kId(64, 'a');

TenantRules rules_of(const std::string& text) {
  auto config = parse_config(text, "c.toml");
  EXPECT_TRUE(config) << config.error().message;
  return config ? config->tenants : TenantRules();
}

Person alice(const std::string& cgroup = "/user.slice/user-1000.slice/session-3.scope") {
  return {kAlice, {1000, 44}, "alice", cgroup};
}

std::string tenant_of(const TenantRules& rules, const Person& person, std::optional<std::string> asked = {}) {
  const auto membership = find_membership(rules, person, asked);
  return membership ? membership->tenant : "refused: " + membership.error().message;
}

TEST(Matching, WithoutRulesProgramsAreWhatTheyAskForOrTheirUser) {
  const TenantRules rules;
  EXPECT_EQ(tenant_of(rules, alice()), "alice");
  EXPECT_EQ(tenant_of(rules, alice(), "batch"), "batch");
  EXPECT_FALSE(find_membership(rules, alice(), "batch")->assigned);
}

TEST(Matching, TheFirstRuleThatFitsDecides) {
  const TenantRules rules = rules_of(R"(
[[match]]
tenant = "bobs"
uid = 1001
[[match]]
tenant = "video"
gid = 44
[[match]]
tenant = "alices"
uid = 1000
)");
  EXPECT_EQ(tenant_of(rules, alice()), "video");
  EXPECT_EQ(find_membership(rules, alice(), {})->rule, 1u);
  EXPECT_TRUE(find_membership(rules, alice(), {})->assigned);
  EXPECT_EQ(tenant_of(rules, {kAlice, {1000}, "alice", std::string("/")}), "alices");
  EXPECT_EQ(tenant_of(rules, {kBob, {44}, "bob", std::string("/")}), "bobs");
  EXPECT_EQ(tenant_of(rules, {7, {7}, "carol", std::string("/")}), "carol");
}

/// A process that runs as a subordinate id of alice's.
Person alices_container() {
  return {100'005, {100'005}, "alice", std::string("/"), kAlice};
}

TEST(Matching, ARuleForAUserHoldsForThatUsersSubordinateIds) {
  const TenantRules rules = rules_of(R"(
[[match]]
tenant = "bobs"
uid = 1001
[[match]]
tenant = "alices"
uid = 1000
[[match]]
tenant = "rest"
)");
  EXPECT_EQ(tenant_of(rules, alices_container()), "alices");
  EXPECT_EQ(tenant_of(rules, {100'005, {}, "uid-100005", std::string("/")}), "rest") << "nobody's";
}

TEST(Matching, ARuleForTheSubordinateIdItselfGoesBeforeOneForItsOwner) {
  const TenantRules rules = rules_of(R"(
[[match]]
tenant = "alices"
uid = 1000
[[match]]
tenant = "rest"
[[match]]
tenant = "boxed"
uid = 100005
)");
  EXPECT_EQ(tenant_of(rules, alices_container()), "boxed");
  EXPECT_EQ(tenant_of(rules, alice()), "alices");
}

TEST(Matching, ARuleThatFitsASubordinateIdWithoutItsOwnerDecidesInItsTurn) {
  const TenantRules rules = rules_of(R"(
[[match]]
tenant = "rest"
[[match]]
tenant = "boxed"
uid = 100005
[[match]]
tenant = "alices"
uid = 1000
)");
  EXPECT_EQ(tenant_of(rules, alices_container()), "rest");
}

TEST(Matching, AllConditionsOfARuleMustHold) {
  const TenantRules rules = rules_of(R"(
[[match]]
tenant = "both"
uid = 1000
cgroup = "/user.slice/*/session-*.scope"
)");
  EXPECT_EQ(tenant_of(rules, alice()), "both");
  EXPECT_EQ(tenant_of(rules, alice("/system.slice/x.service")), "alice");
  EXPECT_EQ(tenant_of(rules, {kBob, {}, "bob", alice().cgroup}), "bob");
}

TEST(Matching, ARuleForAControlGroupFitsTheGroupsBelowItAndNoOtherNames) {
  const TenantRules rules = rules_of("[[match]]\ntenant = \"b\"\ncgroup = \"/batch.slice\"\n");
  EXPECT_EQ(tenant_of(rules, alice("/batch.slice")), "b");
  EXPECT_EQ(tenant_of(rules, alice("/batch.slice/job-1.scope/x")), "b");
  EXPECT_EQ(tenant_of(rules, alice("/batch.slice2")), "alice");
  EXPECT_EQ(tenant_of(rules, alice("/x/batch.slice")), "alice") << "patterns are of whole paths";
}

TEST(Matching, AProgramThatFitsARuleCannotAskForAnotherTenant) {
  const TenantRules rules = rules_of("[[match]]\ntenant = \"b\"\nuid = 1000\n");
  EXPECT_EQ(tenant_of(rules, alice(), "b"), "b");
  EXPECT_EQ(tenant_of(rules, alice(), "c"),
            "refused: your programs belong to tenant 'b' by [[match]] 1 of the configuration, and not to "
            "'c': leave "
            "FAIRGV_TENANT unset");
  const TenantRules free = rules_of("[[match]]\ntenant = \"b\"\nuid = 1000\nnames = \"free\"\n");
  EXPECT_EQ(tenant_of(free, alice(), "c"), "c");
  EXPECT_EQ(tenant_of(free, alice()), "b");
}

TEST(Matching, ARulesTenantIsForNobodyElse) {
  const TenantRules rules =
      rules_of("[[match]]\ntenant = \"gold\"\nuid = 1001\n[[match]]\ntenant = \"j-%u\"\ngid = 9\n");
  EXPECT_NE(tenant_of(rules, alice(), "gold").find("is for programs that fit [[match]] 1"),
            std::string::npos);
  EXPECT_NE(tenant_of(rules, alice(), "j-x").find("is for programs that fit [[match]] 2"), std::string::npos);
  EXPECT_EQ(tenant_of(rules, alice(), "golden"), "golden");
  const TenantRules everybody = rules_of("[[match]]\ntenant = \"%u\"\ngid = 9\n");
  EXPECT_EQ(tenant_of(everybody, alice()), "alice") << "a name of placeholders alone takes none away";
}

TEST(Matching, ARuleThatCannotBeDecidedRefuses) {
  const TenantRules rules =
      rules_of("[[match]]\ntenant = \"b\"\nuid = 1001\ncgroup = \"/batch\"\n[[match]]\ntenant = \"all\"\n");
  Person person = alice();
  person.cgroup = Error{"process 7 has ended"};
  EXPECT_EQ(tenant_of(rules, person), "all") << "another condition does not hold anyway";
  person.uid = kBob;
  EXPECT_EQ(tenant_of(rules, person),
            "refused: cannot tell whether [[match]] 1 of the configuration holds: process 7 has ended");
}

TEST(Matching, NamesOfTenantsAreMadeOfUserAndContainer) {
  const TenantRules rules = rules_of("[[match]]\ntenant = \"%c.%u\"\n[[match]]\ntenant = \"plain-%u\"\n");
  EXPECT_EQ(tenant_of(rules, alice("/machine.slice/libpod-" + kId + ".scope/container")),
            "podman-aaaaaaaaaaaa.alice");
  EXPECT_EQ(tenant_of(rules, alice()), "plain-alice") << "%c is a condition, too";
  Person person = alice();
  person.user_tenant = std::string(64, 'u');
  EXPECT_NE(tenant_of(rules, person).find("1 to 64 of"), std::string::npos);
}

TEST(Matching, ContainersAreConditions) {
  const TenantRules rules = rules_of(
      "[[match]]\ntenant = \"podman\"\ncontainer = \"podman:*\"\n[[match]]\ntenant = \"any\"\ncontainer = "
      "\"*\"\n");
  EXPECT_EQ(tenant_of(rules, alice("/machine.slice/libpod-" + kId + ".scope")), "podman");
  EXPECT_EQ(tenant_of(rules, alice("/system.slice/docker-" + kId + ".scope")), "any");
  EXPECT_EQ(tenant_of(rules, alice()), "alice");
}

struct Label {
  const char* path;
  const char* label;  // @ stands for the id
};

std::string with_id(std::string text) {
  if (const auto at = text.find('@'); at != std::string::npos) text.replace(at, 1, kId);
  return text;
}

TEST(Matching, LabelsOfContainersAreThoseOfTheirEngines) {
  const Label labels[] = {
      {"/machine.slice/libpod-@.scope", "podman:@"},
      {"/machine.slice/libpod-@.scope/container/x", "podman:@"},
      {"/libpod_parent/libpod-@", "podman:@"},
      {"/system.slice/docker-@.scope", "docker:@"},
      {"/docker/@", "docker:@"},
      {"/kubepods.slice/kubepods-pod1.slice/cri-containerd-@.scope", "containerd:@"},
      {"/kubepods/besteffort/pod12-34/@", "kubernetes:@"},
      {"/kubepods.slice/crio-@.scope", "crio:@"},
      {"/machine.slice/machine-web.scope", "machine:web"},
      {"/lxc.payload.web/init.scope", "lxc:web"},
      {"/user.slice/user-1000.slice/session-3.scope", ""},
      {"/machine.slice/libpod-conmon-@.scope", ""},
      {"/system.slice/docker-short.scope", ""},
      {"/system.slice/docker.service", ""},
      {"/", ""},
      {"", ""},
  };
  for (const Label& each : labels) {
    EXPECT_EQ(container_label(with_id(each.path)).value_or(""), with_id(each.label)) << each.path;
  }
  const std::string own = "/user.slice/user-1000.slice/user" + std::string("@1000.service/");
  EXPECT_EQ(container_label(own + "user.slice/libpod-" + kId + ".scope/container"), "rootless-podman:" + kId);
  EXPECT_EQ(container_label("/docker/" + kId + "/user.slice/libpod-" + std::string(64, 'b') + ".scope"),
            "docker:" + kId)
      << "the outermost one counts";
}

TEST(Matching, TheUnifiedControlGroupIsRead) {
  EXPECT_EQ(parse_control_group("9:name=systemd:/x\n0::/a b/c\n").value(), "/a b/c");
  EXPECT_EQ(parse_control_group("0::/").value(), "/");
  EXPECT_EQ(parse_control_group("0::/x (deleted)\n").value(), "/x");
  EXPECT_FALSE(parse_control_group("4:memory:/x\n"));
  EXPECT_FALSE(parse_control_group(""));
}

}  // namespace
}  // namespace fairgv::daemon
