// Keeps the table of the host's devices, as workers see them: a worker sees the devices that its user may
// open. A device that no worker has seen before goes behind the others, with a dispatcher and a ledger.
// Beside it: which of them sessions may use (Placements).
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/devices/table.hpp"
#include "runtime/daemon/devices/view.hpp"
#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/sessions/placements.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class DeviceKeeper {
 public:
  DeviceKeeper(const Config& config, DispatchLoop& dispatch, Tenancies& tenancies, UserLog& log);
  DeviceKeeper(const DeviceKeeper&) = delete;
  DeviceKeeper& operator=(const DeviceKeeper&) = delete;

  const DeviceTable& table() const { return table_; }
  Placements& placements() { return placements_; }
  /// Adds a device behind the others; `hardware` is the first device that is the same hardware, or the device
  /// itself.
  void add(const session::DeviceDescription& device, std::uint32_t hardware);
  /// No session begins on the device from now on, or sessions may again.
  void set_drained(std::uint32_t device, bool drained);
  /// The same as drained, until set_drained(device, false).
  void set_failed(std::uint32_t device, const std::string& reason);
  /// The devices that this session's worker has seen. If the table has no room for them, or has them
  /// otherwise, the table begins anew, provided that no session runs and no tenant owes anything.
  Result<DeviceView> see(const Account& account, const std::vector<session::DeviceDescription>& seen,
                         const Sessions& sessions);
  /// The same devices, as the books number them.
  DeviceView in_books(const DeviceView& view) const { return view.through(table_.hardware); }

 private:
  bool begin_anew(const Sessions& sessions);

  const Config& config_;
  DispatchLoop& dispatch_;
  Tenancies& tenancies_;
  UserLog& log_;
  DeviceTable table_;
  struct StillDrained {
    session::DeviceDescription device;
    std::optional<std::string> failure{};
  };
  std::vector<StillDrained> still_drained_;  // of a table that began anew
  Placements placements_;
};

}  // namespace fairgv::daemon
