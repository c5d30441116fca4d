// Sessions and tenants that are ended, paused and resumed while real programs run.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

/// The columns of a UTF-8 text: the bytes that begin a character.
std::size_t columns_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

struct Paused : System {
  std::uint64_t device_time(const std::string& name) { return tenant(name)["device_time_ns"][0]; }
  /// Whether no command of the tenant is under way any more.
  bool rests(const std::string& name) {
    return eventually([&] {
      const auto found = tenant(name);
      return std::all_of(found["sessions"].begin(), found["sessions"].end(), [](const auto& session) {
        return session["state"] == "wanting" || session["state"] == "idle";
      });
    });
  }
  harness::Child start_short_program(const std::string& name) {
    auto child =
        harness::Child::start(tenancy->tenant(name, 1, {workload("matrixMul"), "--repetitions", "20"}));
    EXPECT_TRUE(child);
    return std::move(child).value();
  }
  /// Programs of other tenants need the device, and get it, more than once.
  void others_run() {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(start_short_program("other").wait(), 0);
  }
  std::string log() {
    std::ifstream file(std::filesystem::path(tenancy->socket()).replace_extension("log"));
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(Paused, ATenantGetsNoDeviceTimeUntilItIsResumed) {
  auto alice = start_long_program("alice");
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(fairgv({"pause", "alice"}).status, 0);
  EXPECT_EQ(fairgv({"pause", "alice"}).status, 0) << "again is no error";
  ASSERT_TRUE(rests("alice"));
  const auto before = device_time("alice");
  const auto waits = tenant("alice")["use"][0]["waits"];
  // A program that starts later is paused, too, and waits.
  auto later = start_short_program("alice");
  ASSERT_TRUE(eventually([&] { return sessions_of("alice") == 2; }));
  others_run();
  EXPECT_EQ(device_time("alice"), before);
  EXPECT_EQ(tenant("alice")["use"][0]["waits"], waits);
  EXPECT_EQ(tenant("alice")["paused"]["by"], ::geteuid());
  EXPECT_EQ(tenant("alice")["ideal_share"], 0.0);
  (void)later.read_lines();
  EXPECT_FALSE(later.ended());

  EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
  EXPECT_TRUE(tenant("alice")["paused"].is_null());
  EXPECT_EQ(later.wait(), 0) << "its results are right";
  EXPECT_TRUE(progresses(alice));
}

TEST_F(Paused, OneSessionDoesNotStopItsSiblings) {
  auto first = start_long_program("alice");
  ASSERT_TRUE(progresses(first));
  const int session = tenant("alice")["sessions"][0]["session"];
  auto second = start_long_program("alice");
  ASSERT_TRUE(progresses(second));
  EXPECT_EQ(fairgv({"pause", std::to_string(session)}).status, 0);
  EXPECT_TRUE(progresses(second));
  EXPECT_TRUE(eventually([&] { return tenant("alice")["sessions"][0]["state"] == "wanting"; }));
  EXPECT_TRUE(progresses(second));
  EXPECT_EQ(tenant("alice")["sessions"][0]["state"], "wanting");
  EXPECT_EQ(fairgv({"resume", std::to_string(session)}).status, 0);
  EXPECT_TRUE(progresses(first));
}

TEST_F(Paused, ItStaysWhenTheDaemonIsReplaced) {
  auto alice = start_long_program("alice");
  auto bob = start_long_program("bob");
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  const int session = tenant("bob")["sessions"][0]["session"];
  EXPECT_EQ(fairgv({"pause", "alice"}).status, 0);
  EXPECT_EQ(fairgv({"pause", std::to_string(session)}).status, 0);
  ASSERT_TRUE(rests("alice") && rests("bob"));
  const auto alices = device_time("alice"), bobs = device_time("bob");
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  others_run();
  EXPECT_EQ(device_time("alice"), alices);
  EXPECT_EQ(device_time("bob"), bobs);
  EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
  EXPECT_EQ(fairgv({"resume", std::to_string(session)}).status, 0);
  EXPECT_TRUE(progresses(alice));
  EXPECT_TRUE(progresses(bob));
}

TEST_F(Paused, ATenantMayBeEnded) {
  auto alice = start_long_program("alice");
  auto bob = start_long_program("bob");
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  EXPECT_EQ(fairgv({"pause", "alice"}).status, 0);
  EXPECT_EQ(fairgv({"kill", "alice"}).status, 0);
  EXPECT_NE(alice.wait(), 0) << "its calls fail as after a crash";
  EXPECT_TRUE(eventually([&] { return sessions_of("alice") == 0; }));
  EXPECT_TRUE(progresses(bob));
  EXPECT_NE(log().find("ends: ended by user " + std::to_string(::geteuid())), std::string::npos);
  EXPECT_NE(fairgv({"kill", "alice"}).status, 0) << "it has no session any more";
  const nlohmann::json kills = ps()["kills"];
  ASSERT_EQ(kills.size(), 1u) << kills;
  EXPECT_EQ(kills[0]["tenant"], "alice");
  EXPECT_EQ(kills[0]["reason"], "ended by user " + std::to_string(::geteuid()));
  const nlohmann::json session = tenant("bob")["sessions"][0];
  EXPECT_EQ(session["uid"], ::geteuid());
  EXPECT_GT(session["age_s"], 0);
  EXPECT_GT(session["device_time_ns"][0], 0);
  EXPECT_GT(session["memory_used"][0], 0);
  for (const std::string& line : fairgv({"ps"}).lines) EXPECT_LE(columns_of(line), 80u) << line;
}

TEST_F(Paused, ANumberIsASessionUnlessItIsSaidToBeATenant) {
  auto program = start_long_program("1000");
  ASSERT_TRUE(progresses(program));
  EXPECT_EQ(fairgv({"pause", "1000"}).status, 1) << "there is no such session";
  EXPECT_EQ(fairgv({"pause", "--tenant", "1000"}).status, 0);
  EXPECT_FALSE(tenant("1000")["paused"].is_null());
  const int session = tenant("1000")["sessions"][0]["session"];
  EXPECT_EQ(fairgv({"kill", std::to_string(session)}).status, 0);
  EXPECT_NE(program.wait(), 0);
}

}  // namespace
}  // namespace fairgv::integration
