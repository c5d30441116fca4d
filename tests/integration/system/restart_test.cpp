// The daemon is replaced while programs run: they notice nothing, and the new daemon knows all that the old
// one knew.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct Restart : System {
  std::uint64_t device_time(const std::string& name) { return tenant(name)["device_time_ns"][0]; }
  int daemon_pid() { return ps()["daemon"]["pid"]; }
};

TEST_F(Restart, ProgramsGoOnAndTheirBooksToo) {
  auto first = start_long_program("first");
  auto second = start_long_program("second", 3);
  ASSERT_TRUE(progresses(first) && progresses(second));
  EXPECT_EQ(fairgv({"set", "first", "weight=2"}).status, 0);
  auto third = start_long_program("third");
  ASSERT_TRUE(progresses(third));
  EXPECT_EQ(fairgv({"kill", "third"}).status, 0);
  EXPECT_TRUE(eventually([&] { return ps()["kills"].size() == 1; }));
  const auto kill = ps()["kills"][0];
  const auto before = device_time("first");
  const auto sessions = tenant("first")["sessions"];
  const int daemon = daemon_pid();
  ASSERT_GT(before, 0u);

  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_EQ(daemon_pid(), daemon) << "it is the same process";
  EXPECT_LT(ps()["daemon"]["uptime_s"], 60.0);
  EXPECT_GE(device_time("first"), before);
  EXPECT_EQ(tenant("first")["weight"], 2);
  EXPECT_EQ(tenant("second")["weight"], 3);
  const auto kills = ps()["kills"];
  ASSERT_EQ(kills.size(), 1u) << "the killed session and the reason are still known";
  for (const char* const field : {"session", "tenant", "uid", "pid", "program", "reason"})
    EXPECT_EQ(kills[0][field], kill[field]) << field;
  EXPECT_GE(kills[0]["ago_s"], kill["ago_s"]);
  EXPECT_EQ(tenant("first")["sessions"][0]["worker_pid"], sessions[0]["worker_pid"]);
  EXPECT_TRUE(progresses(first));
  EXPECT_TRUE(progresses(second));
  EXPECT_TRUE(eventually([&] { return device_time("first") > before; })) << "charging goes on";

  // The new daemon also ends the sessions that it took over.
  ::kill(first.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return sessions_of("first") == 0; }));
  const pid_t worker = tenant("second")["sessions"][0]["worker_pid"];
  ::kill(worker, SIGKILL);
  EXPECT_TRUE(eventually([&] {
    (void)second.read_lines();
    return second.ended();
  }));
  EXPECT_TRUE(eventually([&] { return sessions_of("second") == 0; }));
}

// Programs come and go while the daemon is replaced again and again; each checks its results.
TEST_F(Restart, ManyTimesUnderWayNobodyIsTurnedAway) {
  auto steady = start_long_program("steady");
  ASSERT_TRUE(progresses(steady));
  const int daemon = daemon_pid();
  for (int round = 0; round < 8; ++round) {
    std::vector<harness::Child> programs;
    for (const char* const name : {"a", "b"}) {
      auto child =
          harness::Child::start(tenancy->tenant(name, 1, {workload("matrixMul"), "--repetitions", "20"}));
      ASSERT_TRUE(child);
      programs.push_back(std::move(child).value());
    }
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(::kill(daemon, SIGUSR2), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(17 * round));
    }
    for (harness::Child& program : programs) EXPECT_EQ(program.wait(), 0);
  }
  EXPECT_TRUE(progresses(steady));
  EXPECT_EQ(daemon_pid(), daemon);
  EXPECT_TRUE(eventually([&] { return sessions_of("a") + sessions_of("b") == 0; }));
}

TEST_F(Restart, AProgramThatCannotStartIsNotStarted) {
  start_daemon("slice_ms = 5");
  auto program = start_long_program("program");
  ASSERT_TRUE(progresses(program));
  const auto config = std::filesystem::path(tenancy->socket()).replace_filename("fairgvd.toml");
  ASSERT_TRUE(std::filesystem::exists(config));
  std::ofstream(config) << "[device]\nslice_ms = \"five\"\n";
  EXPECT_EQ(fairgv({"restart"}).status, 1);
  EXPECT_TRUE(progresses(program));
  std::ofstream(config) << "[device]\nslice_ms = 7\n";
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_EQ(ps()["devices"][0]["slice_ms"], 7.0);
  EXPECT_TRUE(progresses(program));
}

}  // namespace
}  // namespace fairgv::integration
