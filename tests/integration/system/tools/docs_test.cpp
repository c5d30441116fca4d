// The commands in the pages of docs/ work as printed: every block that is marked "sh run" runs beside a
// daemon of the page's own on which alice computes.
#include <filesystem>
#include <fstream>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

namespace fs = std::filesystem;

/// The page's blocks that are marked to be run.
std::vector<std::string> runnable_blocks(const fs::path& page) {
  std::ifstream in(page);
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside = !inside && line == "```sh run";
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += line + '\n';
    }
  }
  return blocks;
}

struct Docs : System {
  /// Runs the block as a script that ends at the first command that fails, in a folder of its own.
  int run_block(std::string block) const {
    const std::string program = "./my_program";
    const std::string one_of_ours = workload("matrixMul") + " --repetitions 3";
    for (auto at = block.find(program); at != std::string::npos;
         at = block.find(program, at + one_of_ours.size())) {
      block.replace(at, program.size(), one_of_ours);
    }
    const fs::path socket = tenancy->socket();
    const std::string programs = fs::path(harness::beside("fairgv")).parent_path();
    const auto finished =
        harness::run({{"/bin/sh", "-ec",
                       "PATH=" + programs + ":$PATH; cd '" + socket.parent_path().string() + "'\n" + block},
                      {{"FAIRGV_SOCKET", socket}}});
    EXPECT_TRUE(finished);
    return finished ? finished->status : -1;
  }
};

TEST_F(Docs, CommandsThatAreMarkedWork) {
  std::size_t run = 0;
  for (const auto& page : fs::recursive_directory_iterator(FAIRGV_SOURCE_DIR "/docs")) {
    const auto blocks = runnable_blocks(page.path());
    if (page.path().extension() != ".md" || blocks.empty()) continue;
    start_daemon({});
    auto alice = start_long_program("alice");
    ASSERT_TRUE(progresses(alice));
    for (const std::string& block : blocks) {
      if (!FAIRGV_BENCHMARKS && block.find("fairgv bench ") != std::string::npos) continue;
      ++run;
      EXPECT_EQ(run_block(block), 0) << page.path() << '\n' << block;
    }
  }
  EXPECT_GE(run, 6U);
}

}  // namespace
}  // namespace fairgv::integration
