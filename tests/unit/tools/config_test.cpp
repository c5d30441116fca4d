// `fairgv config`: the faults of a file, and the values that hold.
#include <cstdlib>
#include <fstream>

#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/tools/shell.hpp"

namespace fairgv::tools {
namespace {

struct ConfigCommand : ::testing::Test {
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
    return folder / name;
  }

  harness::TemporaryFolder folder;
};

TEST_F(ConfigCommand, CheckTellsEachMistakeInALineWithItsPlace) {
  const std::string file = write("c.toml", "[device]\nslice = 6\npolicy = \"lottery\"\n");
  write("c.toml.d/10.toml", "[device]\nslice_ms = true\n");
  const Shown checked = in_shell("fairgv config check " + file);
  EXPECT_EQ(checked.status, 1);
  ASSERT_EQ(checked.lines.size(), 3u) << checked.text;
  EXPECT_TRUE(checked.text.find(file + ":2:1: unknown key 'slice'") != std::string::npos) << checked.text;
  EXPECT_TRUE(checked.text.find(file + ":3:10: policy") != std::string::npos) << checked.text;
  EXPECT_TRUE(checked.text.find(file + ".d/10.toml:2:12: slice_ms") != std::string::npos) << checked.text;
}

TEST_F(ConfigCommand, CheckSaysThatNothingIsWrong) {
  const std::string file = write("c.toml", "[device]\nslice_ms = 7\n");
  const Shown checked = in_shell("fairgv config check " + file);
  EXPECT_EQ(checked.status, 0);
  EXPECT_EQ(checked.text, file + ": no mistakes\n");
}

TEST_F(ConfigCommand, CheckOfAFileThatIsNotThereNamesIt) {
  const Shown checked = in_shell("fairgv config check " + (folder / "none.toml").string());
  EXPECT_EQ(checked.status, 1);
  EXPECT_EQ(checked.lines.size(), 1u);
  EXPECT_NE(checked.text.find("none.toml"), std::string::npos);
}

TEST_F(ConfigCommand, ShowSaysWhatHoldsAndWhereItComesFrom) {
  const std::string file = write("c.toml", "[device]\nslice_ms = 7\n");
  write("c.toml.d/10.toml", "[device]\nsamples = 8\n");
  const Shown shown = in_shell("fairgv config show " + file);
  EXPECT_EQ(shown.status, 0);
  EXPECT_NE(shown.text.find("slice_ms = 7  # " + file + ":2\n"), std::string::npos) << shown.text;
  EXPECT_NE(shown.text.find("samples = 8  # " + file + ".d/10.toml:2\n"), std::string::npos) << shown.text;
  EXPECT_NE(shown.text.find("session_limit = 256  # default\n"), std::string::npos) << shown.text;
  const std::string again = write("again.toml", shown.text);
  EXPECT_EQ(in_shell("fairgv config check " + again).status, 0);
}

TEST_F(ConfigCommand, TheDefaultsAreAConfiguration) {
  const Shown defaults = in_shell("fairgv config show --defaults");
  EXPECT_EQ(defaults.status, 0);
  EXPECT_EQ(in_shell("fairgv config check " + write("defaults.toml", defaults.text)).status, 0);
}

TEST_F(ConfigCommand, WithoutAFileThePlaceOfAUsersConfigurationIsLookedAt) {
  if (::geteuid() == 0) GTEST_SKIP() << "root's is the machine's";
  write("fairgv/fairgvd.toml.d/10.toml", "[device]\nslice_ms = 9\n");
  const Shown shown = in_shell("export XDG_CONFIG_HOME=" + folder.path().string() + "; fairgv config show");
  EXPECT_NE(shown.text.find("slice_ms = 9"), std::string::npos) << shown.text;
}

TEST_F(ConfigCommand, CheckTellsContradictionsAndMissingFoldersInOneRun) {
  const std::string file =
      write("c.toml",
            "[tenants]\nmax_weight = 2\ndefault_weight = 3\n[tenant.a]\nclass = \"gold\"\n"
            "[worker]\nreadable = [\"/nonexistent/data\"]\n");
  const Shown checked = in_shell("fairgv config check " + file);
  EXPECT_EQ(checked.status, 1);
  ASSERT_EQ(checked.lines.size(), 3u) << checked.text;
  EXPECT_NE(checked.lines[0].find("default_weight"), std::string::npos) << checked.text;
  EXPECT_NE(checked.lines[1].find("gold"), std::string::npos) << checked.text;
  EXPECT_NE(checked.lines[2].find("/nonexistent/data"), std::string::npos) << checked.text;
}

TEST_F(ConfigCommand, ADaemonInTheBackgroundReadsARelativeFileAgain) {
  write("c.toml", "[device]\nslice_ms = 7\n");
  const Shown reloaded =
      in_shell("cd " + folder.path().string() +
               " && export FAIRGV_SOCKET=$PWD/d.sock && fairgvd --config c.toml --exit-idle 20 "
               "--daemonize </dev/null && { fairgv reload; status=$?; fairgv stop; exit $status; }");
  EXPECT_EQ(reloaded.status, 0) << reloaded.text;
  EXPECT_NE(reloaded.text.find("fairgvd has read " + (folder / "c.toml").string() + " again"),
            std::string::npos)
      << reloaded.text;
}

}  // namespace
}  // namespace fairgv::tools
