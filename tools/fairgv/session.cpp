// fairgv session show: the calls by which another worker could make a session's objects again, of a session
// that runs or of one that was written to a file.
#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/memory_size.hpp"
#include "runtime/control/checkpoint/image_report.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/session/journal/journal_report.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

struct ShowOptions {
  std::string target;  // the number of a session, or a file
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

void print_journal(const std::string& name, const session::JournalReport& report) {
  if (report.gave_up) {
    fmt::print("{}: its journal has been too long, and is kept no more\n", name);
    return;
  }
  fmt::print("{}: {} calls, {}\n", name, report.calls.size() + report.left_out, readable_bytes(report.bytes));
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

void print_image(const std::string& file, const control::ImageReport& report) {
  print_journal(report.facts ? fmt::format("{}, session {} of tenant {}", file, report.facts->session,
                                           report.facts->tenant)
                             : file,
                report.journal);
  fmt::print("{} objects{}\n", report.objects.size(), report.objects.empty() ? "" : ":");
  std::size_t width = 7;
  for (const auto& object : report.objects) width = std::max(width, object.made_by.size());
  if (!report.objects.empty())
    fmt::print("{:>10}  {:<{}}  {:>10}  ERROR\n", "OBJECT", "MADE BY", width, "CONTENTS");
  for (const auto& object : report.objects) {
    fmt::print("{:>10}  {:<{}}  {:>10}  {}\n", fmt::format("{}.{}", object.object, object.generation),
               object.made_by, width, object.contents == 0 ? "-" : readable_bytes(object.contents),
               object.error == 0 ? "-" : std::to_string(object.error));
  }
  fmt::print("{} commands that have not ended{}\n", report.commands.size(),
             report.commands.empty() ? "" : ":");
  for (const auto& command : report.commands) fmt::print("{:>8}  {}\n", command.number, command.name);
  fmt::print("{} events\n", report.events);
}

int show_file(const ShowOptions& options) {
  const UniqueFd file(::open(options.target.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail("session show", system_error("cannot open " + options.target).message);
  const auto report = control::report_of_image(file);
  if (!report) return fail("session show", options.target + " " + report.error().message);
  if (options.json) {
    fmt::print("{}\n", control::to_json(report.value()).dump(2));
  } else {
    print_image(options.target, report.value());
  }
  return 0;
}

/// Its number, if the text is one: the name of a file that is a number begins with "./".
std::optional<std::uint32_t> session_named(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

int show(const ShowOptions& options) {
  const auto number = session_named(options.target);
  if (!number) return show_file(options);
  auto control = Control::connect(options.socket);
  if (!control) return fail("session show", control.error().message);
  control::ControlRequest request;
  request.command = control::ControlRequest::Command::show;
  request.session = *number;
  const auto answer = control->ask(request);
  if (!answer) return fail("session show", answer.error().message);
  if (const auto outcome = control::parse_outcome(answer.value()); !outcome)
    return fail("session show", outcome.error().message);
  const auto report = session::parse_journal_report(answer.value());
  if (!report) return fail("session show", report.error().message);
  if (options.json) {
    fmt::print("{}\n", nlohmann::json::parse(answer.value()).dump(2));
  } else {
    print_journal("session " + options.target, report.value());
  }
  return 0;
}

}  // namespace

void add_session(CLI::App& app, Action& action) {
  static ShowOptions options;
  CLI::App* const session = app.add_subcommand("session", "Look at a session");
  session->require_subcommand(1);
  CLI::App* const added = session->add_subcommand(
      "show", "List the calls that have made the session's objects: fairgv session show SESSION|FILE");
  added
      ->add_option("session", options.target,
                   "Number of the session, as by fairgv ps, or the file of a checkpoint")
      ->required()
      ->type_name("SESSION|FILE");
  added->add_flag("--json", options.json, "As JSON, for programs");
  add_socket_option(*added, options.socket);
  added->callback([&action] { action = [] { return show(options); }; });
}

}  // namespace fairgv::tools
