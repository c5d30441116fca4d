// fairgv bench all: runs the experiments one after the other and writes their results as one page.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "runtime/base/near_word.hpp"
#include "tests/bench/report/runner.hpp"
#include "tests/bench/report/this_machine.hpp"
#include "tests/bench/support/text/command_line.hpp"

namespace fairgv::bench::report {
namespace {

struct Settings {
  std::string folder;
  bool render_only = false;
  Wish wish;
};

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

/// The experiments that are asked for, in the order of all. Fails for an unknown name.
Result<std::vector<std::string>> chosen(const std::vector<std::string>& only) {
  const std::vector<std::string> all = experiments();
  for (const std::string& name : only) {
    if (std::find(all.begin(), all.end(), name) == all.end()) {
      return Error{"there is no experiment '" + name + "': " + guess_and_list(name, list_of(all))};
    }
  }
  if (only.empty()) return all;
  std::vector<std::string> names;
  for (const std::string& name : all) {
    if (std::find(only.begin(), only.end(), name) != only.end()) names.push_back(name);
  }
  return names;
}

/// Figures of two machines on one page would be taken for figures of one.
Result<void> note_machine(Record& record, const std::string& folder) {
  Machine here = this_machine();
  if (!record.attempts.empty() && record.machine != here) {
    return Error{folder +
                 " has a report of another machine, or of this one with another kernel, driver or "
                 "device; take another folder"};
  }
  record.machine = std::move(here);
  return {};
}

/// The names of the experiments that failed. The page is there from the first experiment on, and shows all
/// results so far.
Result<std::vector<std::string>> run_all(const std::vector<std::string>& names, const Settings& settings) {
  const Folder folder(settings.folder);
  FAIRGV_CHECK(folder.prepare());
  FAIRGV_TRY(record, folder.record());
  FAIRGV_CHECK(note_machine(record.value(), settings.folder));
  std::vector<std::string> failures;
  for (std::size_t i = 0; i < names.size(); ++i) {
    fmt::print("== {} of {}: {}\n", i + 1, names.size(), names[i]);
    std::fflush(stdout);
    FAIRGV_TRY(made, attempt(names[i], settings.wish, folder));
    fmt::print("\n");
    if (made->status != 0) failures.push_back(names[i]);
    note(record.value(), std::move(made).value());
    FAIRGV_CHECK(folder.write(record.value()));
    FAIRGV_CHECK(folder.render(record.value()));
  }
  return failures;
}

Result<void> measure(const Settings& settings, const std::vector<std::string>& names) {
  FAIRGV_TRY(failures, run_all(names, settings));
  fmt::print("wrote {}/index.html\n", settings.folder);
  if (failures->empty()) return {};
  return Error{fmt::format("{} of {} failed: {}", failures->size(), names.size(), list_of(failures.value()))};
}

Result<void> render(const Settings& settings) {
  const Folder folder(settings.folder);
  FAIRGV_TRY(record, folder.record());
  FAIRGV_CHECK(folder.render(record.value()));
  fmt::print("wrote {}/index.html\n", settings.folder);
  return {};
}

int run(int argc, char** argv) {
  CLI::App app{"Run every experiment, and write figures and tables as one page", "fairgv bench all"};
  Settings settings;
  app.add_option("--report", settings.folder, "The folder for index.html and what it is made of")->required();
  app.add_option("--only", settings.wish.only, "Only these experiments; what the folder has of others stays")
      ->delimiter(',');
  app.add_flag("--quick", settings.wish.quick, "Short runs, to see that it works: the figures mean nothing");
  declare_device_cores(app, settings.wish.device_cores);
  app.add_option("--limit", settings.wish.limit_min, "Minutes after which an experiment is killed")
      ->check(CLI::Range(0.01, 10'000.0))
      ->capture_default_str();
  app.add_flag("--render-only", settings.render_only, "Measure nothing: write the page anew from the folder")
      ->excludes(app.get_option("--only"), app.get_option("--quick"));
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  if (settings.render_only) return exit_code(app, render(settings));
  const auto names = chosen(settings.wish.only);
  if (!names) {
    (void)exit_code(app, names.error());
    return 2;
  }
  return exit_code(app, measure(settings, names.value()));
}

}  // namespace
}  // namespace fairgv::bench::report

int main(int argc, char** argv) {
  return fairgv::bench::report::run(argc, argv);
}
