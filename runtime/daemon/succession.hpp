// One fairgvd making way for the next in the same process: what it takes along (handover/handover.hpp) is
// gathered, the program is replaced, and the new one goes on with what it finds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/daemon/handover/handover.hpp"
#include "runtime/daemon/reports/daemon_life.hpp"
#include "runtime/daemon/reports/usage_keeper.hpp"
#include "runtime/daemon/session_table.hpp"

namespace fairgv::daemon {

/// The parts that go on under the next daemon. All of them outlive this.
struct Estate {
  DispatchLoop& dispatch;
  Tenancies& tenancies;
  DeviceKeeper& devices;
  Markets& markets;
  SessionTable& sessions;
  UsageKeeper& usage;
  DaemonLife& life;
};

/// All of it, written down. Every session must be settled, and the dispatcher frozen.
Handover gather(const Estate& estate, int listener, int lock);

/// Replaces this program by `program`, with the arguments and `--resume-fd N`. Returns only with an Error,
/// and then everything is as it was. First tries whether the program runs at all with these arguments.
Error replace_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      const Handover& handover);

/// Takes over tenants and sessions. A session that cannot go on ends, and the log says why.
void go_on(const Handover& handover, const Estate& estate);

}  // namespace fairgv::daemon
