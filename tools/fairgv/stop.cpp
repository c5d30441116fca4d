// fairgv stop: ends the daemon, and with it every session.
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

int stop(const std::string& socket) {
  auto control = Control::connect(socket);
  if (!control) return fail("stop", control.error().message);
  const auto answer = control->ask({control::ControlRequest::Command::stop, {}, {}});
  if (!answer) return fail("stop", answer.error().message);
  if (const auto outcome = control::parse_outcome(answer.value()); !outcome)
    return fail("stop", outcome.error().message);
  control->wait_for_hang_up();  // when we return, nothing of it is left
  return 0;
}

}  // namespace

void add_stop(CLI::App& app, Action& action) {
  static std::string socket;
  CLI::App* command =
      app.add_subcommand("stop", "Stop the daemon; programs that are its tenants lose the device");
  add_socket_option(*command, socket);
  command->callback([&action] { action = [] { return stop(socket); }; });
}

}  // namespace fairgv::tools
