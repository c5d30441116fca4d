// A trace that is being recorded: turns from the dispatchers, commands from the workers' rings
// (session/trace.hpp), memory from the ledger, for one control connection (`fairgv trace`).
//
// Recording begins with the object and ends with it. One at a time (TraceSlot). The server's thread owns it,
// so that dispatching does not wait for it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "memquota/ledger.hpp"
#include "runtime/control/trace_report.hpp"
#include "runtime/daemon/devices/table.hpp"
#include "runtime/daemon/dispatch/dispatch_looks.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/trace/reader.hpp"

namespace fairgv::daemon {

class Trace {
 public:
  struct Choice {
    std::string tenant;                   // empty: all
    std::optional<std::uint32_t> device;  // none: all
    std::optional<uid_t> only_of;         // sessions on this user's account; none: everybody's
  };

  /// The parts of the daemon that are recorded. All of them outlive the trace.
  struct Subject {
    DispatchLooks& dispatch;
    const memquota::Ledger& memory;
    const DeviceTable& devices;
    const Sessions& sessions;
  };
  Trace(const Subject& subject, Choice choice);
  ~Trace();
  Trace(const Trace&) = delete;

  /// The records since the last call. Sessions that have begun meanwhile are recorded from now on.
  control::TraceReport take();
  /// The session's worker is dead, and its memory is about to go.
  void take_last(Session& session);

 private:
  bool chosen(const Session& session) const;
  void begin(Session& session);
  void take_turns();
  void take_memory();

  const Subject subject_;
  const Choice choice_;
  const std::uint32_t number_;
  std::map<SessionId, TraceReader> readers_;
  std::set<SessionId> known_;  // also those that are gone
  std::uint64_t lost_of_gone_ = 0;
  control::TraceReport next_;  // take() returns it next
};

}  // namespace fairgv::daemon
