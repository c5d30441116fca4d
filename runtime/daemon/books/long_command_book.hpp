// What one session's worker has told of commands that held a device for too long.
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
  /// What a daemon before this one had in its own.
  explicit LongCommandBook(std::vector<session::LongCommand> all) : all_(std::move(all)) {}

  /// Replaces what was told of the same name on the same one of the worker's `devices`; in the book they have
  /// the host's numbers. Returns whether it is the first of its name there. An Error is for what no worker of
  /// ours says.
  Result<bool> take(session::LongCommand command, const DeviceView& devices);

  /// In the order in which they were first told.
  const std::vector<session::LongCommand>& all() const { return all_; }

 private:
  bool has_room_for(const std::string& name) const;

  std::vector<session::LongCommand> all_;
};

}  // namespace fairgv::daemon
