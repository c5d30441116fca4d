// A tenant scribbles random bytes over all memory that it shares, again and again: the daemon serves on, the
// neighbour's results are right, the tenant's other sessions go on, every end is logged with its reason, and
// nothing is left behind.
#include <filesystem>
#include <regex>
#include <utility>

#include "tests/harness/seed.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

std::size_t entries(const std::string& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

struct Hostile : System {
  /// The lines of the daemon's log that match.
  std::vector<std::string> logged(const std::string& expression) const {
    std::ifstream log(std::filesystem::path(tenancy->socket()).replace_extension("log"));
    std::vector<std::string> found;
    for (std::string line; std::getline(log, line);) {
      if (std::regex_search(line, std::regex(expression))) found.push_back(line);
    }
    return found;
  }

  /// A neighbour that computes, verifies, and ends.
  void neighbour_computes() {
    const auto result = harness::run_measured(tenancy->tenant(
        "neighbour", 1, {workload("computeLoop"), "--repetitions", "20", "--verify", "always"}));
    EXPECT_TRUE(result) << result.error().message;
  }
};

TEST_F(Hostile, ATenantThatScribblesOverItsSegmentHurtsOnlyItsOwnSession) {
  constexpr int kRounds = FAIRGV_SANITIZED ? 50 : 100;
  const pid_t daemon = ps()["daemon"]["pid"];
  const std::string files = "/proc/" + std::to_string(daemon) + "/fd";
  neighbour_computes();
  // A session that is ending is not shown any more, but keeps its descriptors until its worker is reaped.
  const auto has_workers = [&] {
    std::ifstream children("/proc/" + std::to_string(daemon) + "/task/" + std::to_string(daemon) +
                           "/children");
    return children.peek() != std::ifstream::traits_type::eof();
  };
  ASSERT_TRUE(eventually([&] { return !has_workers(); }));
  // The daemon closes a reaped worker's descriptors, and its connection to `fairgv ps`, a moment later: wait
  // for a count that does not change.
  std::size_t files_before = entries(files);
  int looks_alike = 0;
  ASSERT_TRUE(eventually([&] {
    const std::size_t now = entries(files);
    looks_alike = now == std::exchange(files_before, now) ? looks_alike + 1 : 0;
    return looks_alike == 20;
  }));

  // The tenant's other session outlives the test.
  auto fellow = harness::Child::start(tenancy->tenant(
      "hostile", 1,
      {workload("computeLoop"), "--seconds", "3600", "--iterations", "200", "--progress-ms", "50"}));
  ASSERT_TRUE(fellow);
  ASSERT_TRUE(progresses(fellow.value()));
  auto hostile =
      harness::Child::start(tenancy->tenant("hostile", 1,
                                            {harness::beside("hostile"), "--rounds", std::to_string(kRounds),
                                             "--seed", std::to_string(harness::printed_seed() % 1'000'000)}));
  ASSERT_TRUE(hostile);
  std::string last_line;
  while (!hostile->ended()) {
    neighbour_computes();
    for (std::string& line : hostile->read_lines()) last_line = std::move(line);
  }
  EXPECT_EQ(hostile->wait(), 0);
  EXPECT_GE(harness::parse_line(last_line).value("rounds", 0), kRounds) << last_line;

  EXPECT_TRUE(progresses(fellow.value()));
  EXPECT_TRUE(eventually([&] { return sessions_of("hostile") == 1; }));
  ::kill(fellow->pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return sessions_of("hostile") == 0; }));
  EXPECT_EQ(ps()["daemon"]["pid"], daemon);
  EXPECT_TRUE(eventually([&] { return entries(files) == files_before; }))
      << entries(files) << " instead of " << files_before;
  EXPECT_EQ(logged("session [0-9]+: tenant hostile").size(),
            logged("session [0-9]+ of tenant hostile ends: .+").size());
}

}  // namespace
}  // namespace fairgv::integration
