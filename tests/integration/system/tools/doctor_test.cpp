// fairgv doctor on this machine, whatever its faults.
#include <filesystem>
#include <fstream>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

namespace fs = std::filesystem;

struct Doctor : System {
  /// The findings about `subject`, from `fairgv doctor --json` with these arguments. `status` gets its exit
  /// status.
  nlohmann::json findings(std::vector<std::string> arguments, int* status = nullptr) {
    arguments.insert(arguments.begin(), {"doctor", "--json"});
    const auto finished = fairgv(std::move(arguments));
    if (status != nullptr) *status = finished.status;
    std::string text;
    for (const std::string& line : finished.lines) text += line + '\n';
    return nlohmann::json::parse(text, nullptr, false);
  }

  static nlohmann::json about(const nlohmann::json& findings, const std::string& subject) {
    for (const auto& finding : findings) {
      if (finding["subject"] == subject) return finding;
    }
    return nullptr;
  }
};

TEST_F(Doctor, ExitStatusAgreesWithItsLinesAndItsJson) {
  const auto lines = fairgv({"doctor"});
  bool any_wrong = false;
  for (const std::string& line : lines.lines) {
    EXPECT_TRUE(line.starts_with("ok     ") || line.starts_with("note   ") || line.starts_with("wrong  "))
        << line;
    EXPECT_EQ(line.find(". Do: ") == std::string::npos, line.starts_with("ok ")) << line;
    any_wrong |= line.starts_with("wrong  ");
  }
  EXPECT_EQ(lines.status, any_wrong ? 1 : 0);
  int status = -1;
  const auto list = findings({}, &status);
  ASSERT_TRUE(list.is_array());
  EXPECT_EQ(status, lines.status);
  ASSERT_EQ(list.size(), lines.lines.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string level = list[i]["level"];
    EXPECT_TRUE(lines.lines[i].starts_with(level)) << lines.lines[i];
  }
}

TEST_F(Doctor, FindsTheDaemonAndTheFrontEnd) {
  const auto list = findings({});
  const auto daemon = about(list, "daemon");
  ASSERT_TRUE(daemon.is_object());
  EXPECT_EQ(daemon["level"], "ok");
  const std::string text = daemon["text"];
  EXPECT_NE(text.find("process " + std::to_string(ps()["daemon"]["pid"].get<int>())), std::string::npos)
      << text;
  const fs::path own = fs::path(harness::beside("../lib/fairgv/vendors/fairgv.icd")).lexically_normal();
  EXPECT_EQ(about(list, "driver " + own.string())["level"], "ok");
  EXPECT_EQ(about(list, "socket's folder")["level"], "ok");
}

TEST_F(Doctor, HasTheDaemonReadTheConfiguration) {
  const std::string config = fs::path(tenancy->socket()).replace_filename("c.toml");
  std::ofstream(config) << "[daemon]\nsession_limit = 3\n";
  const auto good = findings({"--config", config});
  EXPECT_EQ(about(good, "configuration")["level"], "ok");
  EXPECT_NE(about(good, "descriptors")["text"].get<std::string>().find("3 sessions"), std::string::npos);
  std::ofstream(config) << "[daemon]\nsessions = 3\n";
  int status = -1;
  const auto bad = findings({"--config", config}, &status);
  EXPECT_EQ(about(bad, "configuration")["level"], "wrong");
  EXPECT_NE(about(bad, "configuration")["text"].get<std::string>().find("c.toml:2:1"), std::string::npos);
  EXPECT_EQ(status, 1);
}

TEST(DoctorAlone, LeavesNothingBehindAndStartsNoDaemon) {
  const harness::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  std::ofstream(folder + "/c.toml") << "[daemon]\nsocket = \"" << folder << "/s\"\n";
  const auto finished = harness::run(
      {{"/bin/sh", "-c", "cd " + folder + " && " + harness::beside("fairgv") + " doctor --config c.toml"},
       {{"HOME", folder}, {"TMPDIR", folder}, {"XDG_RUNTIME_DIR", folder}}});
  std::vector<std::string> left;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) left.push_back(entry.path().filename());
  ASSERT_TRUE(finished);
  EXPECT_FALSE(finished->lines.empty());
  EXPECT_EQ(left, std::vector<std::string>{"c.toml"});
}

TEST(DoctorAlone, IsAskedWronglyByUnknownOptions) {
  for (const char* option : {"--repair", "--config"}) {
    const auto finished =
        harness::run({{"/bin/sh", "-c", harness::beside("fairgv") + " doctor " + option + " 2>&1"}, {}});
    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->status, 2);
    EXPECT_EQ(finished->lines.size(), 1u);
  }
}

}  // namespace
}  // namespace fairgv::integration
