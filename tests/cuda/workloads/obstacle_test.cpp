// `fairgv run` and `fairgv env` with CUDA programs, and their messages about programs that would not be
// tenants.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/harness/temporary_folder.hpp"
#include "tests/harness/tenancy.hpp"
#include "tools/fairgv/run/cuda_program.hpp"

namespace fairgv::tools {
namespace {

namespace fs = std::filesystem;

struct Obstacle : ::testing::Test {
  static void expect_mentions(const std::optional<std::string>& line,
                              std::initializer_list<const char*> words) {
    ASSERT_TRUE(line);
    EXPECT_EQ(line->find('\n'), std::string::npos) << *line;
    for (const char* word : words) EXPECT_NE(line->find(word), std::string::npos) << *line;
  }

  const harness::TemporaryFolder folder;
};

TEST_F(Obstacle, ProgramsThatAreNotForCudaAndScriptsAreFine) {
  const fs::path script = folder / "script";
  std::ofstream(script) << "#!/bin/sh\nexec nvidia-smi\n";
  fs::permissions(script, fs::perms::owner_all);
  for (const std::string& program : {std::string("true"), std::string("/bin/sh"), script.string(),
                                     std::string("no-such-program"), folder.path().string()}) {
    EXPECT_FALSE(cuda_obstacle(program, FAIRGV_CUDA_DIR)) << program;
  }
}

TEST_F(Obstacle, AnEmbeddedRuntimeIsFineWhereTheLibraryThatReplacesItCanBePreloaded) {
  if (!FAIRGV_HAS_NVCC) GTEST_SKIP() << "nvcc is not here";
  EXPECT_FALSE(cuda_obstacle(FAIRGV_PROGRAM_DIR "/samples", FAIRGV_CUDA_DIR));
  EXPECT_FALSE(cuda_obstacle(FAIRGV_PROGRAM_DIR "/embedded", FAIRGV_CUDA_DIR));
  expect_mentions(cuda_obstacle(FAIRGV_PROGRAM_DIR "/embedded", folder.path()),
                  {"/embedded", "-cudart shared", "LD_PRELOAD"});
}

TEST_F(Obstacle, AProgramThatIsWhollyStaticIsNamed) {
  if (!FAIRGV_HAS_NVCC) GTEST_SKIP() << "nvcc is not here";
  // The same file without the name of its dynamic linker.
  std::ostringstream content;
  content << std::ifstream(FAIRGV_PROGRAM_DIR "/embedded", std::ios::binary).rdbuf();
  std::string program = std::move(content).str();
  Elf64_Ehdr header;
  std::memcpy(&header, program.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, program.data() + at, sizeof segment);
    if (segment.p_type == PT_INTERP) segment.p_type = PT_NULL;
    std::memcpy(program.data() + at, &segment, sizeof segment);
  }
  std::ofstream(folder / "static", std::ios::binary) << program;
  expect_mentions(cuda_obstacle(folder / "static", FAIRGV_CUDA_DIR), {"/static", "-static"});
}

TEST_F(Obstacle, AProgramIsLookedForInThePathAsItIsStarted) {
  fs::copy_file(FAIRGV_NAMED_BY_PATH, folder / "only-here");
  const char* const path = std::getenv("PATH");
  const std::string before = path != nullptr ? path : "";
  ::setenv("PATH", (before + ":" + folder.path().string()).c_str(), 1);
  expect_mentions(cuda_obstacle("only-here", FAIRGV_CUDA_DIR), {"only-here", "by its path"});
  ::setenv("PATH", before.c_str(), 1);
}

TEST_F(Obstacle, ADriverNamedByItsPathIsNamed) {
  expect_mentions(cuda_obstacle(FAIRGV_NAMED_BY_PATH, FAIRGV_CUDA_DIR), {"libcuda.so.1", "by its path"});
}

TEST_F(Obstacle, AnRpathThatLeadsElsewhereIsNamedAndOneToOurLibrariesIsFine) {
  EXPECT_FALSE(cuda_obstacle(FAIRGV_WITH_RPATH, FAIRGV_CUDA_DIR));
  expect_mentions(cuda_obstacle(FAIRGV_WITH_RPATH, folder.path()),
                  {"RPATH", FAIRGV_CUDA_DIR, "--enable-new-dtags"});
}

TEST_F(Obstacle, ARunpathIsFineBecauseItComesAfterOurFolder) {
  EXPECT_FALSE(cuda_obstacle(FAIRGV_WITH_RUNPATH, folder.path()));
}

TEST_F(Obstacle, ASetUidProgramOfAnotherUserIsNamed) {
  if (::getuid() != 0) GTEST_SKIP() << "only root gives a program to another user";
  const fs::path program = folder / "privileged";
  fs::copy_file(FAIRGV_WITH_RUNPATH, program);
  ASSERT_EQ(::chown(program.c_str(), 65'534, 65'534), 0);
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  expect_mentions(cuda_obstacle(program, FAIRGV_CUDA_DIR), {"set-uid", "LD_LIBRARY_PATH", "LD_PRELOAD"});
  ASSERT_EQ(::chown(program.c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  EXPECT_FALSE(cuda_obstacle(program, FAIRGV_CUDA_DIR));  // the user who starts it owns it
}

TEST_F(Obstacle, ThePathBeginsWithOurFolderOnceAndKeepsWhatItHad) {
  EXPECT_EQ(library_path("/ours", nullptr), "/ours");
  EXPECT_EQ(library_path("/ours", ""), "/ours");
  EXPECT_EQ(library_path("/ours", "/a:/b"), "/ours:/a:/b");
  EXPECT_EQ(library_path("/ours", "/ours"), "/ours");
  EXPECT_EQ(library_path("/ours", "/ours:/a"), "/ours:/a");
  EXPECT_EQ(library_path("/ours", "/ours2:/a"), "/ours:/ours2:/a");
}

TEST_F(Obstacle, OursIsPreloadedOnceAndBehindTheUsersOwn) {
  const std::string ours = folder / "libfairgv-cudart-preload.so";
  EXPECT_FALSE(preload_path(folder.path(), nullptr));  // it is not there
  std::ofstream{ours};
  EXPECT_EQ(preload_path(folder.path(), nullptr), ours);
  EXPECT_EQ(preload_path(folder.path(), ""), ours);
  EXPECT_EQ(preload_path(folder.path(), "libasan.so.8"), "libasan.so.8:" + ours);
  for (const std::string& before : {ours, "a.so:" + ours, ours + " b.so", "a.so " + ours + ":b.so"})
    EXPECT_EQ(preload_path(folder.path(), before.c_str()), before);
  EXPECT_EQ(preload_path(folder.path(), (ours + ".old").c_str()), ours + ".old:" + ours);
  const fs::path spaced = folder / "with a space";
  fs::create_directory(spaced);
  std::ofstream{spaced / "libfairgv-cudart-preload.so"};
  EXPECT_FALSE(preload_path(spaced, nullptr));
}

/// FairGV's programs in a tree of their own, with the CUDA libraries in `place` or nowhere.
struct Tree : Obstacle {
  void install(const std::string& place) const {
    fs::create_directories(folder / "bin");
    fs::create_directories(folder / "lib/fairgv/vendors");
    fs::copy_file(FAIRGV_COMMAND, folder / "bin/fairgv");
    const fs::path front_end = folder / "lib/libfairgv-opencl.so";
    std::ofstream{front_end};
    std::ofstream(folder / "lib/fairgv/vendors/fairgv.icd") << front_end.string() << '\n';
    if (place.empty()) return;
    fs::create_directories(folder / place);
    fs::copy_file(FAIRGV_SOFTCUDA, folder / place / "libcuda.so.1");
    std::ofstream{folder / place / "libfairgv-cudart-preload.so"};
  }

  /// The value that `fairgv env` gives the variable, whose value was `own`.
  std::string exported(const std::string& variable, const char* own) const {
    const auto finished =
        harness::run({{folder / "bin/fairgv", "env"},
                      {{variable, own != nullptr ? std::optional<std::string>(own) : std::nullopt}}});
    EXPECT_TRUE(finished && finished->status == 0);
    for (const std::string& line : finished->lines) {
      if (line.starts_with("export " + variable + "=")) return line.substr(line.find('=') + 1);
    }
    return "none";
  }

  std::string exported_path(const char* own) const { return exported("LD_LIBRARY_PATH", own); }
};

TEST_F(Tree, EnvLeadsCudaProgramsToTheLibrariesOfTheBuildTree) {
  install("lib/cuda");
  EXPECT_EQ(exported_path(nullptr), "'" + (folder / "lib/cuda").string() + "'");
  EXPECT_EQ(exported_path("/own"), "'" + (folder / "lib/cuda").string() + ":/own'");
}

TEST_F(Tree, EnvLeadsCudaProgramsToTheInstalledLibraries) {
  install("lib/fairgv/cuda");
  EXPECT_EQ(exported_path(nullptr), "'" + (folder / "lib/fairgv/cuda").string() + "'");
}

TEST_F(Tree, EnvPreloadsTheLibraryBesideThem) {
  install("lib/cuda");
  EXPECT_EQ(exported("LD_PRELOAD", nullptr),
            "'" + (folder / "lib/cuda/libfairgv-cudart-preload.so").string() + "'");
}

TEST_F(Tree, EnvLeavesThePathAloneWhereFairgvWasBuiltWithoutCuda) {
  install("");
  EXPECT_EQ(exported_path(nullptr), "none");
  EXPECT_EQ(exported("LD_PRELOAD", nullptr), "none");
}

}  // namespace
}  // namespace fairgv::tools
