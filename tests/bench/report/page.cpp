#include "tests/bench/report/page.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tests/bench/report/html.hpp"
#include "tests/bench/report/style.hpp"

namespace fairgv::bench::report {
namespace {

/// "min_max_ratio" as words.
std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(seconds + 0.5);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

const Section* section_of(const Report& report, const std::string& name) {
  for (const Section& section : report.sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

bool failed(const Section& section) {
  return section.attempt && section.attempt->status != 0;
}

struct Judged {
  std::string value;
  std::string verdict;
  const char* style = "soft";
};

/// The text of a line of the summary. A figure that was not measured is never a number.
Judged judged(const FigureOfMerit& figure, const Section* section) {
  if (section == nullptr) return {"not measured", "–"};
  if (failed(*section)) return {"not measured", "the experiment failed", "bad"};
  const auto value = section->table ? value_of(figure, *section->table) : std::nullopt;
  if (!value) return {"not measured", "–"};
  const std::string text = shown(figure, *value);
  if (section->attempt && section->attempt->quick) return {text, "not judged: a quick run"};
  if (!figure.goal.at_least && !figure.goal.at_most) return {text, "–"};
  return reaches(figure.goal, *value) ? Judged{text, "reached", "good"} : Judged{text, "missed", "bad"};
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "–" : text;
}

// Where the rows become cards on a narrow screen, only their roles still say that this is a table.
std::string summary(const Report& report) {
  std::string html =
      "<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Summary</h2>\n"
      "<table class=\"summary\" role=\"table\">\n<caption>What was measured here, what it is to reach, and "
      "what "
      "was published</caption>\n<thead role=\"rowgroup\"><tr role=\"row\">";
  for (const char* head : {"What", "Measured", "Goal", "Paper", "Result"}) {
    html += fmt::format("<th role=\"columnheader\" scope=\"col\">{}</th>", head);
  }
  html += "</tr></thead>\n<tbody role=\"rowgroup\">\n";
  for (const Entry& entry : catalogue()) {
    const Section* section = section_of(report, entry.name);
    for (const FigureOfMerit& figure : entry.figures) {
      const Judged found = judged(figure, section);
      const std::string what = escaped(figure.what);
      html += "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">";
      html += section == nullptr ? what : fmt::format("<a href=\"#{}\">{}</a>", escaped(entry.name), what);
      html += "</th>";
      const auto cell = [&](const char* label, const std::string& text, const char* style) {
        html += fmt::format("<td role=\"cell\" data-label=\"{}\"><span class=\"{}\">{}</span></td>", label,
                            style, escaped(text));
      };
      cell("Measured", found.value, "value");
      cell("Goal", or_dash(shown(figure, figure.goal)), "value");
      cell("Paper", or_dash(figure.paper), "value");
      cell("Result", found.verdict, found.style);
      html += "</tr>\n";
    }
  }
  return html + "</tbody>\n</table>\n</section>\n";
}

std::string machine(const Report& report) {
  std::string html = "<section aria-labelledby=\"machine\">\n<h2 id=\"machine\">Machine</h2>\n";
  if (report.machine.empty()) return html + "<p>Not recorded.</p>\n</section>\n";
  html += "<dl>\n";
  for (const auto& [name, value] : report.machine) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
  }
  return html + "</dl>\n</section>\n";
}

std::string navigation(const Report& report) {
  std::string html = "<nav aria-label=\"Experiments\">\n<ul>\n";
  for (const Section& section : report.sections) {
    html += fmt::format("<li><a href=\"#{0}\">{0}</a>{1}</li>\n", escaped(section.name),
                        failed(section) ? " (failed)" : "");
  }
  return html + "</ul>\n</nav>\n";
}

std::string table(const CsvTable& table, const std::string& title) {
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table: {0}\">\n<table>\n"
      "<caption>{1}</caption>\n<thead><tr>",
      escaped(title), table.machine.empty() ? "The machine was not recorded" : escaped(table.machine));
  for (const std::string& name : table.header) html += "<th scope=\"col\">" + escaped(words(name)) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row) {
      html += (number_in(cell) ? "<td class=\"number\">" : "<td>") + escaped(or_dash(cell)) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

/// As an image: the names, styles and scripts of a picture stay within it.
std::string drawing(const Section& section, const Entry& entry) {
  const std::string what = entry.drawing.empty() ? "Figure of " + entry.title : entry.drawing;
  return fmt::format(
      "<figure>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Figure: {0}\">"
      "<img alt=\"{1}\" src=\"data:image/svg+xml;base64,{2}\" /></div>\n<figcaption>{1} The table has its "
      "numbers.</figcaption>\n</figure>\n",
      escaped(entry.title), escaped(what), base64(section.drawing));
}

std::string circumstances(const Attempt& attempt) {
  std::string html = fmt::format(
      "<p><span class=\"{}\">{}</span> after {}, begun {}, FairGV {}; ", attempt.status == 0 ? "good" : "bad",
      attempt.status == 0 ? std::string("Ended well") : fmt::format("Failed with status {}", attempt.status),
      duration(attempt.seconds), escaped(attempt.when), escaped(attempt.version));
  html += fmt::format("the machine's load before: {:.1f}.", attempt.load);
  if (attempt.quick) html += " A quick run: its figures mean nothing.";
  if (!attempt.remark.empty()) html += " " + escaped(attempt.remark);
  return html + "</p>\n<pre class=\"command\"><code>" + escaped(attempt.command) + "</code></pre>\n";
}

std::string experiment(const Section& section) {
  const Entry entry = entry_of(section.name);
  std::string html = fmt::format(
      "<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1} <span class=\"soft\">({0})</span></h2>\n",
      escaped(section.name), escaped(entry.title));
  if (section.attempt) {
    if (!section.attempt->purpose.empty()) html += "<p>" + escaped(section.attempt->purpose) + ".</p>\n";
    html += circumstances(*section.attempt);
  } else {
    html += "<p>How these files were made was not recorded.</p>\n";
  }
  if (!section.drawing.empty()) html += drawing(section, entry);
  if (section.table) html += table(*section.table, entry.title);
  if (!section.table_error.empty()) {
    html += "<p class=\"bad\">Its table cannot be read: " + escaped(section.table_error) + ".</p>\n";
  }
  if (!section.output.empty()) {
    html +=
        fmt::format("<details{}><summary>What it printed</summary>\n<pre tabindex=\"0\">{}</pre></details>\n",
                    failed(section) ? " open=\"open\"" : "", escaped(section.output));
  }
  return html + "</section>\n";
}

std::string heading(const Report& report) {
  std::string begun, quick, failures;
  for (const Section& section : report.sections) {
    if (!section.attempt) continue;
    const std::string& when = section.attempt->when;
    if (begun.empty() || when < begun) begun = when;
    if (section.attempt->quick) quick += (quick.empty() ? "" : ", ") + section.name;
    if (failed(section)) failures += (failures.empty() ? "" : ", ") + section.name;
  }
  std::string html = "<header>\n<h1>FairGV: what was measured</h1>\n";
  html += begun.empty()
              ? "<p>When was not recorded.</p>\n"
              : fmt::format("<p>Begun {}; {} experiments.</p>\n", escaped(begun), report.sections.size());
  if (!quick.empty()) {
    html += "<p class=\"warning\">Quick runs, to see that everything works; their figures mean nothing: " +
            escaped(quick) + ".</p>\n";
  }
  if (!failures.empty()) html += "<p class=\"warning\">Failed: " + escaped(failures) + ".</p>\n";
  return html + "</header>\n";
}

constexpr const char* kFooter =
    "<footer>\n<h2 id=\"repeat\">How to repeat this</h2>\n"
    "<pre class=\"command\"><code>fairgv bench all --report DIR</code></pre>\n"
    "<p>runs everything and writes this page; <code>--only NAME</code> measures one experiment anew, and "
    "<code>--render-only</code> writes the page again from the files in DIR. The paper is FairGV: Fair and "
    "Fast "
    "GPU Virtualization; its values come from other machines, and are there to compare ratios, not times. "
    "Ratios "
    "are of pairs measured in one run.</p>\n</footer>\n";

}  // namespace

std::string page(const Report& report) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
      "<title>FairGV: what was measured</title>\n<style>";
  html += kStyle;
  html += "</style>\n</head>\n<body>\n" + heading(report) + navigation(report) + "<main>\n" +
          summary(report) + machine(report);
  for (const Section& section : report.sections) html += experiment(section);
  return html + "</main>\n" + kFooter + "</body>\n</html>\n";
}

}  // namespace fairgv::bench::report
