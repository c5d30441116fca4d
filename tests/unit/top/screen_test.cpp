// The lines that `fairgv top` draws, for screens of all sizes.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/top/report.hpp"
#include "tools/fairgv/top/screen.hpp"
#include "tools/fairgv/top/table.hpp"

namespace fairgv::tools::top {
namespace {

std::string joined(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += text_of(line) + '\n';
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Screen screen_of(const control::Report& report) {
  Screen screen;
  screen.view = make_view(report, {}, screen.order);
  screen.chosen = RowId{0, "alice"};
  return screen;
}

control::Report crowd(int tenants) {
  control::Report report = top_report();
  report.tenants.clear();
  for (int i = 0; i < tenants; ++i) {
    report.tenants.push_back(top_tenant("tenant" + std::to_string(i + 100), 1, 1.0 / tenants, 1.0 / tenants));
  }
  return report;
}

bool has(const std::vector<Column>& columns, ColumnId id) {
  return std::any_of(columns.begin(), columns.end(), [id](const Column& column) { return column.id == id; });
}

TEST(TopScreen, IsNeverLargerThanTheTerminal) {
  Screen screen = screen_of(crowd(30));
  screen.details = {std::string(300, 'x')};
  screen.message = std::string(300, 'y');
  screen.question = std::string(300, 'z');
  for (const Mode mode : {Mode::table, Mode::help, Mode::prompt, Mode::confirm}) {
    screen.mode = mode;
    for (std::size_t rows = 0; rows < 45; rows += 3) {
      for (std::size_t columns = 0; columns < 220; columns += 7) {
        const auto lines = render(screen, {rows, columns}, Glyphs::eighths);
        EXPECT_LE(lines.size(), rows);
        for (const Line& line : lines) EXPECT_LE(width_of(line), columns) << text_of(line);
      }
    }
  }
}

TEST(TopScreen, SaysWhatItNeedsOnATerminalThatIsTooSmall) {
  const std::string text = joined(render(screen_of(top_report()), {4, 39}, Glyphs::ascii));
  EXPECT_TRUE(contains(text, "needs 40 x 8")) << text;
  EXPECT_FALSE(contains(text, "alice"));
}

TEST(TopScreen, ShowsEverythingThatTheIssueAsksForAt80Columns) {
  const auto columns = columns_for(80);
  for (const ColumnId id :
       {ColumnId::tenant, ColumnId::weight, ColumnId::bar, ColumnId::share, ColumnId::entitled,
        ColumnId::sessions, ColumnId::queue, ColumnId::memory, ColumnId::wait_p50, ColumnId::wait_p99,
        ColumnId::interactive, ColumnId::unsliceable}) {
    EXPECT_TRUE(has(columns, id)) << static_cast<int>(id);
  }
}

TEST(TopScreen, ShowsPromisesOnlyIfATenantHasThem) {
  const View view = make_view(promised_report(), {}, {});
  for (const ColumnId id : {ColumnId::min, ColumnId::max, ColumnId::service}) {
    EXPECT_TRUE(has(columns_for(110, view), id));
    EXPECT_FALSE(has(columns_for(110, make_view(top_report(), {}, {})), id));
  }
  Screen screen = screen_of(promised_report());
  const std::string text = joined(render(screen, {24, 110}, Glyphs::ascii));
  for (const char* part : {" min ", " max ", " class ", "5ms/20ms", " 75% ", " batch ", "[", "]"})
    EXPECT_TRUE(contains(text, part)) << part << " in\n" << text;
  EXPECT_FALSE(contains(text, "100%")) << text;
  EXPECT_FALSE(contains(text, "none")) << text;
}

TEST(TopScreen, KeepsNamesAndSharesOnTheNarrowestScreen) {
  const auto columns = columns_for(kLeastSize.columns);
  EXPECT_TRUE(has(columns, ColumnId::tenant) && has(columns, ColumnId::share) && has(columns, ColumnId::bar));
}

TEST(TopScreen, HeadsEachColumnWhereItStands) {
  for (std::size_t width = kLeastSize.columns; width < 200; ++width) {
    const auto columns = columns_for(width);
    const View view = make_view(promised_report(), {}, {});
    for (const auto& each : {columns, columns_for(width, view)}) {
      EXPECT_EQ(width_of(heading(each, {})),
                width_of(row_line(each, view.devices[0].rows[0], false, Glyphs::eighths)));
      EXPECT_LE(width_of(heading(each, {})), width);
    }
  }
}

TEST(TopScreen, MarksTheChosenRowAlsoWithoutStyles) {
  const std::string text = joined(render(screen_of(top_report()), {24, 80}, Glyphs::ascii));
  EXPECT_TRUE(contains(text, "\n>alice ")) << text;
  EXPECT_TRUE(contains(text, "\n bob ")) << text;
}

TEST(TopScreen, NamesDeviceItsPolicyAndWhoHasIt) {
  const std::string text = joined(render(screen_of(top_report()), {24, 80}, Glyphs::ascii));
  EXPECT_TRUE(contains(text, "device 0: Device")) << text;
  EXPECT_TRUE(contains(text, "fair, 6 ms  6.0M/4.0G  in use by bob")) << text;
  EXPECT_TRUE(contains(text, "fairgvd 1.2.3, up 1:02:05: 3 tenants, 3 sessions")) << text;
}

TEST(TopScreen, KeepsTheChosenRowInSightAndSaysWhichLinesAreShown) {
  Screen screen = screen_of(crowd(60));
  for (int i = 0; i < 60; ++i) {
    screen.chosen = RowId{0, "tenant" + std::to_string(i + 100)};
    const std::string text = joined(render(screen, {12, 110}, Glyphs::ascii));
    EXPECT_TRUE(contains(text, ">tenant" + std::to_string(i + 100))) << text;
    EXPECT_TRUE(contains(text, " of 62")) << text;
  }
}

TEST(TopScreen, SaysThatThereIsNoDaemonAndKeepsTrying) {
  Screen screen;
  screen.trouble =
      "no FairGV daemon answers at /x (No such file or directory): start fairgvd, or let 'fairgv run' start "
      "one";
  const std::string text = joined(render(screen, {24, 60}, Glyphs::ascii));
  EXPECT_TRUE(contains(text, "no FairGV daemon answers at /x")) << text;
  EXPECT_TRUE(contains(text, "start one")) << text;
  EXPECT_TRUE(contains(text, "Trying again.")) << text;
}

TEST(TopScreen, ShowsTheEndOfWhatIsTyped) {
  Screen screen = screen_of(top_report());
  screen.mode = Mode::prompt;
  screen.question = std::string(60, 'q');
  screen.typed = "12345";
  const std::string text = joined(render(screen, {10, 40}, Glyphs::ascii));
  EXPECT_TRUE(contains(text, "qq12345_\n")) << text;
}

TEST(TopScreen, ShowsTheWholeHelpOn80By24) {
  Screen screen;
  screen.mode = Mode::help;
  const auto lines = render(screen, {24, 80}, Glyphs::ascii);
  EXPECT_FALSE(contains(joined(lines), "~")) << joined(lines);
  EXPECT_TRUE(contains(joined(lines), "fairgv(1), set"));
}

TEST(TopScreen, PrintsOneLookWithoutKeys) {
  const std::string text = joined(render_once(make_view(crowd(60), {}, {}), {}, 80, Glyphs::ascii));
  EXPECT_TRUE(contains(text, "tenant100") && contains(text, "tenant159"));
  EXPECT_FALSE(contains(text, "quit") || contains(text, ">"));
}

}  // namespace
}  // namespace fairgv::tools::top
