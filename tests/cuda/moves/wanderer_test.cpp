// CUDA programs, compiled by nvcc, whose session moves from worker to worker while they run.
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

constexpr std::uint64_t kWanderersMiB = 8;
constexpr int kMovesOfAWanderer = 5;

struct CudaWanderer : System {
  void SetUp() override {
    if (!FAIRGV_HAS_NVCC) GTEST_SKIP() << "nvcc is not here";
    System::SetUp();
  }

  std::string stop_file() {
    return std::filesystem::path(tenancy->socket()).replace_filename("stop").string();
  }
  harness::Child start_wanderer(const std::string& name) {
    auto child = harness::Child::start(tenancy->tenant(
        name, 1, {FAIRGV_PROGRAM_DIR "/wanderer", std::to_string(kWanderersMiB), stop_file()}));
    EXPECT_TRUE(child);
    return std::move(child).value();
  }
  void expect_right(harness::Child child) {
    std::ofstream(stop_file()) << "";
    const auto finished = harness::finish(std::move(child));
    EXPECT_EQ(finished.status, 0) << joined(finished);
    EXPECT_EQ(finished.lines.empty() ? "" : finished.lines.back(), "right") << joined(finished);
  }
  nlohmann::json session(const std::string& name) { return tenant(name)["sessions"][0]; }
};

TEST_F(CudaWanderer, GoesOnWhileItIsMovedAgainAndAgain) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const auto held = session("alice")["memory_used"];
  ASSERT_GE(held[0].get<std::uint64_t>(), kWanderersMiB * kMiB);
  for (int moves = 0; moves < kMovesOfAWanderer; ++moves) {
    const pid_t before = session("alice")["worker_pid"].get<pid_t>();
    const auto moved = fairgv({"migrate", "alice"});
    ASSERT_EQ(moved.status, 0) << joined(moved);
    EXPECT_NE(session("alice")["worker_pid"].get<pid_t>(), before);
    ASSERT_TRUE(progresses(alice)) << "after move " << moves;
  }
  EXPECT_TRUE(eventually([&] { return session("alice")["memory_used"] == held; }));
  expect_right(std::move(alice));
}

TEST_F(CudaWanderer, StaysWhereItIsIfCudaHasNoSuchDevice) {
  tenancy.reset();
  auto started =
      harness::Tenancy::start({}, {{"POCL_DEVICES", "pthread pthread"}}, "[device.1]\nsame_as = 1\n");
  ASSERT_TRUE(started) << started.error().message;
  tenancy.emplace(std::move(started).value());
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const auto refused = harness::run({{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", harness::beside("fairgv"),
                                      "migrate", "alice", "--device", "1", "--socket", tenancy->socket()},
                                     {}});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 1);
  EXPECT_NE(joined(refused.value()).find("CUDA has no device 1 there"), std::string::npos) << joined(refused.value());
  ASSERT_TRUE(progresses(alice));
  const auto moved = fairgv({"migrate", "alice"});
  EXPECT_EQ(moved.status, 0) << joined(moved);
  expect_right(std::move(alice));
}

TEST_F(CudaWanderer, WaitsWithoutAWorkerWhileItIsParked) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const auto parked = fairgv({"park", "alice"});
  ASSERT_EQ(parked.status, 0) << joined(parked);
  EXPECT_TRUE(eventually([&] { return ps()["devices"][0]["memory_used"] == 0; }));
  EXPECT_EQ(session("alice")["parked"], true);
  (void)alice.read_lines();
  const auto resumed = fairgv({"resume", "alice"});
  ASSERT_EQ(resumed.status, 0) << joined(resumed);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

}  // namespace
}  // namespace fairgv::integration
