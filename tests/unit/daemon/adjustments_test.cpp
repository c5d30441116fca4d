// Changes by `fairgv set` of a tenant that runs: all that a request names, or nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "runtime/daemon/adjustments.hpp"
#include "tests/unit/daemon/session_table_fixture.hpp"

namespace fairgv::daemon {
namespace {

struct AdjustmentsTest : SessionTableTest {
  static constexpr uid_t kOwner = 12'345;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root serves other users";
    start({kReady});
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(folder / "worker", std::filesystem::perms(0755));
    ASSERT_TRUE(begin("owner", kOwner, mine));
    run_until([&] {
      return std::all_of(table.all().begin(), table.all().end(),
                         [](const auto& entry) { return entry.second->stage == Session::Stage::running; });
    });
  }
  Result<Adjustments::Warnings> set(std::optional<std::uint32_t> weight,
                                    std::optional<std::uint32_t> memory_percent, const Account& by) {
    control::ControlRequest request;
    request.command = control::ControlRequest::Command::set;
    request.tenant = "owner";
    request.wish.weight = weight;
    if (memory_percent) request.memory = MemorySize{0, memory_percent};
    return adjustments.set(request, by, "somebody");
  }
  Tenant owner() {
    for (const Tenant& each : house.tenancies.registry().all()) {
      if (each.name == "owner") return each;
    }
    return {};
  }

  Adjustments adjustments{
      {*house.dispatch, house.tenancies, house.markets, house.devices.table(), house.log}};
  Socket mine;
};

TEST_F(AdjustmentsTest, OfWeightAndMemoryHoldTogetherOrNotAtAll) {
  ASSERT_TRUE(set({}, 10, {0, true}));
  const auto refused = set(5, 50, {kOwner, false});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("of memory: the administrator allows"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(owner().attributes.weight, 1u) << "the weight would have been allowed by itself";
  EXPECT_EQ(owner().set_memory, (MemorySize{0, 10}));
  ASSERT_TRUE(set(5, 5, {kOwner, false}));
  EXPECT_EQ(owner().attributes.weight, 5u);
  EXPECT_EQ(owner().set_memory, (MemorySize{0, 5}));
}

}  // namespace
}  // namespace fairgv::daemon
