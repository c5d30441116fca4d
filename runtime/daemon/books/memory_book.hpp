// The memory of devices that tenants hold and may hold: the one ledger of all sessions, and the rules that
// the configuration, programs and administrators make for it.
//
// Workers ask on a socket of their own (runtime/session/ledger_protocol.hpp); because one thread answers them
// all, a charge is atomic across a tenant's sessions. Nothing that a worker says is believed: it gives back
// no more than it was granted. Not thread-safe: the server's thread owns it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "memquota/ledger.hpp"
#include "runtime/base/result.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/devices/view.hpp"
#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/daemon/tenants/tenants.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

/// A tenant's memory on one device, in its life.
struct MemoryTotals {
  double byte_seconds = 0;     // bytes held, summed up over time
  std::uint64_t refusals = 0;  // charges that were not granted
};

class MemoryBook {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The devices are these from now on, and nobody holds anything. refresh() must follow.
  void set_devices(const std::vector<session::DeviceDescription>& devices);
  /// One more, behind the others, while sessions run. refresh() must follow.
  void add_device(const session::DeviceDescription& device);
  /// To be called whenever a rule or a tenant has changed. Says in the log when the reserves of a device are
  /// more than it has: then none of them holds there.
  void refresh(const DeviceRules& rules, const TenantRegistry& tenants);

  void begin(SessionId session, const std::string& tenant);
  /// Goes on with a session of the previous daemon, which was granted so much on each device. False if that
  /// is impossible. `holdings`: see holdings(); empty: that daemon did not keep them.
  bool adopt(SessionId session, const std::string& tenant, const std::vector<std::uint64_t>& granted,
             const DeviceView& devices, std::vector<std::uint64_t> holdings);
  /// The bytes that the session was granted, by device.
  std::vector<std::uint64_t> granted(SessionId session) const;
  /// The same by its program's devices, of which several may be one device of the books.
  std::vector<std::uint64_t> holdings(SessionId session) const;
  void end(SessionId session);

  // -- sessions that move

  /// The bytes that are charged twice while a session moves. One part or the other is given back, all of it,
  /// once nothing of the worker that has held it is left on the devices.
  struct Move {
    std::vector<std::uint64_t> holdings;  // by its program's devices
    std::vector<std::uint64_t> left;      // by device: bytes to give back when the move is done
    std::vector<std::uint64_t> entered;   // by device: bytes to give back when it has failed
  };
  /// Charges what the session holds on each of its program's devices where these lie `after` the move, if
  /// that is another device than `before`, or nothing: an Error says how much is missing where.
  Result<Move> begin_move(SessionId session, const DeviceView& before, const DeviceView& after);
  /// The same again while the move is under way: charges only what has been added since, and gives back what
  /// is less. After an Error the charge is as before.
  Result<void> go_on(SessionId session, Move& move, const DeviceView& before, const DeviceView& after);
  /// Charges what the session is to hold again, by its program's devices, or nothing: an Error as above.
  Result<Move> begin_return(SessionId session, const DeviceView& devices,
                            const std::vector<std::uint64_t>& holdings);
  /// Whether that would be granted now.
  bool has_room(SessionId session, const DeviceView& devices,
                const std::vector<std::uint64_t>& holdings) const;
  /// The session has moved.
  void hold(SessionId session, std::vector<std::uint64_t> holdings);
  /// It is to hold nothing; `holdings` is what it has held.
  Move release(SessionId session);
  /// By device: no more than was charged.
  void give_back(SessionId session, const std::vector<std::uint64_t>& bytes);

  /// Does what the packet of a worker with these devices asks for and returns the packet that answers it, if
  /// it wants one. A device that the view has twice is charged twice. An Error if no worker of ours would
  /// send the packet: the session must end.
  Result<std::optional<std::string>> take(SessionId session, const DeviceView& devices,
                                          std::string_view packet);

  /// Says that what the tenant holds may have changed just before `now`: to be called after take(), adopt()
  /// and end().
  void account(const std::string& tenant, Time now);
  /// By device, until now, the previous daemon's counts included.
  std::vector<MemoryTotals> totals(const std::string& tenant, Time now) const;
  void restore_totals(const std::string& tenant, const std::vector<MemoryTotals>& totals);

  /// Bytes that the tenant may hold, by device.
  std::vector<std::uint64_t> limits(const std::string& tenant) const;
  /// Bytes that each device can share out.
  std::vector<std::uint64_t> capacities() const;
  /// Bytes that are on the device, where it shares out more ([device] oversubscribe); 0: it does not.
  std::uint64_t there(std::uint32_t device) const { return device < there_.size() ? there_[device] : 0; }
  const memquota::Ledger& ledger() const { return ledger_; }

 private:
  static memquota::SessionKey key(SessionId session) { return memquota::SessionKey{session.value}; }
  void report_reserves(std::uint32_t device);
  std::optional<memquota::Refusal> charge(SessionId session, const std::vector<std::uint64_t>& sets,
                                          std::uint64_t bytes);
  Move move_of(SessionId session, const DeviceView& before, const DeviceView& after) const;
  Result<Move> enter(SessionId session, Move move);
  void note_grant(SessionId session, std::uint64_t workers, std::uint64_t bytes);
  void let_go(SessionId session, const DeviceView& devices, std::uint64_t workers, std::uint64_t bytes);
  Error no_room(SessionId session, const memquota::Refusal& refusal, std::uint64_t bytes) const;

  /// Of a tenant on one device.
  struct Account {
    MemoryTotals totals;     // until `since`
    std::uint64_t held = 0;  // from then on
    Time since{};
  };
  Account& account_of(const std::string& tenant, std::uint32_t device);

  std::vector<std::uint64_t> device_bytes_;  // as the driver says; 0: unknown
  std::vector<std::uint64_t> there_;         // by device
  memquota::Ledger ledger_;
  std::set<std::string> listed_;  // tenants of whom the ledger was told
  std::set<std::uint32_t> overbooked_;
  struct Holder {
    std::string tenant;
    std::vector<std::uint64_t> holdings{};  // by its program's devices; may be shorter than these
  };
  std::map<SessionId, Holder> holders_;                   // the sessions that have begun
  std::map<std::string, std::vector<Account>> accounts_;  // by device
};

}  // namespace fairgv::daemon
