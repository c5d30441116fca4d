// A trace that is being recorded: turns from the dispatchers, commands from the workers' rings
// (session/trace.hpp), memory from the ledger, for one control connection (`fairgv trace`).
//
// Recording begins with the object and ends with it. Nothing is believed of what a ring holds: a record is
// copied, checked, and left out if it cannot be; a ring that is broken is not read any more. One at a time
// (Host::trace). The server's thread owns it, so that dispatching does not wait for it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "runtime/daemon/session_table.hpp"
#include "runtime/session/trace_report.hpp"

namespace fairgv::daemon {

class Trace {
 public:
  struct Choice {
    std::string tenant;                   // empty: all
    std::optional<std::uint32_t> device;  // none: all
    std::optional<uid_t> only_of;         // sessions of this user's programs; none: everybody's
  };

  /// Both outlive it; host.trace is this one meanwhile.
  Trace(Host& host, const SessionTable& sessions, Choice choice);
  ~Trace();
  Trace(const Trace&) = delete;

  /// What was recorded since the last call. Sessions that have begun meanwhile are recorded from now on.
  session::TraceReport take();
  /// The session's worker is dead, and its memory is about to go.
  void take_last(Session& session);

 private:
  struct Reader {
    ring::RingConsumer ring;
    std::atomic<std::uint64_t>* lost_count;
    std::uint64_t lost_before;  // before this trace
    std::uint64_t lost = 0;
    std::uint32_t names = 0;  // so many are known
    bool broken = false;
  };

  bool chosen(const Session& session) const;
  void begin(Session& session);
  void drain(SessionId id, Reader& reader);
  void take_record(SessionId id, Reader& reader, const ring::RecordHeader& header,
                   std::span<const std::byte> payload);
  void take_command(SessionId id, Reader& reader, std::uint64_t name, std::span<const std::byte> payload);
  void take_turns();
  void take_memory();

  Host& host_;
  const SessionTable& sessions_;
  const Choice choice_;
  const std::uint32_t number_;
  std::map<SessionId, Reader> readers_;
  std::set<SessionId> known_;  // also those that are gone
  std::uint64_t lost_of_gone_ = 0;
  session::TraceReport next_;  // what take() returns next
};

/// Has the workers of this page record nothing.
void stop_recording(session::TurnPage& page);

}  // namespace fairgv::daemon
