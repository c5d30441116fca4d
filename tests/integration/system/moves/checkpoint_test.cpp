// `fairgv checkpoint` and `restore`: the device side of a program in a file,
// and back.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/ring/segment.hpp"
#include "tests/integration/system/moves/moving.hpp"

namespace fairgv::integration {
namespace {

namespace fs = std::filesystem;

struct CheckpointedPrograms : Moving {
  std::string file() { return folder / "alice.checkpoint"; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), {}));
  }
  /// Writes over the beginning of the memory that the program and its worker
  /// share, where its buffers lie.
  static void spoil_memory(pid_t program) {
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(program) + "/fd")) {
      std::error_code code;
      if (fs::read_symlink(entry.path(), code).string().find("memfd:") == std::string::npos) continue;
      const UniqueFd memory(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
      ring::SegmentPreamble layout{};
      if (::pread(memory.get(), &layout, sizeof(layout), 0) != static_cast<ssize_t>(sizeof(layout)) ||
          layout.magic != ring::SegmentPreamble::kMagic)
        continue;
      const std::vector<char> junk(std::size_t{16} << 20, 'x');
      ASSERT_EQ(::pwrite(memory.get(), junk.data(), junk.size(), static_cast<off_t>(layout.offsets.arena)),
                static_cast<ssize_t>(junk.size()));
      return;
    }
    FAIL() << "the program's shared memory was not found";
  }
  harness::TemporaryFolder folder;
};

TEST_F(CheckpointedPrograms, AProgramGoesOnAfterItsCheckpoint) {
  auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  const pid_t before = worker("alice");
  const auto written = fairgv({"checkpoint", number("alice"), file()});
  EXPECT_EQ(written.status, 0) << joined(written);
  EXPECT_NE(joined(written).find(": checkpoint in " + file() + ", "), std::string::npos) << joined(written);
  EXPECT_EQ(worker("alice"), before);
  struct stat found {};
  ASSERT_EQ(::stat(file().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  EXPECT_EQ(files(), 1U) << "nothing else is left";
  ASSERT_TRUE(progresses(alice));
  const std::string line = failure_of({"restore", file(), number("alice")});
  EXPECT_NE(line.find("is not restored: its program is at another place"), std::string::npos) << line;
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(CheckpointedPrograms, AProgramAtTheSamePlaceGetsItsMemoryBack) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  stop_idle(alice, "alice");
  EXPECT_EQ(fairgv({"checkpoint", number("alice"), file()}).status, 0);
  spoil_memory(alice.pid());
  const pid_t before = worker("alice");
  const auto held = session("alice")["memory_used"];
  const auto restored = fairgv({"restore", file(), number("alice")});
  EXPECT_EQ(restored.status, 0) << joined(restored);
  EXPECT_NE(worker("alice"), before);
  EXPECT_TRUE(eventually([&] { return session("alice")["memory_used"] == held; }));
  ::kill(alice.pid(), SIGCONT);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(CheckpointedPrograms, AParkedProgramIsRestoredToo) {
  auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  stop_idle(alice, "alice");
  EXPECT_EQ(fairgv({"checkpoint", number("alice"), file()}).status, 0);
  EXPECT_EQ(fairgv({"park", "alice"}).status, 0);
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_EQ(fairgv({"restore", file(), number("alice")}).status, 0);
  EXPECT_FALSE(session("alice")["parked"].get<bool>());
  ::kill(alice.pid(), SIGCONT);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(CheckpointedPrograms, ADamagedFileIsALineAndTheProgramGoesOn) {
  auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  stop_idle(alice, "alice");
  EXPECT_EQ(fairgv({"checkpoint", number("alice"), file()}).status, 0);
  const std::string damaged = folder / "damaged";
  fs::copy_file(file(), damaged);
  fs::resize_file(damaged, 100'000);
  EXPECT_NE(failure_of({"restore", damaged, number("alice")}).find("is a damaged checkpoint"),
            std::string::npos);
  std::ofstream(damaged) << "something else";
  EXPECT_NE(failure_of({"restore", damaged, number("alice")}).find("is no checkpoint of FairGV"),
            std::string::npos);
  // The image itself is the new worker's to check.
  fs::copy_file(file(), damaged, fs::copy_options::overwrite_existing);
  {
    std::fstream image(damaged, std::ios::in | std::ios::out | std::ios::binary);
    image.seekp(65'536 + 8);
    image << std::string(4'000, '\xff');
  }
  const std::string line = failure_of({"restore", damaged, number("alice")});
  EXPECT_NE(line.find("is not restored: its new worker failed: "), std::string::npos) << line;
  ::kill(alice.pid(), SIGCONT);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(CheckpointedPrograms, TheNewWorkersDeathLeavesTheSessionToTheOldOne) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  stop_idle(alice, "alice");
  EXPECT_EQ(fairgv({"checkpoint", number("alice"), file()}).status, 0);
  const pid_t before = worker("alice");
  const pid_t daemon_pid = daemon();
  auto asked = begin({"restore", file(), number("alice")});
  ASSERT_EQ(::kill(next_worker(daemon_pid, before), SIGKILL), 0);
  EXPECT_EQ(harness::finish(std::move(asked)).status, 1);
  EXPECT_EQ(worker("alice"), before);
  ::kill(alice.pid(), SIGCONT);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(CheckpointedPrograms, ARestartInTheMiddleHarmsNothing) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  stop_idle(alice, "alice");
  EXPECT_EQ(fairgv({"checkpoint", number("alice"), file()}).status, 0);
  const auto held = session("alice")["memory_used"];
  for (const char* const command : {"checkpoint", "restore", "restore"}) {
    auto asked = std::string(command) == "restore" ? begin({"restore", file(), number("alice")})
                                                   : begin({"checkpoint", number("alice"), file()});
    EXPECT_EQ(fairgv({"restart"}).status, 0);
    (void)harness::finish(std::move(asked));
    EXPECT_TRUE(eventually([&] { return session("alice")["moving"] == false; }));
    EXPECT_TRUE(eventually([&] { return session("alice")["memory_used"] == held; }));
  }
  ::kill(alice.pid(), SIGCONT);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(CheckpointedPrograms, TheEndOfTheDaemonLeavesNoHalfFile) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const pid_t daemon_pid = daemon();
  auto asked = begin({"checkpoint", number("alice"), file()});
  std::this_thread::sleep_for(std::chrono::milliseconds(8));  // about as long as it takes to begin
  ASSERT_EQ(::kill(daemon_pid, SIGKILL), 0);
  const auto finished = harness::finish(std::move(asked));
  EXPECT_EQ(files(), finished.status == 0 ? 1U : 0U);
  EXPECT_NE(harness::finish(std::move(alice)).status, 0) << "its calls fail, as ever";
}

TEST_F(CheckpointedPrograms, ADiskThatCannotBeWrittenIsALineAndTheProgramGoesOn) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  const std::string line = failure_of({"checkpoint", number("alice"), folder / "nowhere" / "file"});
  EXPECT_NE(line.find("cannot make a file beside "), std::string::npos) << line;
  EXPECT_NE(failure_of({"checkpoint", "7777", file()}).find("there is no session 7777"), std::string::npos);
  EXPECT_EQ(files(), 0U);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(CheckpointedPrograms, AKilledCommandLetsTheProgramGoOn) {
  auto alice = start_wanderer("alice");
  ASSERT_TRUE(progresses(alice));
  for (int attempt = 0; attempt < 10; ++attempt) {
    auto asked = begin({"checkpoint", number("alice"), file()});
    // Each time a little later: before it asks, while the session rests, and
    // after that.
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * attempt));
    ::kill(asked.pid(), SIGKILL);
    (void)harness::finish(std::move(asked));
    ASSERT_TRUE(progresses(alice));
  }
  EXPECT_TRUE(eventually([&] { return session("alice")["moving"] == false; }));
  expect_right(std::move(alice));
}

}  // namespace
}  // namespace fairgv::integration
