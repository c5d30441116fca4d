// The runtime that is linked into programs: which files have one, of which release, and where its functions
// are; whatever the files contain.
#include "cuda-shim/redirect/static_runtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "tests/harness/sanitized.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::redirect {
namespace {

using Kind = StaticRuntime::Kind;

std::string content_of(const std::string& file) {
  std::ostringstream content;
  content << std::ifstream(file, std::ios::binary).rdbuf();
  return std::move(content).str();
}

Bytes bytes_of(const std::string& content) {
  return std::as_bytes(std::span(content));
}

struct RedirectRuntime : ::testing::Test {
  /// Views into `content`.
  StaticRuntime found_in(const std::string& file) {
    content = content_of(file);
    const auto image = ElfImage::parse(bytes_of(content));
    EXPECT_TRUE(image) << file;
    return image ? find_static_runtime(*image) : StaticRuntime();
  }

  static const RuntimeFunction* function(const StaticRuntime& runtime, std::string_view name) {
    const auto found = std::find_if(runtime.functions.begin(), runtime.functions.end(),
                                    [&](const RuntimeFunction& each) { return each.name == name; });
    return found == runtime.functions.end() ? nullptr : &*found;
  }

  std::string content;
};

TEST_F(RedirectRuntime, IsFoundWithItsRelease) {
  const StaticRuntime of_12 = found_in(FAIRGV_LOOKALIKE_12);
  EXPECT_EQ(of_12.kind, Kind::kFound);
  EXPECT_EQ(of_12.release, 12);
  const StaticRuntime of_13 = found_in(FAIRGV_LOOKALIKE_13);
  EXPECT_EQ(of_13.kind, Kind::kFound);
  EXPECT_EQ(of_13.release, 13);
}

TEST_F(RedirectRuntime, OfAnotherReleaseIsNotTakenForOneOfOurs) {
  EXPECT_EQ(found_in(FAIRGV_LOOKALIKE_11).kind, Kind::kUnknown);
  EXPECT_EQ(found_in(FAIRGV_LOOKALIKE_14).kind, Kind::kUnknown);
}

TEST_F(RedirectRuntime, ReleasesAreToldByNamesAndByTheVersionIfThereIsOne) {
  const std::vector<RuntimeFunction> of_11{{"cudaThreadSynchronize", 0, {}}};
  const std::vector<RuntimeFunction> of_12{{"cudaGetDeviceProperties_v2", 0, {}},
                                           {"cudaThreadSynchronize", 0, {}}};
  EXPECT_EQ(release_of(of_11, std::nullopt), 0);
  EXPECT_EQ(release_of(of_12, std::nullopt), 12);
  EXPECT_EQ(release_of({}, std::nullopt), 13);
  EXPECT_EQ(release_of(of_12, 12'090), 12);
  EXPECT_EQ(release_of(of_12, 13'000), 0);
  EXPECT_EQ(release_of({}, 13'020), 13);
  EXPECT_EQ(release_of({}, 14'000), 0);
}

TEST_F(RedirectRuntime, FunctionsEndWithThePaddingBehindThem) {
  const StaticRuntime runtime = found_in(FAIRGV_LOOKALIKE_13);
  const auto size_of = [&](std::string_view name) {
    const RuntimeFunction* const found = function(runtime, name);
    return found != nullptr ? found->code.size() : 0;
  };
  EXPECT_EQ(size_of("cudaGetLastError"), 16U);    // four bytes, aligned to sixteen
  EXPECT_EQ(size_of("cudaPeekAtLastError"), 4U);  // the next one follows at once
  EXPECT_GT(size_of("cudaDeviceReset"), 30U);
  EXPECT_EQ(size_of("libcudart_static_1"), 0U) << "no name of the runtime";
}

TEST_F(RedirectRuntime, WithoutItsSymbolsIsRecognised) {
  EXPECT_EQ(found_in(FAIRGV_LOOKALIKE_STRIPPED).kind, Kind::kStripped);
}

TEST_F(RedirectRuntime, IsNotInSharedRuntimesAndOtherLibraries) {
  for (const char* file : {FAIRGV_CUDART_12, FAIRGV_CUDART_13, FAIRGV_SOFTCUDA, FAIRGV_COMMAND})
    EXPECT_EQ(found_in(file).kind, Kind::kNone) << file;
}

TEST_F(RedirectRuntime, InAProgramOfNvccHasAllFunctionsWithRoomForAJump) {
  if (!FAIRGV_HAS_PROGRAMS) GTEST_SKIP() << "nvcc is not here, or FairGV is sanitized";
  const StaticRuntime runtime = found_in(FAIRGV_STATIC_PROGRAM);
  EXPECT_EQ(runtime.kind, Kind::kFound);
  EXPECT_EQ(runtime.release, 13);
  EXPECT_GT(runtime.functions.size(), 400U);
  for (const RuntimeFunction& each : runtime.functions) EXPECT_GE(each.code.size(), 14U) << each.name;
}

TEST_F(RedirectRuntime, WhatIsNoProgramIsNoImage) {
  for (const std::string& text : {std::string(), std::string("#!/bin/sh\n"),
                                  std::string("\x7f"
                                              "ELF"),
                                  std::string(4096, '\0')})
    EXPECT_FALSE(ElfImage::parse(bytes_of(text)));
  std::string other = content_of(FAIRGV_LOOKALIKE_13);
  other[18] = 40;  // e_machine: of 32-bit ARM
  EXPECT_FALSE(ElfImage::parse(bytes_of(other)));
}

TEST_F(RedirectRuntime, ABrokenFileIsReadWithinItsBounds) {
  std::mt19937_64 random(harness::printed_seed());
  const std::string whole = content_of(FAIRGV_LOOKALIKE_13);
  const auto image = ElfImage::parse(bytes_of(whole));
  ASSERT_TRUE(image);
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  std::size_t found = 0;
  for (int round = 0; round < harness::rounds(2'000); ++round) {
    // On the heap to its last byte, so that AddressSanitizer sees every read beyond it.
    std::vector<char> broken(whole.begin(), whole.end());
    // Headers and tables of sections, and the tables that they lead to.
    for (int i = 0; i < 6; ++i) {
      const std::size_t at = random() % 3 == 0 ? random() % broken.size()
                             : random() % 2 == 0
                                 ? 5 + random() % (sizeof header - 5)
                                 : header.e_shoff + random() % (header.e_shnum * sizeof(Elf64_Shdr));
      if (at < broken.size()) broken[at] = static_cast<char>(random());
    }
    if (round % 4 == 0) broken.resize(random() % broken.size());
    broken.shrink_to_fit();
    const auto read = ElfImage::parse(std::as_bytes(std::span(broken)));
    if (!read) continue;
    const StaticRuntime runtime = find_static_runtime(*read);
    const auto* const begin = reinterpret_cast<const std::byte*>(broken.data());
    for (const RuntimeFunction& each : runtime.functions) {
      ++found;
      if (each.code.empty()) continue;
      ASSERT_GE(each.code.data(), begin);
      ASSERT_LE(each.code.data() + each.code.size(), begin + broken.size());
    }
  }
  EXPECT_GT(found, 0U) << "no broken file was read to its end";
}

}  // namespace
}  // namespace fairgv::redirect
