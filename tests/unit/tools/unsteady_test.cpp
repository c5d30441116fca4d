// tools/unsteady: the tests that pass only when run again and yet fail a run, and the record that it keeps.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/tools/shell.hpp"

namespace fairgv::tools {
namespace {

const std::string kUnsteady = FAIRGV_SOURCE_DIR "/tools/unsteady";

class Unsteady : public ::testing::Test {
 protected:
  using Names = std::vector<std::string>;

  /// The end of ctest's output: tests that did not run, and tests that failed.
  static std::string log_of(const Names& failed) {
    std::string text =
        " 1/3 Test #1: A.One ...***Failed 0.1 sec\n66% tests passed, 1 tests failed out of 3\n\n";
    text += "The following tests did not run:\n\t  3 - Skipped.Test (Skipped)\n\n";
    if (failed.empty()) return text;
    text += "The following tests FAILED:\n";
    for (const std::string& name : failed) text += "\t  1 - " + name + " (Failed)\n";
    return text + "Errors while running CTest\n\t  9 - No.Test (Failed)\n";
  }

  /// One run of the tests: the tests that failed, and those of them that failed again.
  Shown run(const Names& failed, const Names& again = {}) {
    folder.write("first.log", log_of(failed));
    folder.write("again.log", log_of(again));
    return judge(failed.empty() ? "first.log" : "first.log again.log");
  }
  Shown judge(const std::string& logs) {
    // Not with a Python that looks for its versions below HOME.
    return in_shell("cd " + folder.path().string() + " && PATH=/usr/bin:/bin " + kUnsteady +
                    " memory.jsonl known.txt " + logs);
  }
  std::size_t remembered() { return in_shell("cat " + (folder / "memory.jsonl").string()).lines.size(); }
  void know(const std::string& lines) { folder.write("known.txt", lines); }

  void SetUp() override { know("# nothing\n"); }

  harness::TemporaryFolder folder;
};

TEST_F(Unsteady, ARunWithoutFailuresPassesAndIsRemembered) {
  const Shown shown = run({});
  EXPECT_EQ(shown.status, 0) << shown.text;
  EXPECT_EQ(shown.text, "");
  EXPECT_EQ(remembered(), 1U);
}

TEST_F(Unsteady, AFirstRunNamesUnsteadyTestsAndPasses) {
  const Shown first = run({"A.One"});
  EXPECT_EQ(first.status, 0);
  EXPECT_EQ(first.text, "unsteady: A.One passed only when run again: cause unknown\n");
  EXPECT_EQ(run({"A.One"}).status, 1) << "it is unsteady in two runs now";
}

TEST_F(Unsteady, ANewUnsteadyTestFailsTheRunAtOnce) {
  EXPECT_EQ(run({}).status, 0);
  const Shown shown = run({"A.One"});
  EXPECT_EQ(shown.status, 1);
  EXPECT_NE(shown.text.find("unsteady: A.One is new: find its cause and mend it\n"), std::string::npos)
      << shown.text;
}

TEST_F(Unsteady, AKnownUnsteadyTestIsNamedWithItsCauseAndPasses) {
  know("A.One the driver forgets an event\n");
  const Shown shown = run({"A.One"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.text, "unsteady: A.One passed only when run again: the driver forgets an event\n");
}

TEST_F(Unsteady, AKnownTestThatIsUnsteadyTwiceInTenRunsFailsTheRun) {
  know("A.One the driver forgets an event\n");
  EXPECT_EQ(run({"A.One"}).status, 0);
  for (int between = 0; between < 8; ++between) EXPECT_EQ(run({}).status, 0);
  const Shown tenth = run({"A.One"});
  EXPECT_EQ(tenth.status, 1);
  EXPECT_NE(tenth.text.find("A.One was unsteady in 2 of the last 10 runs: mend it"), std::string::npos)
      << tenth.text;
}

TEST_F(Unsteady, TheEleventhRunHasForgottenTheFirst) {
  know("A.One the driver forgets an event\n");
  EXPECT_EQ(run({"A.One"}).status, 0);
  for (int between = 0; between < 9; ++between) EXPECT_EQ(run({}).status, 0);
  EXPECT_EQ(run({"A.One"}).status, 0);
  EXPECT_EQ(remembered(), 10U);
}

TEST_F(Unsteady, ATestThatFailsTwiceInARunIsNotUnsteady) {
  const Shown shown = run({"A.One", "B.Two"}, {"A.One", "B.Two"});
  EXPECT_EQ(shown.status, 0) << "ctest's own status fails that run: " << shown.text;
  EXPECT_EQ(shown.text, "");
}

TEST_F(Unsteady, ATestIsKnownByItsNameWithoutItsParameter) {
  know("Each/A.One/X the driver forgets an event\n");
  EXPECT_EQ(run({"Each/A.One/X  # GetParam() = 1000ns"}).status, 0);
}

TEST_F(Unsteady, FilesThatCannotBeUsedAreNamedInOneLine) {
  know("A.One\n");
  EXPECT_EQ(run({}).text, "unsteady: known.txt:1: A.One has no cause: write it behind the name\n");
  know("");
  folder.write("memory.jsonl", "{\"commit\":\"a\",\"unsteady\":[]}\n{\n");
  EXPECT_EQ(run({}).text,
            "unsteady: memory.jsonl:2: this is no run of the tests: remove the file, and all its runs are "
            "forgotten\n");
  folder.write("cut.log", " 1/3 Test #1: A.One ...***Failed\n");
  const Shown cut = judge("cut.log");
  EXPECT_EQ(cut.text, "unsteady: cut.log: ctest did not come to its end\n");
  EXPECT_EQ(cut.status, 2);
  EXPECT_EQ(judge("no.log").text, "unsteady: cannot read no.log: No such file or directory\n");
}

TEST_F(Unsteady, TheListOfTheTreeCanBeRead) {
  folder.write("first.log", log_of({}));
  const Shown shown = in_shell("cd " + folder.path().string() + " && PATH=/usr/bin:/bin " + kUnsteady +
                               " memory.jsonl " FAIRGV_SOURCE_DIR "/tests/unsteady.txt first.log");
  EXPECT_EQ(shown.status, 0) << shown.text;
}

}  // namespace
}  // namespace fairgv::tools
