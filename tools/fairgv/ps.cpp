// fairgv ps: tenants, their sessions, and who uses the device.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"
#include "tools/fairgv/long_commands.hpp"

namespace fairgv::tools {
namespace {

using session::Report;

struct PsOptions {
  bool json = false;
  bool watch = false;
  std::string socket;
};

constexpr int kBarWidth = 20;

std::string bar(double share) {
  const int filled = static_cast<int>(share * kBarWidth + 0.5);
  std::string text;
  for (int i = 0; i < kBarWidth; ++i) text += i < filled ? "█" : "·";
  return text;
}

/// Nothing from a daemon that knows one policy only.
std::string sharing(const Report::Device& device) {
  if (device.policy.empty()) return "";
  return fmt::format(", policy {}, slice {:g} ms", device.policy, device.slice_ms);
}

/// Nothing from a daemon that does not count memory.
std::string memory_of(const Report::Tenant& tenant, std::size_t device) {
  if (device >= tenant.memory_used.size() || device >= tenant.memory_limit.size()) return "";
  return session::readable_bytes(tenant.memory_used[device]) + " / " +
         session::readable_bytes(tenant.memory_limit[device]);
}

std::string memory_of(const Report::Device& device) {
  if (device.memory == 0) return "";
  return fmt::format(", memory {} / {}", session::readable_bytes(device.memory_used),
                     session::readable_bytes(device.memory));
}

void print_tenants(const Report& report, std::size_t device) {
  fmt::print("  {:<20} {:>6} {:>8} {:>7}  {:<20} {:>6} {:>11} {:>10}  {}\n", "tenant", "weight", "sessions",
             "ideal", "share now", "", "device time", "launches", "memory");
  for (const Report::Tenant& tenant : report.tenants) {
    const double share = device < tenant.share.size() ? tenant.share[device] : 0;
    const double seconds =
        device < tenant.device_time_ns.size() ? static_cast<double>(tenant.device_time_ns[device]) / 1e9 : 0;
    fmt::print("  {:<20} {:>6} {:>8} {:>5.1f} %  {} {:>5.1f}% {:>9.2f} s {:>10}  {}{}\n", tenant.tenant,
               tenant.weight, tenant.sessions.size(), 100 * tenant.ideal_share, bar(share), 100 * share,
               seconds, tenant.launches, memory_of(tenant, device), tenant.paused ? "  paused" : "");
  }
}

/// A turn that is in use when its session is paused ends when the worker gives it back.
std::string state_of(const Report::Tenant& tenant, const Report::Session& session) {
  const bool paused = tenant.paused || session.paused;
  if (!paused && session.held_back_s > 0) return fmt::format("in {:.0f} s", std::ceil(session.held_back_s));
  return paused && session.state != "busy" ? "paused" : session.state;
}

/// A line for each tenant whose sessions were killed for what they did to others.
void print_kills(const Report& report) {
  bool first = true;
  for (const Report::Tenant& tenant : report.tenants) {
    if (tenant.faults.watchdog + tenant.faults.violations == 0) continue;
    fmt::print(
        "{}  {}: {} of its sessions were killed for holding a device too long, {} for breaking the rules\n",
        std::exchange(first, false) ? "\n" : "", tenant.tenant, tenant.faults.watchdog,
        tenant.faults.violations);
  }
}

void print_sessions(const Report& report) {
  fmt::print("  {:<8} {:<20} {:>8} {:>8}  {:<8} {:<11} {}\n", "session", "tenant", "pid", "worker", "state",
             "interactive", "program");
  for (const Report::Tenant& tenant : report.tenants) {
    for (const Report::Session& session : tenant.sessions) {
      fmt::print("  {:<8} {:<20} {:>8} {:>8}  {:<8} {:<11} {}\n", session.session, tenant.tenant, session.pid,
                 session.worker_pid, state_of(tenant, session), session.interactive ? "yes" : "",
                 session.program);
    }
  }
}

void print_report(const Report& report) {
  fmt::print("fairgvd {} at {}, pid {}\n", report.daemon.version, report.daemon.socket, report.daemon.pid);
  for (const Report::Device& device : report.devices) {
    if (device.same_as) {
      fmt::print("\ndevice {}: {} ({}): the same hardware as device {}, counted there\n", device.index,
                 device.name, device.platform, *device.same_as);
      continue;
    }
    fmt::print("\ndevice {}: {} ({}){}{}{}\n", device.index, device.name, device.platform, sharing(device),
               memory_of(device), device.holder ? ", in use by " + *device.holder : "");
    print_tenants(report, device.index);
  }
  if (report.tenants.empty()) {
    fmt::print("\nno tenants\n");
    return;
  }
  fmt::print("\n");
  print_sessions(report);
  const auto long_commands = long_command_lines(report);
  if (!long_commands.empty()) fmt::print("\n");
  for (const std::string& line : long_commands) fmt::print("  {}\n", line);
  print_kills(report);
}

int ask_and_print(Control& control, bool json) {
  const auto answer = control.ask({});
  if (!answer) return fail("ps", answer.error().message);
  const auto report = session::parse_report(answer.value());
  if (!report) return fail("ps", report.error().message);
  if (json) {
    fmt::print("{}\n", nlohmann::json::parse(answer.value()).dump(2));
  } else {
    print_report(report.value());
  }
  return 0;
}

int ps(const PsOptions& options) {
  auto control = Control::connect(options.socket);
  if (!control) return fail("ps", control.error().message);
  for (;;) {
    if (options.watch && ::isatty(STDOUT_FILENO) != 0) fmt::print("\x1b[H\x1b[2J");
    const int status = ask_and_print(control.value(), options.json);
    if (status != 0 || !options.watch) return status;
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace

void add_ps(CLI::App& app, Action& action) {
  static PsOptions options;
  CLI::App* command = app.add_subcommand("ps", "Show tenants, sessions, weights and shares of device time");
  command->add_flag("--json", options.json, "For scripts");
  command->add_flag("--watch", options.watch, "Again every second");
  add_socket_option(*command, options.socket);
  command->callback([&action] { action = [] { return ps(options); }; });
}

}  // namespace fairgv::tools
