// Clients, workers and the daemon are killed: the others go on, `fairgv ps` tells the truth, nothing is left
// behind.
#include <filesystem>
#include <set>

#include "tests/integration/system_fixture.hpp"

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

}  // namespace
}  // namespace fairgv::integration
