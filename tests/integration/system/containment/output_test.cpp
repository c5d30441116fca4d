// A kernel that writes anything to the worker's open files: the daemon's log stays a log.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct HostileOutput : System {
  /// Runs a kernel that does its worst with descriptors 0 to 2, and writes the text `times` times to standard
  /// error.
  void print(const std::string& text, int times) {
    auto program = harness::Child::start(tenancy->tenant(
        "mallory", 1, {harness::beside("opencl_breakout"), "print", text, std::to_string(times)}));
    ASSERT_TRUE(program);
    ASSERT_TRUE(progresses(program.value())) << "the kernel waits for ever in its print";
    const auto destroyed = std::move(program).value();
  }

  std::string log_text() const {
    std::ifstream file(std::filesystem::path(tenancy->socket()).replace_extension("log"));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::vector<std::string> log_lines() const {
    std::istringstream text(log_text());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  static std::size_t count(const std::vector<std::string>& lines, const std::string& words) {
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(words) != std::string::npos;
    }));
  }

  bool has_ended() {
    return eventually([&] { return sessions_of("mallory") == 0 && count(log_lines(), "mallory ends") == 1; });
  }
};

TEST_F(HostileOutput, IsLoggedAsLinesOfItsSessionAndNothingElse) {
  ASSERT_TRUE(eventually([&] { return !log_text().empty(); }));  // the daemon serves before it has written
  const std::string before = log_text();
  print(
      "<0>\x1b]0;owned\x07\x1b[2J\xff\xc2\x9b"
      "31m\n2026-01-01 00:00:00.000 info: forged\n" +
          std::string(5'000, 'x') + "\n",
      1);
  ASSERT_TRUE(has_ended());
  EXPECT_TRUE(log_text().starts_with(before)) << "the log was cut or written over";
  const std::regex line("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]{12} (info|warning|error): .+");
  for (const std::string& each : log_lines()) {
    EXPECT_TRUE(std::regex_match(each.substr(0, 60), line)) << each;
    EXPECT_LT(each.size(), 1'200u);
    for (const char character : each) EXPECT_TRUE(character >= ' ' && character <= '~') << each;
  }
  EXPECT_EQ(count(log_lines(), "of tenant mallory: its worker says: ?]0;owned??[2J"), 1u);
  EXPECT_EQ(count(log_lines(), "of tenant mallory: its worker says: 2026-01-01 00:00:00.000 info: forged"),
            1u);
}

TEST_F(HostileOutput, ThatFloodsIsCountedAndKeepsNobodyWaiting) {
  constexpr int kLines = 300'000;
  print("flood\n", kLines);
  ASSERT_TRUE(has_ended());
  // The last lines come when the worker is dead.
  EXPECT_TRUE(eventually([&] { return count(log_lines(), " lines left out)") >= 1; }));
  EXPECT_LT(count(log_lines(), "its worker says: flood"), 200u);
}

}  // namespace
}  // namespace fairgv::integration
