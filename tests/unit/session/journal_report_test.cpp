// The journal as people see it: its text.
#include "runtime/session/journal/journal_report.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace fairgv::session {
namespace {

TEST(JournalReports, ComeBackFromTheirText) {
  const JournalReport report{
      1234,
      false,
      5,
      {{1, "CreateContext", 0, 1, 40, {}, true}, {7, "CreateQueue", 3, 2, 48, {1, 6}, false}}};
  const auto read = parse_journal_report(to_text(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(read.value()), to_text(report));
  ASSERT_EQ(read->calls.size(), 2U);
  EXPECT_EQ(read->calls[1].name, "CreateQueue");
  EXPECT_EQ(read->calls[1].object, 3U);
  EXPECT_EQ(read->calls[1].generation, 2U);
  EXPECT_EQ(read->calls[1].needs, (std::vector<std::uint64_t>{1, 6}));
  EXPECT_TRUE(read->calls[0].released);
  EXPECT_EQ(read->left_out, 5U);
}

TEST(JournalReports, OfTheMostCallsFitIntoTheirFile) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  constexpr auto kMost32 = std::numeric_limits<std::uint32_t>::max();
  const std::string longest_name = "CudaSetFunctionAttributeAndMore";
  JournalReport report{kMost, true, kMost, {}};
  report.calls.assign(kMostReportedCalls, {kMost, longest_name, kMost32, kMost32, kMost, {}, true});
  report.calls.front().needs.assign(kMostReportedNeeds, kMost);
  const std::string text = to_text(report);
  EXPECT_LE(text.size(), kLongestJournalReport);
  EXPECT_TRUE(parse_journal_report(text));
}

TEST(JournalReports, WithFieldsThatAreNoneAreRefused) {
  for (const char* text :
       {"", "[]", "{}", R"({"bytes":1,"gave_up":false,"left_out":0})",
        R"({"bytes":1,"gave_up":false,"left_out":0,"calls":[{}]})",
        R"({"bytes":1,"gave_up":0,"left_out":0,"calls":[]})",
        R"({"bytes":-1,"gave_up":false,"left_out":0,"calls":[]})",
        R"({"bytes":1,"gave_up":false,"left_out":0,"calls":[{"number":1,"call":"A","object":1,"bytes":1,)"
        R"("generation":1,"needs":["x"]}]})"})
    EXPECT_FALSE(parse_journal_report(text)) << text;
}

}  // namespace
}  // namespace fairgv::session
