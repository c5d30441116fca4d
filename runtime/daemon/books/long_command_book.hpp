// The commands that held a device for too long, as one session's worker has reported them.
//
// A worker runs its tenant's kernels, so it is not believed: a book has few entries, of devices that exist.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/daemon/devices/view.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

class LongCommandBook {
 public:
  LongCommandBook() = default;
  /// `all`: the commands in the book of the daemon before this one.
  explicit LongCommandBook(std::vector<session::LongCommand> all) : all_(std::move(all)) {}

  /// Replaces the entry of the same name on the same device of the worker's `devices`; in the book devices
  /// have the host's numbers. Returns whether the command is the first of its name there. An Error means that
  /// no worker of ours would send this.
  Result<bool> take(session::LongCommand command, const DeviceView& devices);

  /// In the order in which they were first told.
  const std::vector<session::LongCommand>& all() const { return all_; }

 private:
  bool has_room_for(const std::string& name) const;

  std::vector<session::LongCommand> all_;
};

}  // namespace fairgv::daemon
