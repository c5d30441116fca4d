// The page's texts on figures that were measured, figures that were not, and figures that it cannot trust.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/bench/report/folder.hpp"
#include "tests/bench/report/html.hpp"
#include "tests/harness/child.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::bench::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHostile = "</td><script>alert('1')</script> & \"quoted\" \x01\xff\xc0\xaf tail";

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// A folder of a test's own.
struct Folders : ::testing::Test {
  void write(const std::string& name, const std::string& text) const { temporary.write(name, text); }

  /// The complaints about a page of a parser of XML, and of a parser of HTML that knows which elements close:
  /// none.
  std::string complaints(const std::string& page) const {
    write("page.html", page);
    write("check.py", R"(
import html.parser, re, sys, xml.etree.ElementTree
text = open(sys.argv[1], encoding='utf-8').read()
root = xml.etree.ElementTree.fromstring(text)
class Nesting(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attributes): self.open.append(tag)
    def handle_startendtag(self, tag, attributes): assert tag in ('meta', 'img'), tag
    def handle_endtag(self, tag): assert self.open.pop() == tag, (tag, self.getpos())
nesting = Nesting()
nesting.feed(text)
assert not nesting.open, nesting.open
ids = [e.get('id') for e in root.iter() if e.get('id')]
assert len(ids) == len(set(ids)), 'an id twice'
for e in root.iter('a'): assert e.get('href')[1:] in ids, e.get('href')
for e in root.iter('img'): assert e.get('alt') and e.get('src').startswith('data:image/svg+xml;base64,'), 'img'
for e in root.iter('th'): assert e.get('scope') in ('row', 'col'), 'th without scope'
for t in root.iter('table'): assert t.find('caption') is not None, 'table without caption'
for e in root.iter():
    assert e.tag not in ('script', 'link', 'iframe', 'object'), e.tag
    for name in e.attrib: assert not name.startswith('on'), name
assert 'http' not in re.sub('base64,[^"]*', '', text), 'something from elsewhere'
)");
    const auto finished = harness::run(
        {{"/bin/sh", "-c", "/usr/bin/python3 \"$0\" \"$1\" 2>&1", path / "check.py", path / "page.html"},
         {}});
    EXPECT_TRUE(finished);
    std::string said;
    for (const std::string& line : finished->lines) said += line + '\n';
    EXPECT_EQ(finished->status, said.empty() ? 0 : 1);
    return said;
  }

  const harness::TemporaryFolder temporary;
  const fs::path& path = temporary.path();
};

Attempt attempt_at(const std::string& name) {
  return {.name = name,
          .purpose = "To see",
          .command = "fairgv bench " + name,
          .when = "2026-01-02 03:04:05 UTC",
          .version = "9.8.7",
          .seconds = 125.4};
}

/// The row of the summary for the figure that begins so, without tags.
std::string summarised(const std::string& page, const std::string& figure) {
  const auto at = page.find(figure);
  if (at == std::string::npos) return "there is no such figure";
  const std::string row = page.substr(at, page.find("</tr>", at) - at);
  return std::regex_replace(row, std::regex("<[^>]*>"), "|");
}

TEST(Escaping, LeavesNoMarkupNoControlCharacterAndNoBrokenText) {
  EXPECT_EQ(escaped("a<b>&\"'\tc\n"), "a&lt;b&gt;&amp;&quot;&#39;\tc\n");
  EXPECT_EQ(escaped(std::string("\0\x1b\x7f", 3)), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(escaped("µ – 漢 😀"), "µ – 漢 😀");
  EXPECT_EQ(escaped("\xff"), "\uFFFD");
  EXPECT_EQ(escaped("\xc0\xaf"), "\uFFFD\uFFFD") << "longer than needed";
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(escaped("\xe2\x82"), "\uFFFD\uFFFD") << "cut off";
  EXPECT_EQ(escaped("\xef\xbf\xbf"), "\uFFFD\uFFFD\uFFFD") << "no character of XML";
}

TEST(Base64, IsAsTheStandardHasIt) {  // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xff\xfe"), "///+");
}

TEST(Csv, HasTheMachineTheHeaderAndTheRows) {
  const auto table = parse_csv("# 2 cores\na,b\n1,\n,x y\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->machine, "2 cores");
  EXPECT_EQ(table->header, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table->rows, (std::vector<std::vector<std::string>>{{"1", ""}, {"", "x y"}}));
}

TEST(Csv, WithRowsOfAnotherLengthOrNothingIsRefused) {
  const auto longer = parse_csv("a,b\n1,2\n1,2,3\n");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().message, "line 3 has 3 cells and the header 2");
  EXPECT_FALSE(parse_csv("a,b\n1\n"));
  EXPECT_FALSE(parse_csv(""));
  EXPECT_FALSE(parse_csv("# only a machine\n"));
}

TEST(Csv, NumbersAreWholeCells) {
  EXPECT_EQ(number_in("-1.5e3"), -1500);
  for (const char* cell : {"", " 1", "1 ", "1x", "nan", "inf", "-", "–"})
    EXPECT_FALSE(number_in(cell)) << cell;
}

struct Values : ::testing::Test {
  const CsvTable table = parse_csv("who,size,value\na,10,3\na,20,-4\nb,30,9\nb,,7\nc,1,x\n").value();
  std::optional<double> of(Place place) const { return value_of({"it", std::move(place)}, table); }
};

TEST_F(Values, AreOfTheRowsThatCount) {
  EXPECT_EQ(of({"value", Of::lowest, {{"who", "a"}}}), -4);
  EXPECT_EQ(of({"value", Of::highest, {{"who", "a"}}}), 3);
  EXPECT_EQ(of({"value", Of::mean, {{"who", "a"}}}), -0.5);
  EXPECT_EQ(of({"value", Of::farthest, {{"who", "a"}}, 0}), -4);
  EXPECT_EQ(of({"value", Of::farthest, {{"who", "a"}}, -10}), 3);
  EXPECT_EQ(of({"value", Of::highest, {{"size", 20.0}}}), 9) << "a row without a size does not count";
}

TEST_F(Values, AreNotThereWhereSomethingIsMissing) {
  EXPECT_FALSE(of({"price"}));
  EXPECT_FALSE(of({"value", Of::lowest, {{"colour", "red"}}}));
  EXPECT_FALSE(of({"value", Of::lowest, {{"who", "d"}}}));
  EXPECT_FALSE(of({"value", Of::lowest, {{"who", "c"}}})) << "a cell that counts is no number";
}

TEST(Goals, AreShownAndReachedAtTheirBounds) {
  const FigureOfMerit figure{"it", {"x"}, 2, "ms"};
  EXPECT_EQ(shown(figure, 1.239), "1.24 ms");
  EXPECT_EQ(shown(figure, {.at_least = 0.97, .at_most = 1.03}), "0.97 to 1.03 ms");
  EXPECT_EQ(shown(figure, {.at_most = 12}), "at most 12 ms");
  EXPECT_EQ(shown(figure, Goal{}), "");
  EXPECT_TRUE(reaches({.at_least = 0.99}, 0.99));
  EXPECT_FALSE(reaches({.at_least = 0.99}, 0.9899));
  EXPECT_TRUE(reaches({.at_most = 2}, 2));
  EXPECT_FALSE(reaches({.at_least = 1, .at_most = 2}, 2.01));
}

/// The file of an experiment or a benchmark, in whichever folder it lies; empty if there is none.
fs::path source_file(const std::string& name) {
  for (const auto& entry : fs::recursive_directory_iterator(FAIRGV_SOURCE_DIR "/tests/bench")) {
    if (entry.path().filename() == name + ".cpp") return entry.path();
  }
  return {};
}

TEST(Catalogue, NamesColumnsThatTheExperimentsWrite) {
  for (const Entry& entry : catalogue()) {
    std::string source = entry.name.starts_with("fair") ? "fairness" : entry.name;
    std::replace(source.begin(), source.end(), '-', '_');
    // Long headers are several literals.
    const std::string text = std::regex_replace(text_of(source_file(source)), std::regex("\"\\s*\""), "");
    ASSERT_FALSE(text.empty()) << source;
    const auto writes = [&](const std::string& column) {
      return std::regex_search(text, std::regex("[\",]" + column + "[\",]"));
    };
    for (const FigureOfMerit& figure : entry.figures) {
      EXPECT_TRUE(writes(figure.place.column)) << entry.name << " writes no " << figure.place.column;
      for (const Condition& condition : figure.place.where) {
        EXPECT_TRUE(writes(condition.column)) << entry.name << " writes no " << condition.column;
      }
    }
    const bool draws = text.find("declare_figure()") != std::string::npos;
    EXPECT_EQ(draws, !entry.drawing.empty()) << entry.name << ": what its figure shows";
    const bool has_quick = text.find("Experiment experiment(") != std::string::npos;
    EXPECT_EQ(has_quick, entry.when_quick.empty()) << entry.name << ": options for a quick run";
  }
}

TEST_F(Folders, PageOfNothingButNamesIsWellFormed) {
  Report report;
  for (const Entry& entry : catalogue()) report.sections.push_back({entry.name});
  EXPECT_EQ(complaints(page(report)), "");
}

TEST_F(Folders, PageIsWellFormedWhateverItsPartsSay) {
  Attempt attempt = attempt_at("nobody's");
  attempt.purpose = attempt.command = attempt.when = attempt.version = attempt.remark = kHostile;
  Section section{"nobody", attempt, CsvTable{kHostile, {kHostile, "b"}, {{"1", kHostile}}}, kHostile};
  section.drawing = std::string("<?xml version=\"1.0\"?><svg>") + kHostile + "</svg>";
  section.output = kHostile;
  const std::string html = page({{{kHostile, kHostile}}, {section}});
  EXPECT_EQ(complaints(html), "");
  EXPECT_EQ(html.find("<script"), std::string::npos);
}

TEST_F(Folders, ComplaintsAreNotEmptyForAPageThatIsNotWell) {
  EXPECT_NE(complaints("<!DOCTYPE html><html><body><p>open</body></html>"), "");
  EXPECT_NE(complaints("<!DOCTYPE html><html><body><script>1</script></body></html>"), "");
}

TEST(Page, SaysWhatWasReachedMissedAndNotMeasured) {
  Report report;
  report.sections.push_back({"null-call", attempt_at("null-call"), CsvTable{"", {"ratio"}, {{"1.25"}}}});
  report.sections.push_back(
      {"crowd", attempt_at("crowd"), CsvTable{"", {"min_max_ratio", "idle_cpu_ms"}, {{"0.9", ""}}}});
  const std::string html = page(report);
  EXPECT_NE(summarised(html, "Synchronous call").find("|1.25|"), std::string::npos);
  EXPECT_NE(summarised(html, "Synchronous call").find("|reached|"), std::string::npos);
  EXPECT_NE(summarised(html, "Min-Max Ratio of 64").find("|0.900|"), std::string::npos);
  EXPECT_NE(summarised(html, "Min-Max Ratio of 64").find("|missed|"), std::string::npos);
  for (const char* figure : {"Processor time of idle", "Standalone overhead"}) {
    EXPECT_NE(summarised(html, figure).find("|not measured|"), std::string::npos) << figure;
    EXPECT_EQ(summarised(html, figure).find("reached"), std::string::npos) << figure;
  }
}

TEST(Page, JudgesNoQuickRunAndBelievesNoFailedOne) {
  Report report;
  report.sections.push_back({"null-call", attempt_at("null-call"), CsvTable{"", {"ratio"}, {{"1.25"}}}});
  report.sections[0].attempt->quick = true;
  EXPECT_NE(summarised(page(report), "Synchronous call").find("|not judged: a quick run|"),
            std::string::npos);
  report.sections[0].attempt->status = 139;
  const std::string html = page(report);
  EXPECT_EQ(summarised(html, "Synchronous call").find("1.25"), std::string::npos);
  EXPECT_NE(summarised(html, "Synchronous call").find("|the experiment failed|"), std::string::npos);
  EXPECT_NE(html.find("Failed with status 139"), std::string::npos);
}

TEST(Page, SaysHowToRepeatEachExperimentAndHowItWent) {
  Attempt attempt = attempt_at("api");
  attempt.command = "fairgv bench api --pairs 1";
  attempt.load = 3.14;
  const std::string html = page({{{"Cores", "2"}}, {{"api", attempt}}});
  for (const char* text : {"fairgv bench api --pairs 1", "2 min 5 s", "2026-01-02 03:04:05 UTC",
                           "FairGV 9.8.7", "load before: 3.1", "<dt>Cores</dt><dd>2</dd>"}) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  }
}

TEST(Record, ComesBackAsItWasWritten) {
  Record record{{{"Cores", "2"}, {"Kernel", "x"}}, {attempt_at("a"), attempt_at("b")}};
  record.attempts[1].status = 7;
  const auto back = record_from_json(to_json(record));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(back.value()), to_json(record));
  EXPECT_EQ(back->attempts[1].status, 7);
  EXPECT_EQ(back->machine, record.machine);
  for (const char* text : {"", "{}", "[]", "{\"machine\":[],\"attempts\":[{}]}"})
    EXPECT_FALSE(record_from_json(text));
}

TEST(Record, KeepsTheLatestAttemptInItsPlace) {
  Record record;
  note(record, attempt_at("a"));
  note(record, attempt_at("b"));
  Attempt again = attempt_at("a");
  again.status = 1;
  note(record, again);
  ASSERT_EQ(record.attempts.size(), 2U);
  EXPECT_EQ(record.attempts[0].name, "a");
  EXPECT_EQ(record.attempts[0].status, 1);
}

TEST_F(Folders, OfNothingButTablesIsRendered) {
  write("crowd.csv", "# 2 cores\nmin_max_ratio,idle_cpu_ms\n0.96,0\n");
  write("mine.csv", "a,b\n1\n");
  const Folder folder(path);
  ASSERT_TRUE(folder.render({}));
  const std::string html = text_of(path / "index.html");
  EXPECT_EQ(complaints(html), "");
  EXPECT_NE(summarised(html, "Min-Max Ratio of 64").find("|reached|"), std::string::npos);
  EXPECT_NE(html.find("How these files were made was not recorded"), std::string::npos);
  EXPECT_NE(html.find("line 2 has 1 cells and the header 2"), std::string::npos);
}

TEST_F(Folders, OfNothingIsRefused) {
  EXPECT_FALSE(Folder(path).render({}));
  EXPECT_FALSE(fs::exists(path / "index.html"));
  write("run.json", "{");
  EXPECT_FALSE(Folder(path).record());
}

TEST_F(Folders, ForgetWhatAnEarlierAttemptLeft) {
  for (const char* name : {"a.csv", "a.svg", "a.txt", "ab.csv"}) write(name, "x");
  Folder(path).forget("a");
  EXPECT_FALSE(fs::exists(path / "a.csv") || fs::exists(path / "a.svg") || fs::exists(path / "a.txt"));
  EXPECT_TRUE(fs::exists(path / "ab.csv"));
}

}  // namespace
}  // namespace fairgv::bench::report
