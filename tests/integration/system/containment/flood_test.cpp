// Users who take as much of the daemon's socket as they can, with the programs as they are installed: root's
// `fairgv ps` and `fairgv stop` work at once.
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "runtime/control/protocol.hpp"
#include "tests/harness/crowd.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

constexpr uid_t kFirst = 700'000;
constexpr uid_t kUsers = 20;
constexpr std::size_t kEach = 64;
constexpr rlim_t kDescriptors = 2'048;

struct Flood : System {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become other users";
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kDescriptors));
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < kDescriptors) GTEST_SKIP() << "too few descriptors may be open here";
    start_daemon({});
    std::filesystem::permissions(std::filesystem::path(tenancy->socket()).parent_path(),
                                 std::filesystem::perms(0755));
  }
  void flood(const std::string& said) {
    for (uid_t user = kFirst; user < kFirst + kUsers; ++user) {
      for (auto& each : harness::connections_of(tenancy->socket(), user, kEach, said)) {
        crowd.push_back(std::move(each));
      }
    }
    ASSERT_EQ(crowd.size(), kUsers * kEach);
  }

  std::vector<Socket> crowd;
};

TEST_F(Flood, OfSilentConnectionsDoesNotKeepRootOut) {
  flood("");
  EXPECT_EQ(fairgv({"ps"}).status, 0);
  EXPECT_EQ(fairgv({"stop"}).status, 0);
}

TEST_F(Flood, OfControlConnectionsDoesNotKeepRootOut) {
  flood(harness::hello_of_control());
  EXPECT_EQ(fairgv({"ps"}).status, 0);
  EXPECT_EQ(fairgv({"stop"}).status, 0);
}

TEST_F(Flood, OfRequestsDoesNotKeepRootWaiting) {
  flood(harness::hello_of_control());
  for (const auto& each : crowd) {
    while (each.offer(to_text(control::ControlRequest{}))) {
    }
  }
  EXPECT_EQ(fairgv({"ps"}).status, 0);
  EXPECT_EQ(fairgv({"stop"}).status, 0);
}

TEST_F(Flood, OfProgramsLeavesAPlaceForRoots) {
  tenancy.reset();
  auto started = harness::Tenancy::start({}, {}, "[daemon]\nsession_limit = 8\nuser_session_limit = 64\n");
  ASSERT_TRUE(started) << started.error().message;
  tenancy.emplace(std::move(started).value());
  std::filesystem::permissions(std::filesystem::path(tenancy->socket()).parent_path(),
                               std::filesystem::perms(0755));
  session::Hello hello;
  hello.program = "a program";
  crowd = harness::connections_of(tenancy->socket(), kFirst, 12, to_text(hello));
  const auto program =
      harness::run(tenancy->tenant("root", 1, {workload("computeLoop"), "--seconds", "0.1"}));
  ASSERT_TRUE(program);
  EXPECT_EQ(program->status, 0);
  const auto last = crowd.back().receive();
  ASSERT_TRUE(last);
  EXPECT_NE(last->text.find("keeps its last 1 places for administrators"), std::string_view::npos)
      << last->text;
}

}  // namespace
}  // namespace fairgv::integration
