// Clients, workers and the daemon are killed: the others go on, `fairgv ps` shows the true state, nothing is
// left behind.
#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "runtime/base/socket.hpp"
#include "runtime/session/protocol.hpp"
#include "tests/harness/combined_run.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

std::set<std::string> shared_memory_files() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    names.insert(entry.path().filename());
  return names;
}

struct Faults : System {
  void SetUp() override {
    before_ = shared_memory_files();
    System::SetUp();
  }
  void TearDown() override {
    const auto daemon = ps()["daemon"].value("pid", 0);
    tenancy.reset();
    if (daemon != 0) {
      EXPECT_TRUE(eventually([&] { return !alive(daemon); })) << "the daemon outlives `fairgv stop`";
    }
    EXPECT_EQ(shared_memory_files(), before_);
  }
  pid_t worker_of(const std::string& name) { return tenant(name)["sessions"][0]["worker_pid"]; }

  std::set<std::string> before_;
};

TEST_F(Faults, AKilledClientIsGoneAndItsNeighbourRunsOn) {
  auto victim = start_long_program("victim");
  auto neighbour = start_long_program("neighbour");
  ASSERT_TRUE(progresses(victim) && progresses(neighbour));
  const pid_t worker = worker_of("victim");
  ASSERT_TRUE(alive(worker));

  ::kill(victim.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return sessions_of("victim") == 0; }));
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
  EXPECT_TRUE(progresses(neighbour));
  EXPECT_EQ(sessions_of("neighbour"), 1u);
}

TEST_F(Faults, AKilledWorkerGivesItsProgramAnErrorAndItsNeighbourRunsOn) {
  auto victim = start_long_program("victim");
  auto neighbour = start_long_program("neighbour");
  ASSERT_TRUE(progresses(victim) && progresses(neighbour));

  ::kill(worker_of("victim"), SIGKILL);
  // The program itself notices (a CL error), says so, and ends.
  EXPECT_TRUE(eventually([&] {
    (void)victim.read_lines();
    return victim.ended();
  }));
  EXPECT_EQ(victim.wait(), 1);
  EXPECT_TRUE(eventually([&] { return sessions_of("victim") == 0; }));
  EXPECT_TRUE(progresses(neighbour));

  // The tenant's next program works again.
  const auto again =
      harness::run_measured(tenancy->tenant("victim", 1, {workload("matrixMul"), "--repetitions", "3"}));
  EXPECT_TRUE(again) << again.error().message;
}

// Two workers in the life of one program.
TEST_F(Faults, AKernelThatCrashesCostsItsContextAndNoMore) {
  auto neighbour = start_long_program("neighbour");
  ASSERT_TRUE(progresses(neighbour));
  const auto finished = harness::run(tenancy->tenant("victim", 1, {harness::beside("opencl_loss"), "fault"}));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->lines, (std::vector<std::string>{"right", "begun", "lost", "right"}));
  EXPECT_EQ(finished->status, 0);
  EXPECT_TRUE(progresses(neighbour));
  EXPECT_TRUE(eventually([&] { return sessions_of("victim") == 0; }));
}

TEST_F(Faults, AKernelThatNeverEndsIsKilledWhenOthersHaveWaitedForTooLong) {
  start_daemon("hold_limit_s = 0.5");
  auto victim =
      harness::Child::start(tenancy->tenant("victim", 1, {harness::beside("opencl_loss"), "never-ends"}));
  ASSERT_TRUE(victim);
  std::vector<std::string> lines;
  const auto has_said = [&](const std::string& what) {
    for (std::string& line : victim->read_lines()) lines.push_back(std::move(line));
    return std::find(lines.begin(), lines.end(), what) != lines.end();
  };
  ASSERT_TRUE(eventually([&] { return has_said("begun"); }));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_FALSE(has_said("lost")) << "nobody else wants the device";

  auto neighbour = start_long_program("neighbour");
  EXPECT_TRUE(progresses(neighbour));
  EXPECT_TRUE(eventually([&] { return has_said("lost") && victim->ended(); }));
  EXPECT_EQ(victim->wait(), 0);
  (void)has_said("the rest");
  EXPECT_EQ(lines, (std::vector<std::string>{"right", "begun", "lost", "right"}));
  const nlohmann::json kills = ps()["kills"];
  ASSERT_EQ(kills.size(), 1u) << kills;
  EXPECT_EQ(kills[0]["tenant"], "victim");
  EXPECT_EQ(kills[0]["uid"], ::geteuid());
  EXPECT_NE(kills[0]["reason"].get<std::string>().find("held a device for more than 0.5 s"),
            std::string::npos)
      << kills;
}

TEST_F(Faults, AStoppedClientKeepsNobodyWaiting) {
  auto stopped = start_long_program("stopped");
  auto neighbour = start_long_program("neighbour");
  ASSERT_TRUE(progresses(stopped) && progresses(neighbour));
  ::kill(stopped.pid(), SIGSTOP);
  EXPECT_TRUE(progresses(neighbour));
  ::kill(stopped.pid(), SIGCONT);
  EXPECT_TRUE(progresses(stopped));
}

TEST_F(Faults, AKilledDaemonEndsEverySessionAndLeavesNoWorker) {
  auto first = start_long_program("first");
  auto second = start_long_program("second");
  ASSERT_TRUE(progresses(first) && progresses(second));
  const auto state = ps();
  const pid_t daemon = state["daemon"]["pid"];
  const pid_t workers[] = {worker_of("first"), worker_of("second")};

  ::kill(daemon, SIGKILL);
  for (harness::Child* program : {&first, &second}) {
    EXPECT_TRUE(eventually([&] {
      (void)program->read_lines();
      return program->ended();
    }));
    EXPECT_EQ(program->wait(), 1);
  }
  for (const pid_t worker : workers) EXPECT_TRUE(eventually([&] { return !alive(worker); }));

  // A new daemon takes the dead one's place on the same socket.
  const auto again =
      harness::run_measured(tenancy->tenant("first", 1, {workload("matrixMul"), "--repetitions", "3"}));
  EXPECT_TRUE(again) << again.error().message;
}

TEST_F(Faults, ADaemonThatIsNotRunningGivesOneClearLine) {
  const harness::CommandLine command{
      {"/bin/sh", "-c", workload("matrixMul") + " --repetitions 1 2>&1"},
      {{"OCL_ICD_VENDORS", FAIRGV_ICD}, {"FAIRGV_SOCKET", "/nowhere/fairgvd.sock"}}};
  const auto finished = harness::run(command);
  ASSERT_TRUE(finished);
  EXPECT_NE(finished->status, 0);
  int about_us = 0;
  for (const std::string& line : finished->lines) {
    if (line.find("fairgv") == std::string::npos) continue;
    ++about_us;
    EXPECT_NE(line.find("/nowhere/fairgvd.sock"), std::string::npos) << line;
  }
  EXPECT_EQ(about_us, 1);
}

TEST(EndingDaemon, IsReplacedByRunThatItHangsUpOn) {
  const harness::TemporaryFolder folder;
  const std::string socket = folder / "fairgvd.sock";
  auto bound = Listener::bind(socket, 0600);
  ASSERT_TRUE(bound) << bound.error().message;
  std::optional<Listener> listener(std::move(bound).value());
  // As when the daemon is killed: a client that connects at the last moment is hung up on, and then nobody
  // listens.
  std::thread ending([&listener] {
    pollfd caller{listener->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&caller, 1, 20'000), 1);
    auto accepted = listener->accept();
    listener.reset();
    ASSERT_TRUE(accepted);
  });
  const std::vector<std::string> run{harness::beside("fairgv"), "run", "--socket", socket, "--", "true"};
  const auto finished = harness::run({run, {}});
  ending.join();
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 0);
  const auto stopped = harness::run({{harness::beside("fairgv"), "stop", "--socket", socket}, {}});
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->status, 0) << "no daemon was started";
}

TEST(EndingDaemon, IsNamedByACommandWhoseConnectionItEnds) {
  const harness::TemporaryFolder folder;
  const std::string socket = folder / "fairgvd.sock";
  auto bound = Listener::bind(socket, 0600);
  ASSERT_TRUE(bound) << bound.error().message;
  const Listener listener(std::move(bound).value());
  for (const bool hears_request : {false, true}) {
    std::thread ending([&listener, hears_request] {
      pollfd caller{listener.fd(), POLLIN, 0};
      ASSERT_EQ(::poll(&caller, 1, 20'000), 1);
      const auto accepted = listener.accept();
      ASSERT_TRUE(accepted && accepted->receive());
      ASSERT_TRUE(accepted->send(to_text(session::Welcome{})));
      EXPECT_TRUE(!hears_request || accepted->receive());
    });
    const auto ran =
        harness::run_combined({{harness::beside("fairgv"), "resume", "alice", "--socket", socket}, {}});
    ending.join();
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.output,
              "fairgv resume: the daemon hung up without an answer: it has ended, or is being restarted; "
              "try again\n");
  }
}

}  // namespace
}  // namespace fairgv::integration
