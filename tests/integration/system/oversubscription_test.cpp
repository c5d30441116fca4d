// A device whose memory is lent beyond its size, with a real daemon, its workers and a real driver: programs
// together have more memory than there is, and each finds its contents as it left them.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

constexpr const char* kLent = "memory = \"64MiB\"\noversubscribe = 2.5\n";

struct Oversubscription : System {
  void SetUp() override { start_daemon(kLent); }

  /// With so many buffers that it writes and reads, of MiB each; `seconds`: 0 to hold them only, -1 to use
  /// them until SIGTERM.
  harness::Child start(const std::string& tenant_name, int written, int read, int mib, int seconds,
                       const std::vector<std::string>& before = {}) {
    std::vector<std::string> program = before;
    for (const std::string& part :
         {harness::beside("fairgv-probe-memory"), std::to_string(written), std::to_string(read),
          std::to_string(mib), std::string("1"), std::to_string(seconds)})
      program.push_back(part);
    auto child = harness::Child::start(tenancy->tenant(tenant_name, 1, program));
    EXPECT_TRUE(child);
    return std::move(child).value();
  }
  static bool is_ready(harness::Child& child) {
    return eventually([&child] {
      const auto lines = child.read_lines();
      return child.ended() || std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
               return line.find("ready") != std::string::npos;
             });
    });
  }
  /// Has it end: all that it has is right.
  void expect_right(harness::Child child) {
    ::kill(child.pid(), SIGTERM);
    const auto finished = harness::finish(std::move(child));
    EXPECT_EQ(finished.status, 0) << joined(finished) << joined(fairgv({"ps"}));
    ASSERT_FALSE(finished.lines.empty());
    EXPECT_TRUE(harness::parse_line(finished.lines.back()).value("verified", false)) << joined(finished);
  }
  nlohmann::json lent_to(const std::string& name) {
    const auto found = tenant(name);
    return found.is_null() || found["sessions"].empty() ? found : found["sessions"][0]["lent"][0];
  }
  std::uint64_t there(const std::string& name) { return lent_to(name)["there"].get<std::uint64_t>(); }
};

TEST_F(Oversubscription, ProgramsHaveMoreMemoryTogetherThanThereIs) {
  std::vector<harness::Child> programs;
  for (const char* const name : {"alice", "bob", "carol"}) programs.push_back(start(name, 8, 5, 4, -1));
  for (harness::Child& program : programs) EXPECT_TRUE(is_ready(program));
  const auto report = ps();
  EXPECT_EQ(report["devices"][0]["memory"], 160 * kMiB);
  EXPECT_EQ(report["devices"][0]["memory_there"], 64 * kMiB);
  EXPECT_EQ(report["devices"][0]["memory_used"], 3 * 52 * kMiB);
  EXPECT_TRUE(eventually([&] { return lent_to("alice")["taken_out"] > 100 * kMiB; }));
  EXPECT_LE(there("alice") + there("bob") + there("carol"), 64 * kMiB);
  for (harness::Child& program : programs) expect_right(std::move(program));
}

TEST_F(Oversubscription, ContentsThatWereOnlyReadAreCopiedOutOnce) {
  auto one = start("alice", 6, 7, 4, -1);
  auto two = start("bob", 6, 7, 4, -1);
  EXPECT_TRUE(is_ready(one) && is_ready(two));
  EXPECT_TRUE(eventually([&] { return lent_to("alice")["brought_in"] > 400 * kMiB; }));
  const auto lent = lent_to("alice");
  EXPECT_LT(lent["taken_out"].get<std::uint64_t>(), lent["brought_in"].get<std::uint64_t>() / 4 * 3) << lent;
  expect_right(std::move(one));
  expect_right(std::move(two));
}

TEST_F(Oversubscription, AProgramThatNeverTouchesItsMemoryCostsNobodyAnything) {
  auto idle = start("alice", 8, 5, 4, 0);
  EXPECT_TRUE(is_ready(idle));
  auto busy = start("bob", 8, 5, 4, -1);
  EXPECT_TRUE(is_ready(busy));
  EXPECT_TRUE(eventually([&] { return there("bob") == 52 * kMiB; }));
  const std::uint64_t before = lent_to("bob")["brought_in"].get<std::uint64_t>();
  const auto time_of = [this] { return tenant("bob")["use"][0]["device_time_ns"].get<std::uint64_t>(); };
  const std::uint64_t so_far = time_of();
  EXPECT_TRUE(eventually([&] { return time_of() > so_far + 500'000'000; }));
  EXPECT_EQ(lent_to("bob")["brought_in"], before) << "its memory stays where it is";
  EXPECT_LE(there("alice"), 12 * kMiB);
  expect_right(std::move(busy));
  expect_right(std::move(idle));
}

TEST_F(Oversubscription, ACommandThatUsesMoreThanThereIsFails) {
  start_daemon(std::string(kLent) + "[tenants]\ndefault_memory = \"150MiB\"\n");
  auto program = start("alice", 1, 1, 40, 0);
  EXPECT_TRUE(is_ready(program));
  ::kill(program.pid(), SIGTERM);
  const auto finished = harness::finish(std::move(program));
  EXPECT_EQ(finished.status, 0) << "each of its launches uses one buffer\n" << joined(finished);
  auto too_large = start("bob", 1, 1, 40, 1);
  const auto refused = harness::finish(std::move(too_large));
  EXPECT_EQ(refused.status, 1) << joined(refused);
  EXPECT_FALSE(harness::parse_line(refused.lines.back()).value("verified", true)) << "no launch has run";
}

TEST_F(Oversubscription, ATenantHasNoMoreThanItsLimitAndAllHaveNoMoreThanIsLent) {
  auto within = start("alice", 8, 5, 4, 0);
  EXPECT_TRUE(is_ready(within));
  auto beyond = start("alice", 2, 2, 4, 0);
  EXPECT_EQ(harness::finish(std::move(beyond)).status, 1) << "64 MiB, as the device has";
  expect_right(std::move(within));
}

TEST_F(Oversubscription, ASessionMovesWithMemoryThatIsOut) {
  tenancy.reset();
  auto started = harness::Tenancy::start({}, {{"POCL_DEVICES", "pthread pthread"}},
                                         std::string(kLent) + "[device.1]\nsame_as = 1\n");
  ASSERT_TRUE(started) << started.error().message;
  tenancy.emplace(std::move(started).value());
  auto one = start("alice", 8, 5, 4, -1);
  auto two = start("bob", 8, 5, 4, -1);
  EXPECT_TRUE(is_ready(one) && is_ready(two));
  for (const char* const device : {"1", "0", "1"}) {
    const auto moved = fairgv({"migrate", "alice", "--device", device});
    EXPECT_EQ(moved.status, 0) << joined(moved);
  }
  EXPECT_EQ(fairgv({"park", "bob"}).status, 0);
  EXPECT_EQ(fairgv({"resume", "bob"}).status, 0);
  expect_right(std::move(one));
  expect_right(std::move(two));
}

TEST_F(Oversubscription, ADaemonThatIsReplacedGoesOn) {
  auto one = start("alice", 8, 5, 4, -1);
  auto two = start("bob", 8, 5, 4, -1);
  EXPECT_TRUE(is_ready(one) && is_ready(two));
  const auto restarted = fairgv({"restart"});
  EXPECT_EQ(restarted.status, 0) << joined(restarted);
  const std::uint64_t before = lent_to("alice")["brought_in"].get<std::uint64_t>();
  EXPECT_TRUE(eventually([&] { return lent_to("alice")["brought_in"] > before + 50 * kMiB; }));
  expect_right(std::move(one));
  expect_right(std::move(two));
}

TEST_F(Oversubscription, OnDemandContentsAreRightToo) {
  start_daemon(std::string(kLent) + "oversubscribe_mode = \"demand\"\n");
  auto one = start("alice", 8, 5, 4, -1);
  auto two = start("bob", 8, 5, 4, -1);
  EXPECT_TRUE(is_ready(one) && is_ready(two));
  EXPECT_TRUE(eventually([&] { return lent_to("alice")["taken_out"] > 100 * kMiB; }));
  expect_right(std::move(one));
  expect_right(std::move(two));
}

}  // namespace
}  // namespace fairgv::integration
