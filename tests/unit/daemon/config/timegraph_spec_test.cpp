// The specification file of TimeGraph beside the configuration: found, read with it, and checked.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/report.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

struct TimeGraphSpec : testing::Test {
  Result<Config> read(const std::string& timegraph) {
    folder.write("c.toml", "[opencl]\nvendors = \"/tmp\"\n[timegraph]\n" + timegraph);
    return read_config(folder / "c.toml");
  }
  std::vector<std::string> mistakes(const std::string& timegraph) {
    const auto config = read(timegraph);
    EXPECT_FALSE(config);
    return config ? std::vector<std::string>{} : lines_of(config.error());
  }
  std::string at(const std::string& place) const { return (folder / place).string(); }

  harness::TemporaryFolder folder;
};

TEST_F(TimeGraphSpec, WithoutOneThereAreNoEntriesAndReservesMayHaveTheWholeDevice) {
  const auto config = read("");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->tenants.timegraph.tasks.empty());
  EXPECT_EQ(config->tenants.timegraph.limit, sched::kWholeDevice);
}

TEST_F(TimeGraphSpec, IsReadWithTheConfigurationFromTheFolderOfTheFileThatNamesIt) {
  folder.write("tasks.spec", "game:HT:none:*:-:-\nmplayer:PRT:PE:70:10000:40000\n");
  for (const std::string& path : {std::string("tasks.spec"), at("tasks.spec")}) {
    const auto config = read("spec = \"" + path + "\"\nlimit = \"80%\"\n");
    ASSERT_TRUE(config) << config.error().message;
    const TimeGraphRules& rules = config->tenants.timegraph;
    EXPECT_EQ(rules.limit, sched::Share{800'000});
    ASSERT_EQ(rules.tasks.size(), 2U);
    EXPECT_TRUE(rules.tasks.at("game").automatic);
    EXPECT_EQ(rules.tasks.at("mplayer").reserve, (sched::Reservation{10ms, 40ms}));
  }
  std::filesystem::create_directory(folder / "c.toml.d");
  folder.write("c.toml.d/10.toml", "[timegraph]\nspec = \"tasks.spec\"\n");
  EXPECT_EQ(mistakes("spec = \"tasks.spec\"\n").size(), 1U) << "there is none in the drop-in folder";
  folder.write("c.toml.d/tasks.spec", "only:HT:none:1:-:-\n");
  const auto config = read("spec = \"tasks.spec\"\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->tenants.timegraph.tasks.contains("only"));
}

TEST_F(TimeGraphSpec, MistakesNameFileAndLineOneLineEach) {
  folder.write(
      "tasks.spec",
      "a:FIFO:none:1:-:-\nb:PRT:PE:1:30:20\nnot a name:PRT:none:1:-:-\nc:PRT:PE:1:9:10\nd:HT:none:1:-:-\n");
  const auto lines = mistakes("spec = \"tasks.spec\"\nlimit = \"80%\"\n");
  const std::string spec = at("tasks.spec");
  EXPECT_EQ(lines,
            (std::vector<std::string>{
                spec + ":1: the scheduling policy is 'FIFO', write PRT or HT",
                spec + ":2: C is 30 and more than T, which is 20, write a C of at most T",
                spec + ":3: the name is 'not a name': a tenant's name is 1 to 64 of A-Z a-z 0-9 _ . @ -",
                spec + ":4: the reserve of 'c' is 90% of the device and more than 80%, the limit in "
                       "[timegraph], lower the one or raise the other"}));
}

TEST_F(TimeGraphSpec, AFileThatCannotBeReadIsAMistakeOfTheOptionThatNamesIt) {
  const auto lines = mistakes("spec = \"missing.spec\"\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], at("c.toml") + ":4:8: spec in [timegraph]: cannot read the specification " +
                          at("missing.spec") + ": No such file or directory");
  std::filesystem::create_directory(folder / "folder.spec");
  EXPECT_EQ(mistakes("spec = \"folder.spec\"\n").size(), 1U);
  const auto empty = mistakes("spec = \"\"\n");
  ASSERT_EQ(empty.size(), 1U);
  EXPECT_NE(empty[0].find("spec in [timegraph] must be the path of a file"), std::string::npos) << empty[0];
}

TEST_F(TimeGraphSpec, AWrongLimitIsOneMistake) {
  folder.write("tasks.spec", "c:PRT:PE:1:9:10\n");
  const auto lines = mistakes("spec = \"tasks.spec\"\nlimit = \"120%\"\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("limit in [timegraph]: it is '120%'"), std::string::npos) << lines[0];
}

TEST_F(TimeGraphSpec, ANewContentIsAChangeOfTheOption) {
  folder.write("tasks.spec", "a:PRT:none:1:-:-\n");
  const Config before = read("spec = \"tasks.spec\"\n").value();
  folder.write("tasks.spec", "# the same\na:PRT:none:1:-:-\n");
  const Config same = read("spec = \"tasks.spec\"\n").value();
  EXPECT_TRUE(changes_between(before, same).at_once.empty());
  folder.write("tasks.spec", "a:PRT:none:2:-:-\n");
  const Config after = read("spec = \"tasks.spec\"\nlimit = \"50%\"\n").value();
  const auto changes = changes_between(before, after).at_once;
  EXPECT_EQ(std::count(changes.begin(), changes.end(), "[timegraph] spec"), 1);
  EXPECT_EQ(std::count(changes.begin(), changes.end(), "[timegraph] limit"), 1);
  EXPECT_EQ(changes.size(), 2U);
}

}  // namespace
}  // namespace fairgv::daemon
