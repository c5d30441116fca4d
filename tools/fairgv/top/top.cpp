// fairgv top: a live view of devices and tenants, and keys to steer them.
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "runtime/base/near_word.hpp"
#include "runtime/session/identity.hpp"
#include "runtime/session/paths.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"
#include "tools/fairgv/top/live.hpp"
#include "tools/fairgv/top/once.hpp"
#include "tools/fairgv/top/screen.hpp"
#include "tools/fairgv/top/terminal.hpp"

namespace fairgv::tools {
namespace {

struct TopOptions {
  bool once = false;
  bool json = false;
  std::optional<std::uint32_t> device;
  std::string tenant;
  std::string sort = "share";
  bool reverse = false;
  double interval = 1;
  std::string socket;
};

constexpr std::size_t kColumnsWithoutTerminal = 120;

/// Of the terminal; COLUMNS goes before it, as for other programs.
std::size_t columns_of_output() {
  const char* const text = std::getenv("COLUMNS");
  const long columns = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  if (columns > 0 && columns < 10'000) {
    return std::max(static_cast<std::size_t>(columns), top::kLeastSize.columns);
  }
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    return std::max<std::size_t>(window.ws_col, top::kLeastSize.columns);
  }
  return kColumnsWithoutTerminal;
}

void print_once(const top::View& view, const top::Order& order) {
  for (const top::Line& line :
       top::render_once(view, order, columns_of_output(), top::glyphs_of_environment())) {
    std::string text = top::text_of(line);
    text.erase(text.find_last_not_of(' ') + 1);
    fmt::print("{}\n", text);
  }
}

int top_once(const TopOptions& options, const top::Filter& filter, const top::Order& order) {
  auto control = Control::connect(options.socket);
  if (!control) return fail("top", control.error().message);
  const auto answer = control->ask({});
  if (!answer) return fail("top", answer.error().message);
  const auto report = control::parse_report(answer.value());
  if (!report) return fail("top", report.error().message);
  if (const std::string why = top::nothing_found(report.value(), filter); !why.empty()) {
    return fail("top", why);
  }
  const top::View view = top::make_view(report.value(), filter, order);
  if (options.json) {
    fmt::print("{}\n", top::to_json(view).dump(2));
  } else {
    print_once(view, order);
  }
  return 0;
}

int top_command(const TopOptions& options) {
  const top::Filter filter{options.device, options.tenant};
  if (!filter.tenant.empty() && !session::is_tenant_name(filter.tenant)) {
    return fail("top", session::tenant_name_error(filter.tenant, "--tenant").message, kMisused);
  }
  const auto key = top::sort_key(options.sort);
  if (!key) {
    return fail("top",
                "--sort is '" + options.sort +
                    "', which is no column: " + guess_and_list(options.sort, top::sort_key_names()),
                kMisused);
  }
  const top::Order order{*key, options.reverse};
  if (options.once) return top_once(options, filter, order);
  const std::chrono::milliseconds interval(std::lround(options.interval * 1000));
  const std::string socket = options.socket.empty() ? session::default_socket_path() : options.socket;
  const auto ended = top::run_live(socket, top::Controller(filter, order, interval));
  return ended ? 0 : fail("top", ended.error().message);
}

}  // namespace

void add_top(CLI::App& app, Action& action) {
  static TopOptions options;
  CLI::App* command = app.add_subcommand(
      "top", "Show devices and tenants live, and change weights, quotas and policies by key (h: help)");
  auto* const once = command->add_flag("--once", options.once, "Print one look and end");
  command->add_flag("--json", options.json, "For scripts, with --once")->needs(once);
  command->add_option("--device", options.device, "Only this device, numbered as by fairgv ps")
      ->check(CLI::Range(0U, session::kMaxDevices - 1));
  command->add_option("--tenant", options.tenant, "Only this tenant");
  command->add_option("--sort", options.sort, "By which column: " + top::sort_key_names());
  command->add_flag("--reverse", options.reverse, "The other way round");
  command->add_option("--interval", options.interval, "Seconds between two looks (1)")
      ->check(CLI::Range(0.1, 3600.0));
  add_socket_option(*command, options.socket);
  command->callback([&action] { action = [] { return top_command(options); }; });
}

}  // namespace fairgv::tools
