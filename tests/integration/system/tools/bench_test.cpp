// Experiments run to their end and write the files that they promise; people judge the measured figures.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A folder for the experiments' files; skips in a build without benchmarks.
struct Experiments : ::testing::Test {
  void SetUp() override {
    if (!FAIRGV_BENCHMARKS) GTEST_SKIP() << "configured without benchmarks";
    ASSERT_TRUE(std::filesystem::exists(harness::beside("fairgv-bench-share")));
  }

  static int status_of(std::vector<std::string> experiment) {
    experiment.insert(experiment.begin(), {harness::beside("fairgv"), "bench"});
    const auto finished = harness::run({std::move(experiment), {}});
    return finished ? finished->status : -1;
  }
  /// Runs the experiment with a table and a figure, and returns the table's rows, the header first.
  std::vector<std::string> rows_of(std::vector<std::string> experiment) const {
    experiment.insert(experiment.end(),
                      {"--quick", "--csv", folder / "table.csv", "--figure", folder / "figure.svg"});
    EXPECT_EQ(status_of(std::move(experiment)), 0);
    auto rows = lines_of(folder / "table.csv");
    if (rows.empty()) return rows;
    EXPECT_TRUE(rows[0].starts_with("# ")) << "no machine: " << rows[0];
    rows.erase(rows.begin());
    return rows;
  }
  void expect_figure_of(const std::vector<std::string>& labels) const {
    std::string figure;
    for (const std::string& line : lines_of(folder / "figure.svg")) figure += line + '\n';
    EXPECT_TRUE(figure.starts_with("<?xml")) << figure.substr(0, 80);
    for (const std::string& label : labels) EXPECT_NE(figure.find(label), std::string::npos) << label;
  }

  const harness::TemporaryFolder folder;
};

TEST_F(Experiments, ThatAreMistypedAreGuessed) {
  const auto refused =
      harness::run({{"/bin/sh", "-c", "exec \"$0\" bench shaer 2>&1", harness::beside("fairgv")},
                    {{"COLUMNS", std::nullopt}}});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 2);
  ASSERT_EQ(refused->lines.size(), 1u);
  EXPECT_NE(refused->lines[0].find("there is no benchmark 'shaer': did you mean 'share'?"),
            std::string::npos);
}

TEST_F(Experiments, LeaveNothingBehindWhenTheyAreInterrupted) {
  const auto has_daemon = [&] {
    std::error_code ignored;  // files come and go
    for (std::filesystem::recursive_directory_iterator entry(folder.path(), ignored), end; entry != end;
         entry.increment(ignored)) {
      if (entry->path().filename() == "fairgvd.sock") return true;
    }
    return false;
  };
  auto experiment = harness::Child::start(
      {{harness::beside("fairgv"), "bench", "crowd"}, {{"TMPDIR", folder.path().string()}}});
  ASSERT_TRUE(experiment);
  ASSERT_TRUE(eventually(has_daemon));
  ASSERT_EQ(::kill(experiment->pid(), SIGINT), 0);
  EXPECT_EQ(experiment->wait(), 128 + SIGINT);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Experiments, FairnessOfTwoPoliciesIsTabledAndDrawn) {
  const auto rows = rows_of({"fair3", "--policies", "fair,fifo", "--programs", "matrixMul"});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0],
            "policy,program,min_max_ratio,min_max_lowest,min_max_highest,overhead,overhead_lowest,overhead_"
            "highest,added_up,charged,charged_lowest,charged_highest,shares,completion");
  EXPECT_TRUE(rows[1].starts_with("fair,matrixMul,0.")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("fifo,matrixMul,0.")) << rows[2];
  expect_figure_of({">fair<", ">fifo<"});
}

TEST_F(Experiments, PinnedClientsOfTwoDevicesHaveSharesAndCompletionTimes) {
  const auto rows = rows_of({"fair3", "--policies", "fair", "--programs", "matrixMul", "--pinned",
                             "--devices", "2", "--pairs", "1"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[1].starts_with("fair,matrixMul,0.")) << rows[1];
  const std::string last = rows[1].substr(rows[1].rfind(',') + 1);
  EXPECT_EQ(std::count(last.begin(), last.end(), ';'), 2) << "a completion time for each weight: " << last;
  EXPECT_GT(std::stod(last), 0);
}

TEST_F(Experiments, RunTimesBesideShortAndLongKernelsAreTabledAndDrawn) {
  const auto rows =
      rows_of({"mixed", "--programs", "matrixMul", "--kernel-us", "100,400", "--policies", "fair"});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], "program,policy,asked_us,kernel_us,normalised_run_time,lowest,highest,added_up");
  EXPECT_TRUE(rows[1].starts_with("matrixMul,fair,100,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("matrixMul,fair,400,")) << rows[2];
  expect_figure_of({">matrixMul<", ">fair<"});
}

TEST_F(Experiments, RunTimesOnTwoDevicesAreThoseOfSingleDevices) {
  const auto rows = rows_of(
      {"mixed", "--programs", "matrixMul", "--kernel-us", "100", "--policies", "fair", "--devices", "2"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[1].starts_with("matrixMul,fair,100,")) << rows[1];
}

TEST_F(Experiments, UtilisationBesideASleeperIsTabledAndDrawn) {
  const auto rows = rows_of({"conserve", "--sleep-ratios", "0.5", "--windows", "2"});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(
      rows[0],
      "sleep_ratio,policy,utilisation,lowest,highest,added_up,BlackScholes,matrixMul,in_use,in_use_lowest,in_"
      "use_highest");
  EXPECT_TRUE(rows[1].starts_with("0.5,fair,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("0.5,fair-paper,")) << rows[2];
  EXPECT_TRUE(rows[3].starts_with("0.5,fair-paper-idle,")) << rows[3];
  expect_figure_of({">fair<", ">fair-paper<", ">fair-paper-idle<"});
}

TEST_F(Experiments, UtilisationOfTwoDevicesIsThatOfSingleDevices) {
  const auto rows = rows_of({"conserve", "--sleep-ratios", "0.5", "--policies", "fair", "--devices", "2"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[1].starts_with("0.5,fair,")) << rows[1];
}

TEST_F(Experiments, AGreedyProgramOnEachOfTwoDevicesIsTabledWithTheOthers) {
  const auto rows = rows_of({"unfair", "--devices", "2"});
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows[0], "policy,tenant,weight,kernel_us,due,share,lowest,highest,min_max_ratio");
  EXPECT_TRUE(rows[1].starts_with("fifo,alice,3,300,0.5000,")) << rows[1];
  EXPECT_TRUE(rows[6].starts_with("fair,greedy,1,3000,0.1667,")) << rows[6];
}

TEST_F(Experiments, HowSteadyTheMachineIsIsTabledAndDrawn) {
  const auto rows = rows_of({"steadiness"});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], "core,slow,times,stretch_ms,longest_ms");
  EXPECT_TRUE(rows[1].starts_with("alone,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("beside,")) << rows[2];
  expect_figure_of({">by itself<", ">beside a busy core<"});
}

/// `fairgv bench` itself has a --help, which must not answer for the experiments that it starts.
TEST_F(Experiments, EachTellsItsOwnOptions) {
  const auto list = harness::run({{harness::beside("fairgv"), "bench"}, {}});
  ASSERT_TRUE(list && !list->lines.empty());
  std::istringstream names(list->lines[0].substr(list->lines[0].find(':') + 1));
  int count = 0;
  for (std::string name; names >> name; ++count) {
    if (name.back() == ',') name.pop_back();
    const auto help = harness::run({{harness::beside("fairgv"), "bench", name, "--help"}, {}});
    ASSERT_TRUE(help);
    EXPECT_EQ(help->status, 0) << name;
    const bool names_itself =
        std::any_of(help->lines.begin(), help->lines.end(),
                    [&](const std::string& line) { return line.starts_with("Usage: fairgv bench " + name); });
    EXPECT_TRUE(names_itself) << name;
  }
  EXPECT_GE(count, 20);
  const auto own = harness::run({{harness::beside("fairgv"), "bench", "--help"}, {}});
  ASSERT_TRUE(own);
  EXPECT_EQ(own->status, 0);
}

TEST_F(Experiments, RefuseWhatTheyCannotDoBeforeTheyMeasure) {
  for (const char* name : {"fair3", "mixed", "conserve"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(status_of({name, "--policies", "lottery"}), 2);
    EXPECT_EQ(status_of({name, "--seconds", "-1"}), 2);
    EXPECT_EQ(status_of({name, "--device-cores", "1000000"}), 2);
    EXPECT_EQ(status_of({name, "--csv", folder / "none" / "table.csv"}), 2);
    EXPECT_EQ(status_of({name, "--figure", folder / "figure.txt"}), 2);
  }
  for (const char* name : {"conserve", "crowd", "fair3", "latency", "mixed", "promises", "unfair"}) {
    EXPECT_EQ(status_of({name, "--devices", "0"}), 2) << name;
    EXPECT_EQ(status_of({name, "--devices", "17"}), 2) << name;
  }
  // Refused where the workloads in CUDA were not built, too.
  for (const char* name : {"conserve", "fair3", "mixed"}) {
    EXPECT_EQ(status_of({name, "--devices", "2", "--api", "cuda"}), 2) << name;
  }
  EXPECT_EQ(status_of({"share", "--policy", "lottery"}), 2);
  EXPECT_EQ(status_of({"mixed", "--programs", "solitaire"}), 2);
  EXPECT_EQ(status_of({"conserve", "--sleep-ratios", "0.99"}), 2);
}

}  // namespace
}  // namespace fairgv::integration
