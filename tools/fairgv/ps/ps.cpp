// fairgv ps: tenants, their sessions, and who uses the device.
#include <fmt/core.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "runtime/base/near_word.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"
#include "tools/fairgv/ps/ps_table.hpp"

namespace fairgv::tools {
namespace {

struct PsOptions {
  bool json = false;
  bool watch = false;
  std::vector<std::string> format;
  std::string sort;
  std::string socket;
};

constexpr std::size_t kUsualWidth = 80;

/// As COLUMNS says, else the terminal's, else what every terminal has.
std::size_t output_width() {
  std::size_t width = 0;
  if (const char* const columns = std::getenv("COLUMNS"); columns != nullptr) {
    if (std::from_chars(columns, columns + std::strlen(columns), width).ec == std::errc{} && width > 0)
      return width;
  }
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUsualWidth;
}

std::string user_name(std::uint32_t uid) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::to_string(uid);
  return found->pw_name;
}

std::string known_column(const std::string& name) {
  const auto& columns = ps_columns();
  if (std::find(columns.begin(), columns.end(), name) != columns.end()) return {};
  std::string list;
  for (const std::string& each : columns) list += (list.empty() ? "" : ", ") + each;
  return fmt::format("there is no column '{}': {}there are {}", name, did_you_mean(name, columns), list);
}

int ask_and_print(Control& control, const PsOptions& options) {
  const auto answer = control.ask({});
  if (!answer) return fail("ps", answer.error().message);
  const auto report = control::parse_report(answer.value());
  if (!report) return fail("ps", report.error().message);
  if (options.json) {
    fmt::print("{}\n", nlohmann::json::parse(answer.value()).dump(2));
    return 0;
  }
  const PsView view{output_width(), options.sort, user_name};
  const auto lines = options.format.empty() ? ps_lines(report.value(), view)
                                            : ps_sessions(report.value(), options.format, view);
  for (const std::string& line : lines) fmt::print("{}\n", line);
  return 0;
}

int ps(const PsOptions& options) {
  auto control = Control::connect(options.socket);
  if (!control) return fail("ps", control.error().message);
  for (;;) {
    if (options.watch && ::isatty(STDOUT_FILENO) != 0) fmt::print("\x1b[H\x1b[2J");
    const int status = ask_and_print(control.value(), options);
    if (status != 0 || !options.watch) return status;
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace

void add_ps(CLI::App& app, Action& action) {
  static PsOptions options;
  CLI::App* command = app.add_subcommand(
      "ps", "Show tenants, sessions, weights, shares of device time, and who was killed and why");
  auto* const json = command->add_flag("--json", options.json, "For scripts");
  command->add_flag("--watch", options.watch, "Again every second");
  command
      ->add_option("--format", options.format,
                   "Only the sessions, with these columns: session, tenant, weight, min, max, class, user, "
                   "pid, worker, state, "
                   "interactive, age, time, memory, devices, direct, program")
      ->delimiter(',')
      ->check(known_column)
      ->type_name("COLUMN,...")
      ->excludes(json);
  command
      ->add_option("--sort", options.sort, "Sort by this column; of numbers that are used up, the most first")
      ->check(known_column)
      ->type_name("COLUMN")
      ->excludes(json);
  add_socket_option(*command, options.socket);
  command->callback([&action] { action = [] { return ps(options); }; });
}

}  // namespace fairgv::tools
