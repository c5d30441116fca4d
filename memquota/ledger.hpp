// The ledger of device memory: what every session of every tenant holds on every device, and whether it may
// have more (FairGV, section 6: allocations are charged before the driver is asked).
//
// A tenant has a limit and a reserve on each device. The sum of limits may be more than the device has: what
// nobody has reserved goes to who comes first. A reserve is a guarantee: what a tenant has reserved and not
// used is kept free of all others. A charge of `bytes` is granted if, on every device that it names,
//
//   charged(tenant) + bytes <= limit(tenant), and
//   charged(all) + bytes + sum over the other tenants of max(0, reserve - charged) <= capacity.
//
// What is guaranteed, whatever the order of calls:
//  - A charge is granted on all of its devices or on none.
//  - No grant brings a tenant above its limit or a device above its capacity. A limit or a capacity that is
//    lowered below what is held takes nothing away and grants nothing more.
//  - As long as limits, reserves and capacities stay, a tenant is never refused what lies within its reserve.
//  - A session that ends holds nothing; with no sessions the whole ledger is zero.
//
// A reserve beyond the tenant's limit counts up to the limit. Reserves that sum up to more than the device
// has cannot be kept: on such a device none holds (reserved() and capacity() tell). All sizes are bytes. Pure
// logic, not thread-safe: it belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fairgv::memquota {

inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// A session, by the number that the owner of sessions gave it.
enum class SessionKey : std::uint32_t {};

/// Devices by index: bit d is device d.
using DeviceSet = std::uint64_t;
inline constexpr std::size_t kMostDevices = 64;

struct Allowance {
  std::uint64_t limit = kUnlimited;
  std::uint64_t reserve = 0;
};

/// Why a charge was refused, and on which device first.
struct Refusal {
  enum class Rule { limit, device_full };
  std::uint32_t device = 0;
  Rule rule = Rule::limit;
  bool operator==(const Refusal&) const = default;
};

class Ledger {
 public:
  /// Begins anew with these devices and what each can share out, at most kMostDevices: forgets all sessions
  /// and allowances.
  void reset(std::vector<std::uint64_t> capacities);
  /// One more device, behind the others. Past kMostDevices there is none.
  void add_device(std::uint64_t capacity);
  /// Of a device that there is.
  void set_capacity(std::uint32_t device, std::uint64_t capacity);

  /// What the tenant may hold on a device from now on. A tenant of whom nothing was said has no limit and no
  /// reserve.
  void allow(const std::string& tenant, std::uint32_t device, Allowance allowance);
  /// Forgets what was said of a tenant, unless it has a session.
  void forget(const std::string& tenant);

  void begin(SessionKey session, const std::string& tenant);
  /// Everything that the session was granted is free again. Nothing happens if there is no such session.
  void end(SessionKey session);

  /// Nothing if it was granted, as zero bytes always are. A session that has not begun and devices that there
  /// are not are refused.
  std::optional<Refusal> charge(SessionKey session, DeviceSet devices, std::uint64_t bytes);
  /// Enters what the session was granted by a ledger before this one, whatever the rules say now. False if
  /// that is more than can be counted.
  [[nodiscard]] bool restore(SessionKey session, std::uint32_t device, std::uint64_t bytes);
  /// False, and nothing happens, if the session was granted less than that on one of the devices.
  [[nodiscard]] bool give_back(SessionKey session, DeviceSet devices, std::uint64_t bytes);

  std::size_t devices() const { return capacities_.size(); }
  std::uint64_t capacity(std::uint32_t device) const { return capacities_[device]; }
  /// The sum of all reserves, or kUnlimited if that is beyond 64 bits.
  std::uint64_t reserved(std::uint32_t device) const;
  std::uint64_t charged(std::uint32_t device) const { return charged_[device]; }
  std::uint64_t charged(const std::string& tenant, std::uint32_t device) const;
  std::uint64_t charged(SessionKey session, std::uint32_t device) const;
  Allowance allowance(const std::string& tenant, std::uint32_t device) const;
  /// The largest charge that the session would be granted on the device now.
  std::uint64_t left(SessionKey session, std::uint32_t device) const;

 private:
  struct Position {
    Allowance allowance;
    std::uint64_t charged = 0;

    std::uint64_t reserve() const;
    std::uint64_t unused_reserve() const;
  };
  struct Account {
    std::uint32_t sessions = 0;
    std::vector<Position> positions;  // by device
  };
  struct Session {
    Account* account;
    std::vector<std::uint64_t> granted;  // by device
  };

  Account& account(const std::string& tenant);
  /// The most that `account` can have beyond what it has, by each of the two rules.
  std::uint64_t below_limit(const Account& account, std::uint32_t device) const;
  std::uint64_t room(const Account& account, std::uint32_t device) const;
  bool has_devices(DeviceSet devices) const;

  std::vector<std::uint64_t> capacities_;
  std::vector<std::uint64_t> charged_;  // by device, of all tenants
  std::map<std::string, Account> accounts_;
  std::map<SessionKey, Session> sessions_;
};

}  // namespace fairgv::memquota
