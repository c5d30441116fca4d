// fairgv restart: replaces the daemon by the program that now lies at its path, for instance after an
// upgrade. Programs go on.
#include <fmt/core.h>

#include <chrono>

#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

using Clock = std::chrono::steady_clock;

Result<control::Report> look(const std::string& socket) {
  FAIRGV_TRY(control, Control::connect(socket));
  FAIRGV_TRY(answer, control->ask({control::ControlRequest::Command::ps, {}, {}}));
  return control::parse_report(answer.value());
}

Result<control::Report> restart_daemon(const std::string& socket) {
  FAIRGV_TRY(control, Control::connect(socket));
  const auto asked = Clock::now();
  FAIRGV_TRY(answer, control->ask({control::ControlRequest::Command::restart, {}, {}}));
  FAIRGV_CHECK(control::parse_outcome(answer.value()));
  control->wait_for_hang_up();
  auto report = look(socket);
  if (!report) return report;
  const double since_asked = std::chrono::duration<double>(Clock::now() - asked).count();
  if (report->daemon.uptime_s > since_asked) {
    return Error{"the daemon could not be replaced and goes on as before: its log says why"};
  }
  return report;
}

int restart(const std::string& socket) {
  const auto report = restart_daemon(socket);
  if (!report) return fail("restart", report.error().message);
  std::size_t programs = 0;
  for (const auto& tenant : report->tenants) programs += tenant.sessions.size();
  fmt::print("fairgvd {} has taken over; {} {} on\n", report->daemon.version, programs,
             programs == 1 ? "program goes" : "programs go");
  return 0;
}

}  // namespace

void add_restart(CLI::App& app, Action& action) {
  static std::string socket;
  CLI::App* command = app.add_subcommand(
      "restart", "Replace the daemon by the one that is installed now; its tenants' programs go on");
  add_socket_option(*command, socket);
  command->callback([&action] { action = [] { return restart(socket); }; });
}

}  // namespace fairgv::tools
