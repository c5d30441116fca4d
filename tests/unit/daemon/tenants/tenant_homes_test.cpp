// Guarantees where tenants do not live on all devices: each is promised on the devices of its tenant only.
#include <gtest/gtest.h>

#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using sched::Reservation;
using sched::Share;

constexpr Reservation kHalfOfIt{25ms, 50ms};
constexpr Reservation kFifthOfIt{10ms, 50ms};
const TenantRegistry::Applicant kSomebody{.uid = 1000};

TenantRules rules_over(const DevicesWanted& devices) {
  TenantRules rules;
  rules.allow_min = Share{1'000'000};
  rules.devices = devices;
  return rules;
}

struct Homes : ::testing::Test {
  /// A registry over two devices, of which the daemon chooses.
  TenantRegistry two_devices() {
    TenantRegistry registry(rules_over({.best = true}));
    registry.set_devices({0, 1});
    return registry;
  }
  /// Begins a session that was placed there.
  Result<Tenant> join(TenantRegistry& registry, const std::string& name, Reservation min,
                      std::uint64_t homes) {
    auto tenant = registry.join(name, kSomebody, {.min = min});
    if (tenant) registry.set_homes(tenant->id, homes);
    return tenant;
  }
  static std::string refusal(const Result<Tenant>& tenant) { return tenant ? "" : tenant.error().message; }
};

TEST_F(Homes, AGuaranteeCountsOnTheDevicesOfItsTenantOnly) {
  TenantRegistry registry = two_devices();
  ASSERT_TRUE(join(registry, "a", kHalfOfIt, 0b01));
  ASSERT_TRUE(join(registry, "b", kHalfOfIt, 0b10)) << "the other device has room";
  EXPECT_EQ(registry.promised().sum.ppm, 550'000u) << "of either";
  EXPECT_EQ(
      refusal(join(registry, "c", kHalfOfIt, 0b01)),
      "tenant 'c' cannot have a guarantee of 50%: 35% at most is left on any device of the 90% that may be "
      "promised (promise_limit)");
  EXPECT_TRUE(join(registry, "c", kFifthOfIt, 0b01));
}

TEST_F(Homes, ATenantThatIsPlacedMayRaiseItsGuaranteeByWhatItsOwnDeviceHasLeft) {
  TenantRegistry registry = two_devices();
  ASSERT_TRUE(join(registry, "a", kHalfOfIt, 0b01));
  ASSERT_TRUE(join(registry, "b", kFifthOfIt, 0b01));
  const auto raised = registry.set("b", {.min = kHalfOfIt}, 0, true);
  ASSERT_FALSE(raised);
  EXPECT_EQ(raised.error().message,
            "tenant 'b' cannot have a guarantee of 50%: 35% is left of the 90% that may be promised "
            "(promise_limit)")
      << "the other device has more, but the session does not move";
  EXPECT_TRUE(registry.set("b", {.min = Reservation{35ms, 100ms}}, 0, true));
}

TEST_F(Homes, ATenantThatHasLeftKeepsNoDevice) {
  TenantRegistry registry = two_devices();
  const auto a = join(registry, "a", kHalfOfIt, 0b01);
  const auto b = join(registry, "b", kHalfOfIt, 0b10);
  ASSERT_TRUE(a && b);
  registry.retire(a->id);
  registry.leave(a->id);
  EXPECT_TRUE(join(registry, "c", kHalfOfIt, 0b01));
}

TEST_F(Homes, ATenantOfAllDevicesNeedsRoomOnEach) {
  TenantRules rules = rules_over({.best = true});
  rules.by_name["everywhere"].devices = DevicesWanted{};
  TenantRegistry registry(rules);
  registry.set_devices({0, 1});
  ASSERT_TRUE(join(registry, "a", kHalfOfIt, 0b10));
  EXPECT_EQ(refusal(registry.join("everywhere", kSomebody, {.min = kHalfOfIt})),
            "tenant 'everywhere' cannot have a guarantee of 50%: 35% is left of the 90% that may be promised "
            "(promise_limit)");
  ASSERT_TRUE(registry.join("everywhere", kSomebody, {.min = kFifthOfIt}));
  EXPECT_EQ(refusal(join(registry, "b", Reservation{70ms, 100ms}, 0b01)),
            "tenant 'b' cannot have a guarantee of 70ms/100ms: 65% at most is left on any device of the 90% "
            "that may be "
            "promised (promise_limit)");
}

TEST_F(Homes, TheConfigurationsGuaranteesAreKeptOnTheirDevicesForTenantsThatAreNotThere) {
  TenantRules rules = rules_over({});
  rules.by_name["first"] = {.min = kHalfOfIt, .devices = DevicesWanted{false, 0b01}};
  rules.by_name["chosen"] = {.min = kHalfOfIt, .devices = DevicesWanted{.best = true}};
  rules.by_name["second"].devices = DevicesWanted{false, 0b10};
  TenantRegistry registry(rules);
  registry.set_devices({0, 1});
  EXPECT_EQ(registry.kept_for_absent().on(0).ppm, 500'000u);
  EXPECT_EQ(registry.kept_for_absent().on(1).ppm, 0u) << "a device is chosen when its program comes";
  EXPECT_FALSE(registry.join("x", kSomebody, {.min = kHalfOfIt})) << "it would be on the first, too";
  EXPECT_TRUE(registry.join("second", kSomebody, {.min = Reservation{80ms, 100ms}}));
}

TEST_F(Homes, TheSameHardwareIsOneDevice) {
  TenantRules rules = rules_over({});
  rules.by_name["a"].devices = DevicesWanted{false, 0b001};
  rules.by_name["b"].devices = DevicesWanted{false, 0b010};
  rules.by_name["c"].devices = DevicesWanted{false, 0b100};
  TenantRegistry registry(rules);
  registry.set_devices({0, 0, 2});
  ASSERT_TRUE(registry.join("a", kSomebody, {.min = kHalfOfIt}));
  EXPECT_FALSE(registry.join("b", kSomebody, {.min = kHalfOfIt}));
  EXPECT_TRUE(registry.join("c", kSomebody, {.min = kHalfOfIt}));
}

TEST_F(Homes, WhereOverbookedTenantsBecomeBackgroundTheyDoSoWhenNoDeviceHasRoom) {
  TenantRules rules = rules_over({.best = true});
  rules.refuse_overbooked = false;
  TenantRegistry registry(rules);
  registry.set_devices({0, 1});
  ASSERT_TRUE(join(registry, "a", kHalfOfIt, 0b01));
  ASSERT_TRUE(join(registry, "b", kHalfOfIt, 0b10));
  const auto c = join(registry, "c", kHalfOfIt, 0);
  ASSERT_TRUE(c) << refusal(c);
  EXPECT_TRUE(c->attributes.min.empty());
  EXPECT_EQ(c->attributes.service, sched::ServiceClass::batch);
}

}  // namespace
}  // namespace fairgv::daemon
