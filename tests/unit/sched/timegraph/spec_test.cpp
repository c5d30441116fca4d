// The specification file: TimeGraph, section 3.
#include "sched/policies/timegraph/spec.hpp"

#include <gtest/gtest.h>

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;
using Scheduling = TimeGraphTask::Scheduling;

const SpecEntry* only_entry(const Spec& spec) {
  EXPECT_TRUE(spec.errors.empty()) << spec.errors.front();
  EXPECT_EQ(spec.entries.size(), 1U);
  return spec.entries.empty() ? nullptr : &spec.entries.front();
}

TEST(Spec, ReadsNameSchedulingReservationPriorityCAndT) {
  const Spec spec = parse_spec("mplayer:PRT:PE:70:10000:40000\n", "f");
  const SpecEntry* entry = only_entry(spec);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->name, "mplayer");
  EXPECT_EQ(entry->task.scheduling, Scheduling::predictable);
  EXPECT_EQ(entry->task.enforcement, Enforcement::posterior);
  EXPECT_EQ(entry->task.priority, 70);
  EXPECT_FALSE(entry->task.automatic);
  EXPECT_EQ(entry->task.reserve, (Reservation{10ms, 40ms}));
}

TEST(Spec, AnAsteriskIsAnAutomaticPriority) {
  const Spec spec = parse_spec("game:HT:AE:*:5:10", "f");
  const SpecEntry* entry = only_entry(spec);
  ASSERT_NE(entry, nullptr);
  EXPECT_TRUE(entry->task.automatic);
  EXPECT_EQ(entry->task.scheduling, Scheduling::high_throughput);
  EXPECT_EQ(entry->task.enforcement, Enforcement::apriori);
}

TEST(Spec, WithoutAReserveCAndTAreNothing) {
  for (const char* line : {"a:HT:none:1:0:0", "a:HT:none:1:-:-", "a:HT:none:1::"}) {
    const Spec spec = parse_spec(line, "f");
    const SpecEntry* entry = only_entry(spec);
    ASSERT_NE(entry, nullptr) << line;
    EXPECT_EQ(entry->task.reserve, Reservation{}) << "not that of TenantAttributes::min";
  }
}

TEST(Spec, CommentsBlanksAndBlankLinesDoNotMatter) {
  const Spec spec = parse_spec("# all\n\n  a : PRT:none : 1:-:- # a\r\n\t\nb:PRT:none:2:-:-", "f");
  EXPECT_TRUE(spec.errors.empty());
  ASSERT_EQ(spec.entries.size(), 2U);
  EXPECT_EQ(spec.entries[0].name, "a");
  EXPECT_EQ(spec.entries[1].line, 5);
}

TEST(Spec, TasksThatNameASharedReserveHaveTheSame) {
  const Spec spec = parse_spec(
      "a:PRT:PE@bombs:1:2500:25000\n"
      "b:PRT:PE@bombs:2:-:-\n"
      "c:PRT:PE@bombs:3:2500:25000\n"
      "d:PRT:PE@others:3:2500:25000\n"
      "e:PRT:PE:3:2500:25000\n",
      "f");
  ASSERT_TRUE(spec.errors.empty()) << spec.errors.front();
  const std::uint32_t bombs = spec.entries[0].task.shared_reserve;
  EXPECT_NE(bombs, 0U);
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(spec.entries[i].task.shared_reserve, bombs);
    EXPECT_EQ(spec.entries[i].task.reserve, (Reservation{2500us, 25ms}));
  }
  EXPECT_NE(spec.entries[3].task.shared_reserve, bombs);
  EXPECT_EQ(spec.entries[4].task.shared_reserve, 0U);
}

TEST(Spec, TheNumberOfASharedReserveDoesNotDependOnOtherLines) {
  const Spec one = parse_spec("a:PRT:PE@bombs:1:1:2", "f");
  const Spec two = parse_spec("x:PRT:AE@games:1:1:2\na:PRT:PE@bombs:1:1:2", "f");
  ASSERT_EQ(two.entries.size(), 2U);
  EXPECT_EQ(one.entries[0].task.shared_reserve, two.entries[1].task.shared_reserve);
}

TEST(Spec, AnEntryIsFoundByItsName) {
  const Spec spec = parse_spec("a:PRT:none:1:-:-\nb:PRT:none:2:-:-", "f");
  ASSERT_NE(find_entry(spec.entries, "b"), nullptr);
  EXPECT_EQ(find_entry(spec.entries, "b")->task.priority, 2);
  EXPECT_EQ(find_entry(spec.entries, "c"), nullptr);
}

TEST(Spec, AnErrorNamesFileAndLineAndSaysWhatToDo) {
  const Spec spec =
      parse_spec("a:PRT:none:1:-:-\nb:FIFO:none:1:-:-\nc:PRT:none:1:-:-\n", "/etc/timegraph.spec");
  ASSERT_EQ(spec.errors.size(), 1U);
  EXPECT_EQ(spec.errors[0], "/etc/timegraph.spec:2: the scheduling policy is 'FIFO', write PRT or HT");
  EXPECT_EQ(spec.entries.size(), 2U);
}

struct WrongLine {
  const char* text;
  const char* says;
};
struct SpecErrors : testing::TestWithParam<WrongLine> {};

TEST_P(SpecErrors, AreReportedAndMakeNoEntry) {
  const Spec spec = parse_spec(GetParam().text, "f");
  ASSERT_EQ(spec.errors.size(), 1U) << GetParam().text;
  EXPECT_NE(spec.errors[0].find(GetParam().says), std::string::npos) << spec.errors[0];
  EXPECT_LE(spec.entries.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    , SpecErrors,
    testing::Values(
        WrongLine{"a:PRT:PE:1:10", "has 5 fields"}, WrongLine{"a:PRT:PE:1:10:20:30", "has 7 fields"},
        WrongLine{":PRT:none:1:-:-", "has no name"},
        WrongLine{"a:PRT:none:1:-:-\na:HT:none:1:-:-", "'a' is in line 1 already"},
        WrongLine{"a:PRT:none:0:-:-", "the priority is '0', write an integer from 1 to 99, or *"},
        WrongLine{"a:PRT:none:100:-:-", "the priority is '100'"},
        WrongLine{"a:PRT:none:1x:-:-", "the priority is '1x'"},
        WrongLine{"a:PRT:none:1:10:20", "has C and T but no reserve"},
        WrongLine{"a:PRT:PA:1:10:20", "the reservation policy is 'PA'"},
        WrongLine{"a:PRT:none@b:1:10:20", "the reservation policy is 'none@b'"},
        WrongLine{"a:PRT:PE@:1:10:20", "the shared reserve has no name"},
        WrongLine{"a:PRT:PE@b:1:-:-", "C is '-'"}, WrongLine{"a:PRT:PE:1:0:20", "C is '0'"},
        WrongLine{"a:PRT:PE:1:-5:20", "C is '-5'"},
        WrongLine{"a:PRT:PE:1:10:4000000000", "T is '4000000000'"},
        WrongLine{"a:PRT:PE:1:99999999999999999999:20", "C is '99999999999999999999'"},
        WrongLine{"a:PRT:PE:1:30:20", "more than T"},
        WrongLine{"a:PRT:PE@b:1:10:20\nc:PRT:PE@b:1:11:20", "the reserve 'b' differs from that in line 1"},
        WrongLine{"a:PRT:PE@b:1:10:20\nc:PRT:AE@b:1:-:-", "the reserve 'b' differs from that in line 1"}));

}  // namespace
}  // namespace fairgv::sched
