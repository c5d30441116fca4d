// The tenants in front, as control connections tell: whose they may be, and when that ends.
#include <gtest/gtest.h>

#include "runtime/daemon/foreground.hpp"
#include "tests/unit/daemon/house.hpp"

namespace fairgv::daemon {
namespace {

using Names = std::vector<std::string>;

struct ForegroundTest : testing::Test {
  static constexpr uid_t kAlice = 1'000, kBob = 1'001;

  void SetUp() override {
    ASSERT_TRUE(house.tenancies.join("alice", {.uid = kAlice}, {}, {}));
    ASSERT_TRUE(house.tenancies.join("film", {.uid = kAlice}, {}, {}));
    ASSERT_TRUE(house.tenancies.join("bob", {.uid = kBob}, {}, {}));
    go_by("timegraph");
  }
  void go_by(const std::string& policy) {
    house.dispatch->set_policy(policy, {});
    house.tenancies.admit_reserves();
  }
  bool in_front(const std::string& name) {
    return house.tenancies.registry().find(name)->attributes.timegraph.foreground;
  }

  House house;
  Foreground foreground{house.tenancies};
};

TEST_F(ForegroundTest, AUserSaysWhichOfItsTenantsAreInFront) {
  const auto answer = foreground.set(1, {"alice"}, {kAlice, false});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->front, Names{"alice"});
  EXPECT_TRUE(answer->refused.empty());
  EXPECT_TRUE(in_front("alice"));
  EXPECT_FALSE(in_front("film"));
  ASSERT_TRUE(foreground.set(1, {"film"}, {kAlice, false}));
  EXPECT_FALSE(in_front("alice"));
  EXPECT_TRUE(in_front("film"));
  ASSERT_TRUE(foreground.set(1, {}, {kAlice, false}));
  EXPECT_FALSE(in_front("film"));
}

TEST_F(ForegroundTest, TenantsOfOthersAreForAdministratorsOnly) {
  const auto answer = foreground.set(1, {"alice", "bob", "nobody"}, {kAlice, false});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->front, Names{"alice"}) << "and a tenant that does not run is left out";
  EXPECT_EQ(answer->refused,
            Names{"tenant 'bob' belongs to user 1001: only that user or the administrator may favour it"});
  EXPECT_FALSE(in_front("bob"));
  ASSERT_TRUE(foreground.set(2, {"bob"}, {0, true}));
  EXPECT_TRUE(in_front("bob"));
}

TEST_F(ForegroundTest, WhatAConnectionSaidEndsWithIt) {
  ASSERT_TRUE(foreground.set(1, {"alice", "film"}, {kAlice, false}));
  ASSERT_TRUE(foreground.set(2, {"alice"}, {0, true}));
  foreground.leave(1);
  EXPECT_FALSE(in_front("film"));
  EXPECT_TRUE(in_front("alice")) << "the other one says so";
  foreground.leave(2);
  EXPECT_FALSE(in_front("alice"));
}

TEST_F(ForegroundTest, WithoutADeviceWithThePolicyItIsRefused) {
  ASSERT_TRUE(foreground.set(1, {"alice"}, {kAlice, false}));
  go_by("fair");
  const auto answer = foreground.set(1, {"alice"}, {kAlice, false});
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("no device has the policy timegraph"), std::string::npos);
  EXPECT_FALSE(in_front("alice"));
}

}  // namespace
}  // namespace fairgv::daemon
