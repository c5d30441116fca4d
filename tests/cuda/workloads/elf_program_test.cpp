// The reading of programs' files, whatever they contain.
#include "tools/fairgv/run/elf_program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/harness/seed.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::tools {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct ElfProgramTest : ::testing::Test {
  std::string file_with(const std::string& bytes) const {
    std::ofstream(folder / "program", std::ios::binary) << bytes;
    return folder / "program";
  }

  const harness::TemporaryFolder folder;
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST_F(ElfProgramTest, SaysWhatTheLinkerIsToldOfLibrariesAndFolders) {
  const auto rpath = read_elf(FAIRGV_WITH_RPATH);
  ASSERT_TRUE(rpath);
  EXPECT_TRUE(contains(rpath->needed, "libcudart.so.13"));
  EXPECT_NE(rpath->rpath.find(FAIRGV_CUDA_DIR), std::string::npos) << rpath->rpath;
  EXPECT_EQ(rpath->runpath, "");
  EXPECT_FALSE(rpath->has_cuda_code);
  const auto runpath = read_elf(FAIRGV_WITH_RUNPATH);
  ASSERT_TRUE(runpath);
  EXPECT_EQ(runpath->rpath, "");
  EXPECT_NE(runpath->runpath.find(FAIRGV_CUDA_DIR), std::string::npos) << runpath->runpath;
}

TEST_F(ElfProgramTest, FindsTheKernelsThatNvccPutsIntoPrograms) {
  if (!FAIRGV_HAS_NVCC) GTEST_SKIP() << "nvcc is not here";
  const auto shared = read_elf(FAIRGV_PROGRAM_DIR "/samples");
  const auto embedded = read_elf(FAIRGV_PROGRAM_DIR "/embedded");
  ASSERT_TRUE(shared && embedded);
  EXPECT_TRUE(shared->has_cuda_code && embedded->has_cuda_code);
  EXPECT_TRUE(contains(shared->needed, "libcudart.so.13"));
  EXPECT_FALSE(contains(embedded->needed, "libcudart.so.13"));
}

TEST_F(ElfProgramTest, WhatIsNoProgramOfThisMachineIsNothing) {
  for (const std::string& file : {std::string("/dev/null"), std::string("/"), std::string("/nowhere"),
                                  file_with("#!/bin/sh\nexit 0\n"), file_with(""),
                                  file_with("\x7f"
                                            "ELF")}) {
    EXPECT_FALSE(read_elf(file)) << file;
  }
  std::string other = bytes_of(FAIRGV_WITH_RPATH);
  other[4] = 1;  // of 32 bits
  EXPECT_FALSE(read_elf(file_with(other)));
}

TEST_F(ElfProgramTest, ABrokenFileIsReadWithinItsBounds) {
  std::mt19937_64 random(harness::printed_seed());
  const std::string whole = bytes_of(FAIRGV_WITH_RPATH).substr(0, 200'000);
  for (int round = 0; round < 300; ++round) {
    std::string broken = whole;
    // The headers point elsewhere; any byte may have any value.
    for (int i = 0; i < 8; ++i) broken[5 + random() % 1'000] = static_cast<char>(random());
    if (round % 2 == 0) broken.resize(random() % broken.size());
    const auto read = read_elf(file_with(broken));
    if (!read) continue;
    for (const std::string& name : read->needed) EXPECT_LE(name.size(), broken.size());
  }
}

}  // namespace
}  // namespace fairgv::tools
