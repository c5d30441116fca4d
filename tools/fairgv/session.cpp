// fairgv session show: the calls by which another worker could make a session's objects again.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/memory_size.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/session/journal/journal_report.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

struct ShowOptions {
  std::uint32_t session = 0;
  bool json = false;
  std::string socket;
};

/// The numbers of the calls, those that follow each other as a range.
std::string ranges(std::vector<std::uint64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

void print_journal(std::uint32_t session, const session::JournalReport& report) {
  if (report.gave_up) {
    fmt::print("session {}: its journal has been too long, and is kept no more\n", session);
    return;
  }
  fmt::print("session {}: {} calls, {}\n", session, report.calls.size() + report.left_out,
             readable_bytes(report.bytes));
  if (report.calls.empty()) return;
  std::size_t width = 4;
  for (const auto& call : report.calls) width = std::max(width, call.name.size());
  fmt::print("{:>8}  {:<{}}  {:>10}  {:>10}  NEEDS\n", "NUMBER", "CALL", width, "OBJECT", "BYTES");
  for (const auto& call : report.calls) {
    fmt::print("{:>8}  {:<{}}  {:>10}  {:>10}  {}{}\n", call.number, call.name, width,
               fmt::format("{}.{}", call.object, call.generation), call.bytes, ranges(call.needs),
               call.released ? " (released)" : "");
  }
  if (report.left_out > 0) fmt::print("and {} later calls\n", report.left_out);
}

int show(const ShowOptions& options) {
  auto control = Control::connect(options.socket);
  if (!control) return fail("session show", control.error().message);
  control::ControlRequest request;
  request.command = control::ControlRequest::Command::show;
  request.session = options.session;
  const auto answer = control->ask(request);
  if (!answer) return fail("session show", answer.error().message);
  if (const auto outcome = control::parse_outcome(answer.value()); !outcome)
    return fail("session show", outcome.error().message);
  const auto report = session::parse_journal_report(answer.value());
  if (!report) return fail("session show", report.error().message);
  if (options.json) {
    fmt::print("{}\n", nlohmann::json::parse(answer.value()).dump(2));
  } else {
    print_journal(options.session, report.value());
  }
  return 0;
}

}  // namespace

void add_session(CLI::App& app, Action& action) {
  static ShowOptions options;
  CLI::App* const session = app.add_subcommand("session", "Look at a running session");
  session->require_subcommand(1);
  CLI::App* const added = session->add_subcommand(
      "show", "List the calls that have made the session's objects: fairgv session show SESSION");
  added->add_option("session", options.session, "Number of the session, as by fairgv ps")
      ->required()
      ->type_name("SESSION");
  added->add_flag("--json", options.json, "As JSON, for programs");
  add_socket_option(*added, options.socket);
  added->callback([&action] { action = [] { return show(options); }; });
}

}  // namespace fairgv::tools
