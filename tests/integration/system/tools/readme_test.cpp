// The commands in the README work as printed.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

/// Lines of the README's blocks of this kind.
std::vector<std::string> block_lines(const std::string& kind) {
  std::ifstream readme(std::string(FAIRGV_SOURCE_DIR) + "/README.md");
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("```")) {
      inside = line == "```" + kind;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// Lines of the README's shell examples that begin with `word`, without their comments.
std::vector<std::string> examples(const std::string& word) {
  std::vector<std::string> lines;
  for (std::string line : block_lines("sh")) {
    if (!line.starts_with(word)) continue;
    line.erase(std::min(line.size(), line.find("  #")));
    lines.push_back(line);
  }
  return lines;
}

struct Readme : System {
  /// Runs a line of the README in a shell that finds our programs first, and our daemon by the environment.
  int run_line(std::string line) {
    if (const auto at = line.find("./my_program"); at != std::string::npos) {
      line.replace(at, 12, workload("matrixMul") + " --repetitions 3");
    }
    const std::string folder = std::filesystem::path(harness::beside("fairgv")).parent_path();
    const auto finished = harness::run(
        {{"/bin/sh", "-c", "PATH=" + folder + ":$PATH; " + line}, {{"FAIRGV_SOCKET", tenancy->socket()}}});
    EXPECT_TRUE(finished);
    return finished->status;
  }
};

TEST_F(Readme, CommandsOfFairgvWork) {
  auto alice = start_long_program("alice");  // the README changes her weight "while it runs"
  ASSERT_TRUE(progresses(alice));
  const auto lines = examples("fairgv ");
  ASSERT_GE(lines.size(), 4u);
  for (const std::string& line : lines) {
    if (!FAIRGV_BENCHMARKS && line.starts_with("fairgv bench")) continue;
    EXPECT_EQ(run_line(line), 0) << line;
  }
  EXPECT_EQ(tenant("alice")["weight"], 4);
}

/// The lines of tools/tour that a reader types.
std::string tour() {
  const auto printed = harness::run({{std::string(FAIRGV_SOURCE_DIR) + "/tools/tour"}, {}});
  EXPECT_TRUE(printed);
  std::string lines;
  for (const std::string& line : printed->lines)
    if (line.starts_with("    ")) lines += line.substr(4) + '\n';
  return lines;
}

/// The README's terminal: the typed lines, and their output.
std::string typed_in_the_readme() {
  std::string typed;
  for (const std::string& line : block_lines("console"))
    if (line.starts_with("$ ")) typed += line.substr(2) + '\n';
  return typed;
}

TEST_F(Readme, TheTourAfterTheQuickstartCanBeTyped) {
  std::string typed = tour();
  EXPECT_EQ(typed.substr(typed.find('\n') + 1), typed_in_the_readme())
      << "the README shows the same commands";
  ASSERT_EQ(std::count(typed.begin(), typed.end(), '\n'), 4) << typed;
  ASSERT_TRUE(typed.ends_with("fairgv ps\n")) << typed;
  // The programs were just built, perhaps not in the folder of tools/quickstart. All lines come at once, as
  // when pasted, and no daemon is there yet.
  const std::string folder = std::filesystem::path(harness::beside("fairgv")).parent_path();
  typed = "PATH=" + folder + ":" + folder + "/workloads:$PATH\n" + typed.substr(typed.find('\n') + 1);
  typed +=
      "fairgv kill alice >/dev/null; fairgv kill bob >/dev/null; kill %1 %2 2>/dev/null; wait; fairgv stop";
  const harness::TemporaryFolder own;
  const auto shown = harness::run({{"/bin/bash", "-c", typed}, {{"FAIRGV_SOCKET", own / "fairgvd.sock"}}});
  ASSERT_TRUE(shown);
  const auto has = [&](const std::string& text) {
    return std::any_of(shown->lines.begin(), shown->lines.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(has("  alice ") && has("75.0%")) << "alice is due three quarters";
  EXPECT_TRUE(has("  bob ") && has("25.0%"));
  EXPECT_TRUE(has("matrixMul"));
  for (const std::string& line : block_lines("console")) {
    const bool titles = line.find(" due ") != std::string::npos || line.find(" user ") != std::string::npos;
    EXPECT_TRUE(!titles || has(line)) << "the README shows columns that ps has: " << line;
  }
}

TEST_F(Readme, NamesScriptsThatExist) {
  const auto lines = examples("tools/");
  ASSERT_EQ(lines.size(), 2u);
  for (const std::string& line : lines) {
    EXPECT_EQ(::access((std::string(FAIRGV_SOURCE_DIR) + "/" + line).c_str(), X_OK), 0) << line;
  }
}

}  // namespace
}  // namespace fairgv::integration
