// TimeGraph in the registry of tenants: the specification's entries, and admission control of their reserves.
#include <gtest/gtest.h>

#include "runtime/daemon/tenants/tenant_reserves.hpp"
#include "sched/policies/timegraph/spec.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using sched::Reservation;
using sched::Share;

const TenantRegistry::Applicant kApplicant{.uid = 1000};
const TenantRegistry::Applicant kPrivileged{.uid = 0, .administrator = true};
constexpr Reservation kQuarter{10ms, 40ms};

TenantRules with_spec(const std::string& lines, Share limit = sched::kWholeDevice) {
  TenantRules rules;
  for (const sched::SpecEntry& entry : sched::parse_spec(lines, "spec").entries) {
    rules.timegraph.tasks.emplace(entry.name, entry.task);
  }
  rules.timegraph.limit = limit;
  return rules;
}

TenantRegistry registry_with(const TenantRules& rules) {
  TenantRegistry registry(rules);
  TenantReserves(registry).admit(true);
  return registry;
}

std::string reason_of(const Result<Tenant>& tenant) {
  return tenant ? "" : tenant.error().message;
}

const sched::TenantAttributes& attributes(const TenantRegistry& registry, const std::string& name) {
  return registry.find(name)->attributes;
}

TEST(TenantReserves, AnEntryAppliesToTheTenantOfItsName) {
  TenantRegistry registry = registry_with(with_spec("game:HT:none:*:-:-\nmplayer:PRT:AE:70:10000:40000\n"));
  for (const char* name : {"game", "mplayer", "other"}) ASSERT_TRUE(registry.join(name, kApplicant, {}));
  const sched::TimeGraphTask game = attributes(registry, "game").timegraph;
  EXPECT_EQ(game.scheduling, sched::TimeGraphTask::Scheduling::high_throughput);
  EXPECT_TRUE(game.automatic);
  EXPECT_TRUE(attributes(registry, "game").timegraph_reserve().empty());
  const sched::TimeGraphTask player = attributes(registry, "mplayer").timegraph;
  EXPECT_EQ(player.enforcement, sched::Enforcement::apriori);
  EXPECT_EQ(player.priority, 70);
  EXPECT_EQ(attributes(registry, "mplayer").timegraph_reserve(), kQuarter);
  EXPECT_TRUE(attributes(registry, "mplayer").min.empty()) << "it is no guarantee under other policies";
  EXPECT_EQ(attributes(registry, "other").timegraph.priority, 0);
  EXPECT_TRUE(attributes(registry, "other").timegraph_reserve().empty());
}

TEST(TenantReserves, WithoutAnEntryAGuaranteeIsTheReserve) {
  TenantRegistry registry = registry_with(with_spec("b:PRT:none:70:-:-\n"));
  for (const char* name : {"a", "b"}) ASSERT_TRUE(registry.join(name, kPrivileged, {.min = kQuarter}));
  EXPECT_EQ(attributes(registry, "a").timegraph_reserve(), kQuarter);
  EXPECT_TRUE(attributes(registry, "b").timegraph_reserve().empty()) << "the entry says so";
}

TEST(TenantReserves, AReserveBeyondTheLimitIsRefusedWithWhatWouldFit) {
  TenantRegistry registry = registry_with(
      with_spec("a:PRT:PE:1:20000:40000\nb:PRT:PE:1:10000:20000\nc:PRT:PE:1:3000:10000\n", Share{800'000}));
  ASSERT_TRUE(registry.join("a", kApplicant, {}));
  EXPECT_EQ(reason_of(registry.join("b", kApplicant, {})),
            "tenant 'b' cannot have a reserve of 10ms/20ms (50%): 30% is left of the 80% that reserves may "
            "have (limit in [timegraph])");
  EXPECT_EQ(registry.find("b"), nullptr);
  ASSERT_TRUE(registry.join("c", kApplicant, {}));
  EXPECT_EQ(
      reason_of(registry.join("b", kApplicant, {})),
      "tenant 'b' cannot have a reserve of 10ms/20ms (50%): nothing is left of the 80% that reserves may "
      "have (limit in [timegraph])");
  EXPECT_TRUE(registry.join("a", kApplicant, {})) << "its own reserve does not count twice";
  EXPECT_FALSE(registry.would_admit("b", kApplicant, {}).attributes.timegraph_reserve().empty());
  EXPECT_TRUE(registry.would_admit("b", kApplicant, {}).refusal);
}

TEST(TenantReserves, ThreeThirdsFit) {
  TenantRegistry registry =
      registry_with(with_spec("a:PRT:PE:1:10:30\nb:PRT:PE:1:10:30\nc:PRT:PE:1:10:30\n"));
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(registry.join(name, kApplicant, {})) << name;
}

TEST(TenantReserves, TheReserveOfATenantThatHasEndedIsFreeAgain) {
  TenantRegistry registry = registry_with(with_spec("a:PRT:PE:1:60:100\nb:PRT:PE:1:60:100\n"));
  const auto a = registry.join("a", kApplicant, {});
  EXPECT_FALSE(registry.join("b", kApplicant, {}));
  registry.retire(a->id);
  EXPECT_TRUE(registry.join("b", kApplicant, {}));
  EXPECT_FALSE(registry.join("a", kApplicant, {}));
}

TEST(TenantReserves, ASharedReserveCountsOnce) {
  TenantRegistry registry = registry_with(
      with_spec("a:PRT:PE@s:1:60:100\nb:PRT:PE@s:1:-:-\nc:PRT:PE:1:40:100\nd:PRT:PE:1:1:100\n"));
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(registry.join(name, kApplicant, {})) << name;
  EXPECT_FALSE(registry.join("d", kApplicant, {}));
}

TEST(TenantReserves, IfSoConfiguredOneThatDoesNotFitBecomesBackgroundWithTheLowestPriority) {
  TenantRules rules = with_spec("a:PRT:PE:1:60:100\nb:PRT:PE:*:60:100\n");
  rules.refuse_overbooked = false;
  TenantRegistry registry = registry_with(rules);
  const auto a = registry.join("a", kApplicant, {});
  ASSERT_TRUE(registry.join("b", kApplicant, {}));
  EXPECT_TRUE(registry.find("b")->in_background);
  EXPECT_TRUE(attributes(registry, "b").timegraph_reserve().empty());
  EXPECT_FALSE(attributes(registry, "b").timegraph.automatic);
  EXPECT_EQ(attributes(registry, "b").timegraph.priority, 0);
  EXPECT_TRUE(registry.set("b", {.weight = 3}, kApplicant.uid, false))
      << "another change is no reason to refuse";
  EXPECT_TRUE(registry.find("b")->in_background);

  registry.retire(a->id);
  ASSERT_TRUE(registry.join("b", kApplicant, {}));
  EXPECT_FALSE(registry.find("b")->in_background) << "its next session tries again";
  EXPECT_TRUE(attributes(registry, "b").timegraph.automatic);
}

TEST(TenantReserves, WhereNoDeviceHasThePolicyNoReserveIsRefused) {
  TenantRegistry registry(with_spec("a:PRT:PE:1:60:100\nb:PRT:PE:1:60:100\nc:PRT:PE:1:30:100\n"));
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(registry.join(name, kApplicant, {})) << name;
  const auto lost = TenantReserves(registry).admit(true);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0],
            "tenant 'b' cannot have a reserve of 60us/100us (60%): 40% is left of the 100% that reserves may "
            "have (limit in [timegraph]): it has the Background reserve now");
  EXPECT_FALSE(registry.find("a")->in_background) << "it came first";
  EXPECT_FALSE(registry.find("c")->in_background) << "it fits beside";
  EXPECT_TRUE(TenantReserves(registry).admit(false).empty());
  EXPECT_FALSE(registry.find("b")->in_background);
}

TEST(TenantReserves, ATenantWithAReserveKeepsItWhenAllAreTriedAgainAndThroughARestart) {
  TenantRules rules = with_spec("a:PRT:PE:1:60:100\nb:PRT:PE:1:60:100\n");
  rules.refuse_overbooked = false;
  TenantRegistry registry = registry_with(rules);
  const auto a = registry.join("a", kApplicant, {});
  const auto b = registry.join("b", kApplicant, {});
  registry.retire(a->id);
  ASSERT_TRUE(registry.join("b", kApplicant, {}));
  ASSERT_TRUE(registry.join("a", kApplicant, {}));
  ASSERT_TRUE(registry.find("a")->in_background) << "b has taken its place, though a came first once";
  EXPECT_TRUE(TenantReserves(registry).admit(true).empty());
  EXPECT_TRUE(registry.find("a")->in_background);
  EXPECT_FALSE(registry.find("b")->in_background);

  // The next daemon is told, and decides the same in whatever order the sessions come.
  TenantRegistry next = registry_with(rules);
  for (const char* name : {"a", "b"}) next.restore(*registry.find(name));
  TenantRegistry::Applicant goes_on = kApplicant;
  goes_on.runs_already = true;
  for (const char* name : {"a", "b", "b"}) ASSERT_TRUE(next.join(name, goes_on, {}));
  EXPECT_TRUE(TenantReserves(next).admit(true).empty());
  EXPECT_TRUE(next.find("a")->in_background);
  EXPECT_FALSE(next.find("b")->in_background);
}

TEST(TenantReserves, ANewSpecificationHoldsForTenantsThatRun) {
  TenantRegistry registry = registry_with(with_spec("a:PRT:PE:1:60:100\nb:PRT:PE:1:30:100\n"));
  for (const char* name : {"a", "b"}) ASSERT_TRUE(registry.join(name, kApplicant, {}));
  registry.configure(with_spec("a:PRT:PE:1:20:100\nb:HT:none:9:-:-\n"));
  EXPECT_TRUE(TenantReserves(registry).admit(true).empty());
  EXPECT_EQ(attributes(registry, "a").timegraph_reserve(), (Reservation{20us, 100us}));
  EXPECT_TRUE(attributes(registry, "b").timegraph_reserve().empty());
  EXPECT_EQ(attributes(registry, "b").timegraph.priority, 9);
  registry.configure(with_spec("a:PRT:PE:1:20:100\nb:PRT:PE:1:30:100\n", Share{400'000}));
  EXPECT_EQ(TenantReserves(registry).admit(true).size(), 1U);
  EXPECT_TRUE(registry.find("b")->in_background) << "b came last";
}

TEST(TenantReserves, TenantsAreInFrontUntilOthersAre) {
  TenantRegistry registry = registry_with(with_spec("a:PRT:none:*:-:-\n"));
  ASSERT_TRUE(registry.join("a", kApplicant, {}));
  ASSERT_TRUE(registry.join("b", kApplicant, {}));
  const auto changed = TenantReserves(registry).bring_to_front({"a", "late"});
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_TRUE(changed[0].attributes.timegraph.foreground);
  EXPECT_TRUE(attributes(registry, "a").timegraph.foreground);
  EXPECT_FALSE(attributes(registry, "b").timegraph.foreground);
  ASSERT_TRUE(registry.join("late", kApplicant, {}));
  EXPECT_TRUE(attributes(registry, "late").timegraph.foreground);
  EXPECT_EQ(TenantReserves(registry).bring_to_front({"b"}).size(), 3U);
  EXPECT_FALSE(attributes(registry, "a").timegraph.foreground);
  EXPECT_TRUE(attributes(registry, "b").timegraph.foreground);
  EXPECT_TRUE(TenantReserves(registry).bring_to_front({"b"}).empty()) << "nothing has changed";
}

}  // namespace
}  // namespace fairgv::daemon
