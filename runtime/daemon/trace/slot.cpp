#include "runtime/daemon/trace/slot.hpp"

namespace fairgv::daemon {

/// Nothing if the connection traces, or may begin to.
Result<void> TraceSlot::make_room(std::uint64_t connection, const Account& account, Time now) {
  if (const auto found = ended_.find(connection); found != ended_.end()) {
    const Error error{found->second};
    ended_.erase(found);
    return error;
  }
  if (trace_ == nullptr || reader_.connection == connection) return {};
  if (reader_.account.administrator || (!account.administrator && now - reader_.begun < kTurn)) {
    return Error{"somebody else traces: one trace is recorded at a time; try again later"};
  }
  end(account.administrator ? "the trace has ended: an administrator traces now"
                            : "the trace has ended: it has lasted for " + std::to_string(kTurn.count()) +
                                  " s and somebody else traces now");
  return {};
}

void TraceSlot::end(const std::string& reason) {
  trace_.reset();
  ended_[reader_.connection] = reason;
}

void TraceSlot::leave(std::uint64_t connection) {
  ended_.erase(connection);
  if (trace_ != nullptr && reader_.connection == connection) trace_.reset();
}

std::optional<TraceSlot::Time> TraceSlot::deadline() const {
  return trace_ == nullptr ? std::nullopt : std::optional(reader_.asked + kPatience);
}

void TraceSlot::expire(Time now) {
  if (trace_ == nullptr || now < reader_.asked + kPatience) return;
  end("the trace has ended: nothing was asked for in " + std::to_string(kPatience.count()) + " s");
}

}  // namespace fairgv::daemon
