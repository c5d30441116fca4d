// fairgv bench all on this machine: if one experiment fails, the others are still measured, and the page says
// so.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/harness/temporary_folder.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::integration {
namespace {

namespace fs = std::filesystem;

struct BenchAll : ::testing::Test {
  void SetUp() override {
    if (!FAIRGV_BENCHMARKS) GTEST_SKIP() << "configured without benchmarks";
  }

  harness::Finished all(std::vector<std::string> options,
                        const harness::Environment& environment = {}) const {
    std::vector<std::string> words{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", harness::beside("fairgv"),
                                   "bench",   "all"};
    words.insert(words.end(), options.begin(), options.end());
    auto finished = harness::run({words, environment});
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  }
  std::string report() const { return folder / "report"; }
  std::string file(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(fs::path(report()) / name).rdbuf();
    return text.str();
  }

  harness::TemporaryFolder folder;
};

TEST_F(BenchAll, GoesOnAfterAFailureAndTheStatusAndThePageSayWhatFailed) {
  // This PATH has no strace, which `syscalls` needs, and no gnuplot.
  const fs::path programs = folder / "bin";
  fs::create_directory(programs);
  for (const auto& program : fs::directory_iterator("/usr/bin")) {
    const fs::path name = program.path().filename();
    if (name != "strace" && name != "gnuplot") fs::create_symlink(program.path(), programs / name);
  }
  const auto finished = all({"--report", report(), "--quick", "--only", "syscalls,unfair,null-call"},
                            {{"PATH", programs.string()}});
  EXPECT_EQ(finished.status, 1);
  ASSERT_FALSE(finished.lines.empty());
  EXPECT_EQ(finished.lines.back(), "wrote " + (fs::path(report()) / "index.html").string());
  const auto record = nlohmann::json::parse(file("run.json"), nullptr, false);
  ASSERT_EQ(record["attempts"].size(), 3U);
  for (const auto& attempt : record["attempts"]) {
    EXPECT_EQ(attempt["status"] != 0, attempt["name"] == "syscalls") << attempt;
    EXPECT_FALSE(attempt["purpose"].get<std::string>().empty());
  }
  const std::string page = file("index.html");
  for (const char* text :
       {"Failed: syscalls", "Failed with status 1", "fairgv bench null-call --pairs 1 --rounds 100",
        "fairgv bench unfair --quick", "not judged: a quick run", "there is no gnuplot", "not measured",
        "min max ratio"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
  EXPECT_TRUE(file("unfair.csv").starts_with("# "));

  // The page comes from the files alone, byte for byte.
  fs::remove(fs::path(report()) / "index.html");
  EXPECT_EQ(all({"--report", report(), "--render-only"}).status, 0);
  EXPECT_EQ(file("index.html"), page);
}

TEST_F(BenchAll, KillsWhatTakesLongerThanItMay) {
  const fs::path temporary = folder / "temporary";
  fs::create_directory(temporary);
  const auto finished =
      all({"--report", report(), "--only", "latency", "--limit", "0.02"}, {{"TMPDIR", temporary.string()}});
  EXPECT_EQ(finished.status, 1);
  EXPECT_TRUE(fs::is_empty(temporary)) << "the experiment's daemon and its files are left";
  EXPECT_NE(file("index.html").find("killed: it took longer than 0.02 min"), std::string::npos);
}

TEST_F(BenchAll, RefusesWhatItCannotDoBeforeItMeasures) {
  EXPECT_EQ(all({}).status, 2);
  const auto unknown = all({"--report", report(), "--only", "solitaire"});
  EXPECT_EQ(unknown.status, 2);
  ASSERT_EQ(unknown.lines.size(), 1U);
  EXPECT_TRUE(
      unknown.lines[0].starts_with("fairgv bench all: there is no experiment 'solitaire': there are "));
  EXPECT_EQ(all({"--report", report(), "--limit", "-1"}).status, 2);
  EXPECT_EQ(all({"--report", report(), "--render-only", "--quick"}).status, 2);
  EXPECT_EQ(all({"--report", report(), "--render-only"}).status, 1) << "there is nothing to render";
  std::ofstream(folder / "taken") << "a file";
  EXPECT_EQ(all({"--report", folder / "taken", "--only", "null-call", "--quick"}).status, 1);
}

TEST_F(BenchAll, MixesNoFiguresOfTwoMachines) {
  fs::create_directories(report());
  std::ofstream(fs::path(report()) / "run.json")
      << R"({"machine": [["Processor", "another"]], "attempts": [{"name": "api", "purpose": "", "command": "",
             "when": "", "version": "", "seconds": 1, "load": 0, "status": 0, "quick": false, "remark": ""}]})";
  const auto finished = all({"--report", report(), "--quick", "--only", "null-call"});
  EXPECT_EQ(finished.status, 1);
  ASSERT_FALSE(finished.lines.empty());
  EXPECT_NE(finished.lines.back().find("another machine"), std::string::npos) << finished.lines.back();
  EXPECT_FALSE(fs::exists(fs::path(report()) / "null-call.csv"));
}

}  // namespace
}  // namespace fairgv::integration
