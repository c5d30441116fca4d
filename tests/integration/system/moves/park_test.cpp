// `fairgv park` to files, and sessions that go on when their programs need their devices.
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <string>
#include <utility>

#include "tests/integration/system/moves/moving.hpp"

namespace fairgv::integration {
namespace {

namespace fs = std::filesystem;

struct ParkedPrograms : Moving {
  static std::string session_table(const fs::path& folder, const std::string& more = "") {
    return "[session]\nparked_folder = \"" + (folder / "parked").string() + "\"\n" + more;
  }
  bool parked(const std::string& name) { return session(name)["parked"].get<bool>(); }
};

TEST_F(ParkedPrograms, AnImageInAFileLeavesNothingInTheFolder) {
  const harness::TemporaryFolder folder;
  start(session_table(folder.path()));
  auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(fairgv({"park", "alice", "--to-file"}).status, 0);
  EXPECT_TRUE(session("alice")["image"]["in_file"].get<bool>());
  EXPECT_GT(session("alice")["image"]["bytes"].get<std::uint64_t>(), kBallast);
  EXPECT_TRUE(fs::is_empty(folder / "parked"));
  EXPECT_EQ(fairgv({"restart"}).status, 0) << "the next daemon has the file";
  EXPECT_TRUE(session("alice")["image"]["in_file"].get<bool>());
  EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
  EXPECT_TRUE(session("alice")["image"].is_null());
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(ParkedPrograms, WhatDoesNotFitIntoMemoryGoesToAFile) {
  const harness::TemporaryFolder folder;
  start(session_table(folder.path(), "parked_memory = \"4KiB\"\n"));
  auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(fairgv({"park", "alice"}).status, 0);
  EXPECT_TRUE(session("alice")["image"]["in_file"].get<bool>());
  EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(ParkedPrograms, AFullDiskIsALineAndTheProgramGoesOn) {
  const harness::TemporaryFolder folder;
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=16k") != 0)
    GTEST_SKIP() << "no small file system can be mounted here";
  start(session_table(folder.path()));
  auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  const pid_t before = worker("alice");
  const auto held = session("alice")["memory_used"];
  const std::string line = failure_of({"park", "alice", "--to-file"});
  EXPECT_NE(line.find("is not parked: a file of "), std::string::npos) << line;
  EXPECT_NE(line.find(": cannot write: No space left on device"), std::string::npos) << line;
  EXPECT_EQ(worker("alice"), before);
  EXPECT_EQ(session("alice")["memory_used"], held);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
  tenancy.reset();
  ::umount2(folder.path().c_str(), MNT_DETACH);
}

TEST_F(ParkedPrograms, AProgramThatIsKilledWhileItIsParkedLeavesNoFile) {
  const harness::TemporaryFolder folder;
  start(session_table(folder.path()));
  {
    const auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
    ASSERT_TRUE(eventually([&] { return sessions_of("alice") == 1 && memory("alice", 0) >= kBallast; }));
    EXPECT_EQ(fairgv({"park", "alice", "--to-file"}).status, 0);
  }
  EXPECT_TRUE(eventually([&] { return sessions_of("alice") == 0; }));
  const pid_t daemon_pid = daemon();
  std::size_t images = 0;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(daemon_pid) + "/fd")) {
    std::error_code code;
    const std::string target = fs::read_symlink(entry.path(), code).string();
    if (target.find((folder / "parked").string()) == 0) ++images;
  }
  EXPECT_EQ(images, 0U);
}

TEST_F(ParkedPrograms, AProgramThatNeedsItsDeviceIsWoken) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(fairgv({"park", "alice", "--wake"}).status, 0);
  EXPECT_TRUE(eventually([&] { return !parked("alice"); }));
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(ParkedPrograms, AProgramThatRestsStaysParkedUntilItCalls) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  stop_idle(alice, "alice");
  EXPECT_EQ(fairgv({"park", "alice", "--wake"}).status, 0);
  // The daemon looks some twenty times while it answers these.
  for (int look = 0; look < 20; ++look) {
    ASSERT_TRUE(parked("alice"));
    ASSERT_FALSE(session("alice")["image"]["wanted"].get<bool>());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_TRUE(session("alice")["image"]["wakes"].get<bool>()) << "the next daemon watches, too";
  ::kill(alice.pid(), SIGCONT);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(ParkedPrograms, AProgramWhoseMemoryIsTakenIsWokenWhenItIsFree) {
  start("[device.0]\nmemory = \"12MiB\"\n[tenants]\ndevices = \"0\"\n");
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  stop_idle(alice, "alice");
  EXPECT_EQ(fairgv({"park", "alice", "--wake"}).status, 0);
  auto bob = start_wanderer("bob");
  ASSERT_TRUE(progresses(bob));
  ::kill(alice.pid(), SIGCONT);
  EXPECT_TRUE(eventually([&] { return session("alice")["image"]["wanted"] == true; }));
  EXPECT_TRUE(parked("alice"));
  expect_right(std::move(bob));
  fs::remove(stop_file());
  EXPECT_TRUE(eventually([&] { return !parked("alice"); }));
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

}  // namespace
}  // namespace fairgv::integration
