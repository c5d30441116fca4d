// fairgv drain and undrain: a device without sessions, and its sessions back again.
#include <cstdint>
#include <string>

#include "runtime/control/protocol.hpp"
#include "runtime/session/turn.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/moves/moved_sessions.hpp"

namespace fairgv::tools {
namespace {

using Command = control::ControlRequest::Command;

struct DrainOptions {
  std::uint32_t device = 0;
  bool json = false;
  std::string socket;
};

void add_drain_command(CLI::App& app, Action& action, const char* name, const char* help, Command what,
                       DrainOptions& options) {
  CLI::App* const added = app.add_subcommand(name, help);
  added->add_option("device", options.device, "Number of the device, as by fairgv ps")
      ->required()
      ->type_name("DEVICE")
      ->check(CLI::Range(0U, session::kMaxDevices - 1));
  added->add_flag("--json", options.json, "As JSON, for programs");
  add_socket_option(*added, options.socket);
  added->callback([&action, name, what, &options] {
    action = [name, what, &options] {
      control::ControlRequest request;
      request.command = what;
      request.device = options.device;
      return ask_and_print_moves(name, request, options.socket, options.json);
    };
  });
}

}  // namespace

void add_drains(CLI::App& app, Action& action) {
  static DrainOptions drain, undrain;
  add_drain_command(app, action, "drain",
                    "Move all sessions from a device to others, or park them, and let none begin there: "
                    "fairgv drain DEVICE",
                    Command::drain, drain);
  add_drain_command(app, action, "undrain",
                    "Use a drained device again, and bring its sessions back: fairgv undrain DEVICE",
                    Command::undrain, undrain);
}

}  // namespace fairgv::tools
