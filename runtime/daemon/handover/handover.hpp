// The state that one fairgvd leaves to the next when it is restarted or upgraded while programs run. The
// process replaces itself (execve), so that workers stay its children and descriptors stay open; the rest of
// its state goes through a memory file in this form.
//
// Workers and clients notice nothing: turns are in shared pages, knocks wait in their eventfds, and a session
// that wants a turn waits a moment longer. Two things are not handed over: the recent half second of shares,
// and a policy that was set by hand, since the configuration is read again.
//
// The text has a version. Fields that were added later may be missing, so that an upgrade keeps sessions. A
// daemon that does not know the version cannot take over, and its sessions end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/control/pause.hpp"
#include "runtime/control/usage.hpp"
#include "runtime/daemon/books/kill_book.hpp"
#include "runtime/daemon/books/memory_book.hpp"
#include "runtime/daemon/devices/device_map.hpp"
#include "runtime/daemon/devices/hardware.hpp"
#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/oversell/holding.hpp"
#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/daemon/tenants/tenants.hpp"
#include "runtime/daemon/worker/process.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

/// The version of the text. A new version means that older daemons cannot read the text.
inline constexpr std::uint64_t kHandoverVersion = 1;

struct HandedTenant {
  std::string name;
  uid_t uid = 0;
  session::TenantWish asked;
  session::TenantWish set;
  std::vector<TenantBooks> books;  // by device
  std::optional<MemorySize> asked_memory{};
  std::optional<MemorySize> set_memory{};
  TenantCounts counts{};
  std::vector<std::chrono::nanoseconds> entitled{};  // by device
  std::vector<MemoryTotals> memory{};                // by device
  std::vector<control::UsageAmounts> sampled{};      // by device, as in the usage store; empty: it is off
  std::string class_name{};
  bool assigned = false;
  bool in_background = false;  // see Tenant
  std::optional<control::Pause> paused{};
  Probation probation{};
  std::vector<Holding> holdings{};  // of devices that are oversold
};

/// A parked session, as in ParkedSession.
struct HandedPark {
  int image = -1;
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> holdings{};
  control::Pause by{};
  std::optional<std::uint32_t> drained{};
  bool to_file = false;
  bool wakes = false;
};

/// A session that was running. The descriptors are those of Session.
struct HandedSession {
  std::uint32_t id = 0;
  std::string tenant;
  PeerCredentials peer;
  std::string program;
  std::uint64_t features = 0;
  std::string slicing;
  session::Api api = session::Api::opencl;
  std::vector<session::LongCommand> long_commands;
  std::vector<std::uint32_t> devices;  // the host's devices that its worker sees
  std::uint64_t hidden = 0;            // of them, by their places there, those that its program may not use
  DeviceMap moved{};                   // where its program's devices lie
  bool owes_answer = false;            // its worker: about a move that has failed
  std::vector<Evacuation> evacuated{};
  std::vector<std::string> passed_over{};
  HandedWorker worker;
  std::optional<HandedPark> parked{};  // then it has neither worker nor channel nor ledger
  int client = -1, channel = -1, ledger = -1, knock = -1, turns = -1, segment = -1;
  int messages = -1;    // the worker's standard error; -1: it goes to the daemon's own
  int output_end = -1;  // the kernels' output is written to it; -1: the client does not read it
  SessionBooks books;
  std::vector<std::uint64_t> memory;      // by device: bytes that the session was granted
  std::vector<std::uint64_t> holdings{};  // the same by its worker's devices; an older daemon did not keep it
  std::optional<control::Pause> paused{};
  std::optional<std::chrono::steady_clock::time_point> held_back_until{};
  std::optional<std::chrono::steady_clock::time_point> started{};  // none: an older daemon started it
};

struct Handover {
  int listener = -1;
  bool listener_is_borrowed = false;  // from a service manager, to which the path belongs
  int lock = -1;
  std::uint32_t last_session = 0;
  std::uint64_t restarts = 0;  // before this restart
  double served_s = 0;         // since the first daemon of the series began
  std::vector<session::DeviceDescription> devices;
  Hardware hardware;                  // by device; an older daemon knew of none that are the same
  std::vector<HandedTenant> tenants;  // in the order in which they came
  std::vector<HandedSession> sessions;
  std::vector<Kill> kills{};                      // the latest last; an older daemon did not keep them
  std::vector<std::uint32_t> drained{};           // devices; an older daemon drained none
  std::map<std::uint32_t, std::string> failed{};  // those of them that have failed, and why
};

std::string to_text(const Handover& handover);
Result<Handover> parse_handover(std::string_view text);

/// Writes the text to a memory file that survives execve, and reads it again. Reading takes the file.
Result<UniqueFd> store(const Handover& handover);
Result<Handover> take(UniqueFd file);

/// Sets whether every descriptor of the handover survives execve. False if one is not a descriptor.
bool keep_over_exec(const Handover& handover, bool keep);

}  // namespace fairgv::daemon
