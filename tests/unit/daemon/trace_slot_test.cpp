// A trace lasts no longer than others should wait for it, and its reader learns why it ends.
#include <gtest/gtest.h>

#include "runtime/daemon/tenants/remembered_tenants.hpp"
#include "runtime/daemon/trace/slot.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/daemon/house.hpp"
#include "tests/unit/daemon/tenants/users.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

struct TraceSlotTest : ::testing::Test {
  enum Connection : std::uint64_t { alices = 1, bobs, roots, other_roots };

  /// Returns "traces", or the reason for the refusal.
  std::string ask(Connection connection, const Account& account) {
    const auto trace = slot.ask(connection, account, now, [&] {
      return std::make_unique<Trace>(
          Trace::Subject{house.dispatch->looks(), house.tenancies.memory().ledger(), house.devices.table(),
                         house.table.sessions()},
          Trace::Choice{{}, {}, account.owner});
    });
    return trace ? "traces" : trace.error().message;
  }
  std::string ask_alice() { return ask(alices, {kAlice, false}); }
  std::string ask_bob() { return ask(bobs, {kBob, false}); }
  std::string ask_root() { return ask(roots, kOfRoot); }

  House house;
  TraceSlot slot;
  TraceSlot::Time now{1h};
};

TEST_F(TraceSlotTest, IsOneReadersUntilItsConnectionIsGone) {
  EXPECT_EQ(ask_alice(), "traces");
  EXPECT_NE(ask_bob().find("somebody else traces"), std::string::npos);
  EXPECT_EQ(ask_alice(), "traces");
  slot.leave(bobs);
  EXPECT_NE(slot.current(), nullptr);
  slot.leave(alices);
  EXPECT_EQ(slot.current(), nullptr);
  EXPECT_EQ(ask_bob(), "traces");
}

TEST_F(TraceSlotTest, IsTakenFromAReaderThatDoesNotRead) {
  EXPECT_FALSE(slot.deadline());
  EXPECT_EQ(ask_alice(), "traces");
  ASSERT_EQ(slot.deadline(), now + TraceSlot::kPatience);
  now += TraceSlot::kPatience;
  slot.expire(now - 1ms);
  EXPECT_NE(slot.current(), nullptr);
  slot.expire(now);
  EXPECT_EQ(slot.current(), nullptr);
  EXPECT_FALSE(slot.deadline());
  EXPECT_EQ(ask_bob(), "traces");
  EXPECT_NE(ask_alice().find("nothing was asked for in 10 s"), std::string::npos);
}

TEST_F(TraceSlotTest, IsAUsersForOneTurnWhileOthersWait) {
  EXPECT_EQ(ask_alice(), "traces");
  for (; now < TraceSlot::Time(1h) + TraceSlot::kTurn; now += 5s) {
    EXPECT_NE(ask_bob(), "traces");
    EXPECT_EQ(ask_alice(), "traces");
  }
  EXPECT_EQ(ask_alice(), "traces") << "for longer, if nobody asks";
  EXPECT_EQ(ask_bob(), "traces");
  EXPECT_NE(ask_alice().find("it has lasted for 60 s and somebody else traces now"), std::string::npos);
  EXPECT_NE(ask_alice().find("somebody else traces"), std::string::npos) << "it is told once";
}

TEST_F(TraceSlotTest, IsAnAdministratorsAtOnceAndForAsLongAsHeReads) {
  EXPECT_EQ(ask_alice(), "traces");
  EXPECT_EQ(ask_root(), "traces");
  EXPECT_NE(ask_alice().find("an administrator traces now"), std::string::npos);
  for (int i = 0; i < 100; ++i, now += 5s) {
    EXPECT_NE(ask_alice(), "traces");
    EXPECT_NE(ask(other_roots, kOfRoot), "traces");
    EXPECT_EQ(ask_root(), "traces");
  }
}

/// A user's tenants without programs; the first one still has one.
std::vector<Tenant> tenants_of(uid_t uid, std::uint32_t count, std::uint32_t first_id) {
  std::vector<Tenant> tenants;
  for (std::uint32_t i = 0; i < count; ++i) {
    Tenant& tenant = tenants.emplace_back();
    tenant.id = TenantId{first_id + i};
    tenant.uid = uid;
    tenant.sessions = i == 0 ? 1 : 0;
  }
  return tenants;
}

TEST(RememberedTenants, OfAUserWithTooManyAreForgottenAndNobodyElses) {
  auto tenants = tenants_of(kAlice, kRememberedOfEach + 1, 1);
  const auto bobs = tenants_of(kBob, 5, 10'000);
  tenants.insert(tenants.end(), bobs.begin(), bobs.end());
  EXPECT_TRUE(tenants_to_forget(tenants).empty());
  const auto more = tenants_of(kAlice, 2, 20'000);
  tenants.insert(tenants.end(), more.begin(), more.end());
  const auto forgotten = tenants_to_forget(tenants);
  EXPECT_EQ(forgotten.size(), kRememberedOfEach + 1);
  for (const TenantId id : forgotten) EXPECT_TRUE(id.value < 10'000 || id.value >= 20'000);
  EXPECT_TRUE(tenants_to_forget(tenants_of(0, 500, 1)).empty()) << "root's";
}

TEST(RememberedTenants, AreForgottenWhereAllTogetherAreTooMany) {
  std::vector<Tenant> tenants;
  for (uid_t uid = 1; uid <= 20; ++uid) {
    const auto more = tenants_of(uid, kRememberedOfEach, 1'000 * uid);
    tenants.insert(tenants.end(), more.begin(), more.end());
  }
  EXPECT_EQ(tenants_to_forget(tenants).size(), 20 * (kRememberedOfEach - 1));
}

}  // namespace
}  // namespace fairgv::daemon
