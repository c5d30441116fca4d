// A client's identity, as its environment gives it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/session/identity.hpp"

namespace fairgv::session {
namespace {

using namespace std::chrono_literals;

TEST(Identity, WeightsAreIntegersInRange) {
  EXPECT_EQ(parse_weight("1", "w").value(), 1u);
  EXPECT_EQ(parse_weight("10000", "w").value(), 10'000u);
  for (const char* bad : {"0", "-1", "10001", "abc", "1.5", "", " 1", "1 ", "0x10", "99999999999999999999"}) {
    const auto weight = parse_weight(bad, "FAIRGV_WEIGHT");
    ASSERT_FALSE(weight) << bad;
    EXPECT_EQ(weight.error().message,
              std::string("FAIRGV_WEIGHT is '") + bad + "': a weight is an integer from 1 to 10000");
  }
}

TEST(Identity, ComesFromTheEnvironment) {
  ::setenv("FAIRGV_TENANT", "alice", 1);
  ::setenv("FAIRGV_WEIGHT", "7", 1);
  ::setenv("FAIRGV_MIN", "5ms/40ms", 1);
  ::setenv("FAIRGV_MAX", "12.5%", 1);
  ::setenv("FAIRGV_CLASS", "latency:500us", 1);
  ::setenv("FAIRGV_SLICE", "random:3", 1);
  ::setenv("FAIRGV_SOCKET", "/nowhere/socket", 1);
  const auto identity = identity_from_environment();
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->tenant, "alice");
  EXPECT_EQ(identity->wish.weight, 7u);
  EXPECT_EQ(identity->wish.min, (sched::Reservation{5ms, 40ms}));
  EXPECT_EQ(identity->wish.max, sched::Share{125'000});
  EXPECT_EQ(identity->wish.service, (ServiceWish{sched::ServiceClass::latency, 500us}));
  EXPECT_EQ(identity->slicing, (SlicingWish{SlicingWish::Kind::random, 3}));
  EXPECT_EQ(identity->socket_path, "/nowhere/socket");
  EXPECT_FALSE(identity->program.empty());

  ::setenv("FAIRGV_TENANT", "", 1);
  for (const char* name : {"FAIRGV_WEIGHT", "FAIRGV_MIN", "FAIRGV_MAX", "FAIRGV_CLASS"}) ::unsetenv(name);
  ::setenv("FAIRGV_SLICE", "", 1);
  const auto plain = identity_from_environment();
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->tenant);
  EXPECT_TRUE(plain->wish.empty());
  EXPECT_EQ(plain->slicing, SlicingWish{});

  ::setenv("FAIRGV_TENANT", "two words", 1);
  EXPECT_FALSE(identity_from_environment());
  ::unsetenv("FAIRGV_TENANT");
  ::setenv("FAIRGV_WEIGHT", "heavy", 1);
  EXPECT_FALSE(identity_from_environment());
  ::unsetenv("FAIRGV_WEIGHT");
  ::setenv("FAIRGV_SLICE", "thin", 1);
  EXPECT_FALSE(identity_from_environment());
  ::unsetenv("FAIRGV_SLICE");
  ::unsetenv("FAIRGV_SOCKET");
}

}  // namespace
}  // namespace fairgv::session
