// One fairgvd makes way for the next in the same process: its state (handover/handover.hpp) is gathered, the
// program is replaced, and the new one goes on with that state.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/daemon/handover/handover.hpp"
#include "runtime/daemon/session_table.hpp"

namespace fairgv::daemon {

/// All that is to go on. Every session must be settled, and the dispatcher frozen.
Handover gather(Host& host, const SessionTable& sessions, int listener, int lock);

/// Replaces this program by `program`, with the arguments and `--resume-fd N`. Returns only with an Error,
/// and then everything is as it was. First tries whether the program runs at all with these arguments.
Error replace_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      const Handover& handover);

/// Takes over tenants and sessions. A session that cannot go on ends, and the log says why.
void go_on(const Handover& handover, Host& host, SessionTable& sessions);

}  // namespace fairgv::daemon
