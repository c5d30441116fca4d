// `fairgv session show FILE`: a session as its checkpoint or the image of a parked session has it, without a
// daemon.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/system/moves/moving.hpp"

namespace fairgv::integration {
namespace {

struct ShownFiles : Moving {
  std::string file() { return folder / "alice.checkpoint"; }
  nlohmann::json shown(const std::string& what) { return answer_of({"session", "show", what}); }

  /// The file is shown with these calls, and with the place of alice's buffers in it.
  static void expect_complete(const nlohmann::json& image, const nlohmann::json& calls) {
    EXPECT_EQ(image["calls"], calls) << "as the running session showed them";
    EXPECT_EQ(image["api"], "opencl");
    std::uint64_t contents = 0;
    std::set<std::string> makers;
    for (const auto& object : image["objects"]) {
      makers.insert(object["call"].get<std::string>());
      contents += object["contents"].get<std::uint64_t>();
      EXPECT_EQ(object["error"], 0);
    }
    EXPECT_TRUE(makers.contains("CreateContext") && makers.contains("CreateBuffer") &&
                makers.contains("CreateKernel"))
        << image["objects"];
    EXPECT_GE(contents, kBallast);
  }

  harness::TemporaryFolder folder;
};

TEST_F(ShownFiles, ACheckpointShowsTheCallsThatTheSessionShowed) {
  auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  stop_idle(alice, "alice");
  const auto calls = shown(number("alice"))["calls"];
  ASSERT_FALSE(calls.empty());
  EXPECT_EQ(fairgv({"checkpoint", number("alice"), file()}).status, 0);
  const pid_t daemon_pid = daemon();
  ::kill(alice.pid(), SIGCONT);
  expect_right(std::move(alice));
  (void)fairgv({"stop"});  // unless it has ended, with nothing to do
  ASSERT_TRUE(eventually([&] { return !alive(daemon_pid); }));
  const auto image = shown(file());
  expect_complete(image, calls);
  EXPECT_EQ(image["checkpoint"]["tenant"], "alice");
  const auto table = tried({"session", "show", file()});
  EXPECT_EQ(table.status, 0);
  EXPECT_NE(joined(table).find(file() + ", session "), std::string::npos) << joined(table);
  EXPECT_NE(joined(table).find("MADE BY"), std::string::npos) << joined(table);
}

TEST_F(ShownFiles, TheFileOfAParkedSessionIsReadThroughTheDaemonsDescriptor) {
  start("[session]\nparked_folder = \"" + (folder / "parked").string() + "\"\n");
  auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  stop_idle(alice, "alice");
  const auto calls = shown(number("alice"))["calls"];
  EXPECT_EQ(fairgv({"park", "alice", "--to-file"}).status, 0);
  std::string image;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(daemon()) + "/fd")) {
    std::error_code code;
    if (std::filesystem::read_symlink(entry.path(), code).string().find("/image-") != std::string::npos)
      image = entry.path();
  }
  ASSERT_FALSE(image.empty());
  const auto seen = shown(image);
  expect_complete(seen, calls);
  EXPECT_FALSE(seen.contains("checkpoint"));
  EXPECT_EQ(fairgv({"resume", "alice"}).status, 0);
  ::kill(alice.pid(), SIGCONT);
  ASSERT_TRUE(progresses(alice));
  expect_right(std::move(alice));
}

TEST_F(ShownFiles, ADamagedFileIsOneLine) {
  auto alice = start_wanderer("alice", {"FAIRGV_DIRECT_MEMORY=off"});
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(fairgv({"checkpoint", number("alice"), file()}).status, 0);
  const std::string damaged = folder / "damaged";
  const auto line = [&] { return failure_of({"session", "show", damaged}); };
  EXPECT_NE(line().find("cannot open " + damaged), std::string::npos) << line();
  std::ofstream(damaged) << "something else";
  EXPECT_NE(line().find("is no checkpoint of FairGV"), std::string::npos) << line();
  namespace fs = std::filesystem;
  fs::copy_file(file(), damaged, fs::copy_options::overwrite_existing);
  fs::resize_file(damaged, 100'000);
  EXPECT_NE(line().find("is a damaged checkpoint: it is shorter than it was"), std::string::npos) << line();
  fs::copy_file(file(), damaged, fs::copy_options::overwrite_existing);
  {
    std::fstream image(damaged, std::ios::in | std::ios::out | std::ios::binary);
    image.seekp(65'536 + 8);
    image << std::string(4'000, '\xff');
  }
  EXPECT_NE(line().find("is a damaged image: "), std::string::npos) << line();
  expect_right(std::move(alice));
}

}  // namespace
}  // namespace fairgv::integration
