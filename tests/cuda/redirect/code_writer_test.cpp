// Changing loaded code: what is written, which protection is left, and what happens where the system forbids
// it.
#include "cuda-shim/redirect/code_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "runtime/base/handle.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::redirect {
namespace {

#ifndef PR_SET_MDWE
constexpr int PR_SET_MDWE = 65;
#endif

/// A file of two pages, mapped as code: on the second page a function that returns 1.
struct RedirectCode : ::testing::Test {
  void SetUp() override {
    std::string content(2 * page_, '\xcc');
    const char function[] = "\xb8\x01\x00\x00\x00\xc3";  // mov eax, 1; ret
    content.replace(page_ + kOffset, sizeof function - 1, function, sizeof function - 1);
    std::ofstream(folder_ / "code", std::ios::binary) << content;
    file_ = UniqueFd(::open((folder_ / "code").c_str(), O_RDONLY | O_CLOEXEC));
    void* const mapped = ::mmap(nullptr, 2 * page_, PROT_READ | PROT_EXEC, MAP_PRIVATE, file_.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    begin_ = reinterpret_cast<std::uintptr_t>(mapped);
  }
  ~RedirectCode() override { ::munmap(reinterpret_cast<void*>(begin_), 2 * page_); }

  CodeMapping mapping() const { return {begin_, begin_ + 2 * page_, PROT_READ | PROT_EXEC, file_.get(), 0}; }
  /// mov eax, `value`
  CodeChange change_to(int value) const {
    return {function_address(), {std::byte{0xb8}, static_cast<std::byte>(value)}};
  }
  std::uintptr_t function_address() const { return begin_ + page_ + kOffset; }
  int call() const { return reinterpret_cast<int (*)()>(function_address())(); }

  /// As /proc/self/maps has it: "r-xp".
  std::string protection() const {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      std::uintptr_t begin = 0, end = 0;
      char dash = 0;
      std::string flags;
      std::istringstream(line) >> std::hex >> begin >> dash >> end >> flags;
      if (begin <= function_address() && function_address() < end) return flags;
    }
    return "none";
  }

 private:
  static constexpr std::size_t kOffset = 64;
  const std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const harness::TemporaryFolder folder_;
  UniqueFd file_;
  std::uintptr_t begin_ = 0;
};

TEST_F(RedirectCode, IsChangedAndHasItsProtectionAgain) {
  ASSERT_EQ(call(), 1);
  const std::vector<CodeChange> changes{change_to(7)};
  EXPECT_EQ(write_code(changes, mapping()), "");
  EXPECT_EQ(call(), 7);
  EXPECT_EQ(protection(), "r-xp");
}

TEST_F(RedirectCode, OutsideOfTheMappingIsNotTouched) {
  CodeMapping first_page = mapping();
  first_page.end = first_page.begin + (first_page.end - first_page.begin) / 2;
  const std::vector<CodeChange> changes{change_to(7)};
  EXPECT_NE(write_code(changes, first_page), "");
  EXPECT_EQ(call(), 1);
  EXPECT_EQ(protection(), "r-xp");
}

TEST_F(RedirectCode, NoChangesAreNoFault) {
  EXPECT_EQ(write_code({}, mapping()), "");
}

// systemd's MemoryDenyWriteExecute: what was writable never becomes executable. The flag cannot be taken
// back, so that a child has it.
TEST_F(RedirectCode, StaysAsItWasWhereTheSystemForbidsToExecuteChangedCode) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a forked child of a sanitized process";
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    if (::prctl(PR_SET_MDWE, 1, 0, 0, 0) != 0) ::_exit(77);
    const std::vector<CodeChange> changes{change_to(7)};
    const bool refused = !write_code(changes, mapping()).empty();
    ::_exit(refused && call() == 1 && protection() == "r-xp" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this kernel has no PR_SET_MDWE";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace fairgv::redirect
