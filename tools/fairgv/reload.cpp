// fairgv reload: makes the daemon read its configuration again, and prints the changes.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "runtime/control/answers.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

struct ReloadOptions {
  bool json = false;
  std::string socket;
};

void print_list(const char* when, const std::vector<std::string>& options) {
  if (options.empty()) return;
  std::string list;
  for (const std::string& option : options) list += (list.empty() ? "" : ", ") + option;
  fmt::print("{}: {}\n", when, list);
}

void print_reload(const control::ReloadReport& report) {
  fmt::print("fairgvd has read {} again\n", report.file);
  if (report.at_once.empty() && report.new_programs.empty() && report.restart.empty()) {
    fmt::print("nothing has changed\n");
  }
  print_list("changed", report.at_once);
  print_list("changed for programs that start from now on", report.new_programs);
  print_list("restart needed (stop and start fairgvd)", report.restart);
  for (const std::string& warning : report.warnings) fmt::print("warning: {}\n", warning);
}

int reload(const ReloadOptions& options) {
  auto control = Control::connect(options.socket);
  if (!control) return fail("reload", control.error().message);
  const auto answer = control->ask({control::ControlRequest::Command::reload, {}, {}});
  if (!answer) return fail("reload", answer.error().message);
  const auto report = control::parse_reload_report(answer.value());
  if (options.json) fmt::print("{}\n", nlohmann::json::parse(answer.value(), nullptr, false).dump(2));
  if (!report) return fail("reload", report.error().message);
  if (!options.json) print_reload(report.value());
  return 0;
}

}  // namespace

void add_reload(CLI::App& app, Action& action) {
  static ReloadOptions options;
  CLI::App* command = app.add_subcommand(
      "reload",
      "Have the daemon read its configuration again; programs go on, and a bad file changes nothing");
  command->add_flag("--json", options.json, "For scripts");
  add_socket_option(*command, options.socket);
  command->callback([&action] { action = [] { return reload(options); }; });
}

}  // namespace fairgv::tools
