// The output of `fairgv doctor`, whatever the machine holds.
#include "tools/fairgv/doctor/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/harness/seed.hpp"
#include "tests/unit/doctor/machine.hpp"

namespace fairgv::tools::doctor {
namespace {

TEST(DoctorReport, OnlyWhatIsWrongMakesTheCommandFail) {
  EXPECT_EQ(exit_status({}), 0);
  EXPECT_EQ(exit_status({ok("a", "b"), note("c", "d", "e")}), 0);
  EXPECT_EQ(exit_status({ok("a", "b"), wrong("c", "d", "e"), ok("f", "g")}), 1);
}

TEST(DoctorReport, ALineSaysWhatToDo) {
  EXPECT_EQ(to_line(ok("kernel", "6.1")), "ok     kernel: 6.1");
  EXPECT_EQ(to_line(wrong("a\nb", "\x1b[31mred\x7f", "rm x")), "wrong  a?b: ?[31mred?. Do: rm x");
}

TEST(DoctorReport, JsonHasWhatTheLinesHave) {
  const auto list = nlohmann::json::parse(to_json({note("a\nb", "\xff", "c")}));
  EXPECT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["level"], "note");
  EXPECT_EQ(list[0]["subject"], "a\nb");
  EXPECT_EQ(list[0]["text"], "\xef\xbf\xbd");
  EXPECT_EQ(list[0]["remedy"], "c");
  EXPECT_EQ(to_json({}), "[]");
}

struct DoctorOnAnyMachine : PreparedMachine {
  std::mt19937_64 random{harness::printed_seed()};

  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  }
  /// Bytes as in files of /proc and /etc, and some others.
  std::string any_text() {
    constexpr std::string_view kBytes = "0123456789 \t\n:,-/[]\"=.xam\xff\x1b";
    std::string text;
    for (std::size_t left = below(60); left > 0; --left) text += kBytes[below(kBytes.size())];
    return text;
  }
};

TEST_F(DoctorOnAnyMachine, TheOneThatIsPreparedHasNothingWrong) {
  for (const Finding& finding : examine(examination))
    EXPECT_NE(finding.level, Level::wrong) << to_line(finding);
}

TEST_F(DoctorOnAnyMachine, EveryFindingIsOneLineAndSaysWhatToDoUnlessAllIsWell) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  const char* const kVariables[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES",
                                    "LD_LIBRARY_PATH", "LD_PRELOAD",         "FAIRGV_TENANT",
                                    "FAIRGV_WEIGHT",   "FAIRGV_SLICE"};
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 4; ++i) std::ofstream(files[below(files.size())]) << any_text();
    examination.machine.environment.clear();
    for (int i = 0; i < 2; ++i) set(kVariables[below(std::size(kVariables))], any_text());
    examination.settings.cores = any_text();
    const Findings findings = examine(examination);
    for (const Finding& finding : findings) {
      EXPECT_EQ(finding.remedy.empty(), finding.level == Level::ok) << to_line(finding);
      EXPECT_EQ(to_line(finding).find('\n'), std::string::npos);
    }
    EXPECT_EQ(nlohmann::json::parse(to_json(findings)).size(), findings.size());
  }
}

}  // namespace
}  // namespace fairgv::tools::doctor
