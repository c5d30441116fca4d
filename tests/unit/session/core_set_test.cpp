// Lists of cores: valid and invalid texts, and that threads go to the given cores.
#include "runtime/base/core_set.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace fairgv::session {
namespace {

std::vector<std::size_t> numbers(const cpu_set_t& cores) {
  std::vector<std::size_t> found;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) found.push_back(core);
  }
  return found;
}

TEST(CoreSet, ReadsWhatTheKernelWrites) {
  const auto read = [](const char* text) {
    const auto cores = parse_core_set(text);
    EXPECT_TRUE(cores) << text;
    return cores ? numbers(cores.value()) : std::vector<std::size_t>();
  };
  EXPECT_EQ(read("0"), (std::vector<std::size_t>{0}));
  EXPECT_EQ(read("0-2,5"), (std::vector<std::size_t>{0, 1, 2, 5}));
  EXPECT_EQ(read("7,3,3-4"), (std::vector<std::size_t>{3, 4, 7}));
  EXPECT_EQ(read("1023"), (std::vector<std::size_t>{1023}));
}

TEST(CoreSet, RefusesEverythingElse) {
  for (const char* text :
       {"", "a", "0-", "-1", "2-1", "0,", ",0", "0 1", "1024", "0-1024", "99999999999999999999"}) {
    const auto cores = parse_core_set(text);
    ASSERT_FALSE(cores) << text;
    EXPECT_EQ(cores.error().message,
              "'" + std::string(text) + "' is no list of cores such as \"0\" or \"0-3,8\"");
  }
}

TEST(CoreSet, OthersAreWhatIsLeft) {
  const auto all = parse_core_set("0-3");
  const auto some = parse_core_set("1,3,9");
  EXPECT_EQ(numbers(other_cores(all.value(), some.value())), (std::vector<std::size_t>{0, 2}));
}

TEST(CoreSet, ThreadsInheritWhereTheirMakerRuns) {
  const auto all = allowed_cores();
  ASSERT_TRUE(all);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(numbers(all.value()).front(), &one);
  std::thread([&] {
    ASSERT_TRUE(run_on(one));
    std::thread([&] { EXPECT_EQ(numbers(allowed_cores().value()), numbers(one)); }).join();
  }).join();
  EXPECT_EQ(numbers(allowed_cores().value()), numbers(all.value()));
}

}  // namespace
}  // namespace fairgv::session
