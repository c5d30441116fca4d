// The bytes that are written into a loaded library with a runtime, and what its functions do afterwards.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <string_view>

#include "cuda-shim/redirect/redirection.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::redirect {
namespace {

int replaced_version(int* version) {
  *version = 13'770;
  return 0;
}

int replaced_call() {
  return 100;
}

std::uintptr_t replacement(std::string_view name) {
  if (name == "cudaRuntimeGetVersion") return std::bit_cast<std::uintptr_t>(&replaced_version);
  if (name == "cudaOfTheProgram") return 0;
  return std::bit_cast<std::uintptr_t>(&replaced_call);
}

/// A lookalike of its own for each test, loaded here.
struct RedirectPlan : ::testing::Test {
  void SetUp() override {
    std::filesystem::copy_file(FAIRGV_LOOKALIKE_13, folder_ / "lookalike.so");
    library_ = ::dlopen((folder_ / "lookalike.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    const auto address = reinterpret_cast<std::uintptr_t>(::dlsym(library_, "lookalike_version"));
    for (const LoadedObject& object : loaded_objects())
      if (object.contains(address)) object_ = object;
    auto opened = ObjectFile::open(object_);
    ASSERT_TRUE(opened);
    file_.emplace(std::move(*opened));
    runtime_ = find_static_runtime(file_->image());
    ASSERT_EQ(runtime_.kind, StaticRuntime::Kind::kFound);
  }
  ~RedirectPlan() override {
    if (library_ != nullptr) ::dlclose(library_);
  }

  int call(const char* function) const { return reinterpret_cast<int (*)()>(::dlsym(library_, function))(); }

  void write(const Redirection& redirection) const {
    ASSERT_FALSE(redirection.changes.empty());
    const auto mapping = file_->mapping_of(object_, redirection.changes.front().address);
    ASSERT_TRUE(mapping);
    ASSERT_EQ(write_code(redirection.changes, *mapping), "");
  }

  const harness::TemporaryFolder folder_;
  void* library_ = nullptr;
  LoadedObject object_;
  std::optional<ObjectFile> file_;
  StaticRuntime runtime_;
};

TEST_F(RedirectPlan, FunctionsWithRoomGoToTheirReplacements) {
  EXPECT_EQ(call("lookalike_version"), -1);
  write(plan(runtime_, object_, replacement));
  EXPECT_EQ(call("lookalike_version"), 13'770);
  EXPECT_EQ(call("lookalike_last_error"), 100);
  EXPECT_EQ(call("lookalike_reset"), 100);
}

TEST_F(RedirectPlan, AFunctionThatIsTooShortIsNamedAndStays) {
  const Redirection redirection = plan(runtime_, object_, replacement);
  EXPECT_EQ(redirection.left, (std::vector<std::string_view>{"cudaPeekAtLastError"}));
  write(redirection);
  EXPECT_EQ(call("lookalike_peek"), -1);
}

TEST_F(RedirectPlan, AFunctionWithoutAReplacementStays) {
  write(plan(runtime_, object_, replacement));
  EXPECT_EQ(call("lookalike_own"), -1);
}

TEST_F(RedirectPlan, WhatIsRedirectedIsNotRedirectedAgain) {
  write(plan(runtime_, object_, replacement));
  const Redirection again = plan(runtime_, object_, replacement);
  EXPECT_TRUE(again.changes.empty());
  EXPECT_EQ(again.left.size(), 1U);
}

TEST_F(RedirectPlan, CodeThatIsNotAsInTheFileStays) {
  write(plan(runtime_, object_, replacement));
  // Another library has been here before: its jumps lead elsewhere.
  const Redirection other = plan(
      runtime_, object_, [](std::string_view) { return std::bit_cast<std::uintptr_t>(&replaced_call) + 1; });
  EXPECT_GT(other.left.size(), 2U);
}

TEST_F(RedirectPlan, AddressesOutsideOfTheLoadedCodeAreNotRead) {
  StaticRuntime lost = runtime_;
  for (RuntimeFunction& function : lost.functions) function.address += std::uint64_t{1} << 40U;
  const Redirection redirection = plan(lost, object_, replacement);
  EXPECT_TRUE(redirection.changes.empty());
  EXPECT_FALSE(redirection.left.empty());
}

TEST_F(RedirectPlan, AFileThatIsNotTheLoadedOneIsNotBelieved) {
  LoadedObject other = object_;
  other.path = FAIRGV_LOOKALIKE_11;
  other.segments.front().p_memsz += 1;
  EXPECT_FALSE(ObjectFile::open(other));
  other.path = "/nowhere";
  EXPECT_FALSE(ObjectFile::open(other));
}

}  // namespace
}  // namespace fairgv::redirect
