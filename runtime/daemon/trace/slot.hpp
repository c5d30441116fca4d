// The one place for a trace's reader (trace.hpp): one control connection at a time, and none for so long that
// others wait too long.
//
// A trace ends when its connection is gone or has asked for nothing for a while; at once when an
// administrator wants to trace and its reader is not an administrator; and, unless an administrator reads it,
// when it has lasted for its turn and somebody else wants to trace. Its reader hears why with the next
// request. Used by the server's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/trace/trace.hpp"

namespace fairgv::daemon {

class TraceSlot {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// How long a reader may ask for nothing: `fairgv trace` asks every 50 ms.
  static constexpr std::chrono::seconds kPatience{10};
  /// How long a user's trace goes on while somebody else waits.
  static constexpr std::chrono::seconds kTurn{60};

  /// The trace of this connection, which goes on, or is begun by `begin`. An Error says why there is none.
  template <class Begin>
  Result<Trace*> ask(std::uint64_t connection, const Account& account, Time now, Begin begin) {
    FAIRGV_CHECK(make_room(connection, account, now));
    if (trace_ == nullptr) {
      trace_ = begin();
      reader_ = {connection, account, now, now};
    }
    reader_.asked = now;
    return trace_.get();
  }
  /// Null: nobody traces.
  const Trace* current() const { return trace_.get(); }
  /// The session's worker is dead, and its memory is about to go.
  void take_last(Session& session) {
    if (trace_ != nullptr) trace_->take_last(session);
  }
  /// The connection is gone, and with it its trace.
  void leave(std::uint64_t connection);

  /// When expire() wants to be called.
  std::optional<Time> deadline() const;
  /// Ends a trace that nobody reads.
  void expire(Time now);

 private:
  struct Reader {
    std::uint64_t connection = 0;
    Account account;
    Time begun, asked;
  };
  Result<void> make_room(std::uint64_t connection, const Account& account, Time now);
  void end(const std::string& reason);

  std::unique_ptr<Trace> trace_;
  Reader reader_;                               // of that one
  std::map<std::uint64_t, std::string> ended_;  // why, by connections that have not heard it yet
};

}  // namespace fairgv::daemon
