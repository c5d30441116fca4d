// The ledger of device memory: how much every session of every tenant holds on every device, and whether it
// may have more (FairGV, section 6: allocations are charged before the driver is asked).
//
// A tenant has a limit and a reserve on each device. The sum of limits may exceed the device's memory:
// unreserved memory goes to the tenant that asks first. A reserve is a guarantee: memory that a tenant has
// reserved and not used is kept free of all others. A charge of `bytes` is granted if, on every device that
// it names,
//
//   charged(tenant) + bytes <= limit(tenant), and
//   charged(all) + bytes + sum over the other tenants of max(0, reserve - charged) <= capacity.
//
// Guarantees, whatever the order of calls:
//  - A charge is granted on all of its devices or on none.
//  - No grant brings a tenant above its limit or a device above its capacity. A limit or a capacity that is
//    lowered below what is held takes nothing away and grants nothing more.
//  - While limits, reserves and capacities stay, a tenant is never refused a charge within its reserve.
//  - A session that ends holds nothing; with no sessions the whole ledger is zero.
//
// A reserve beyond the tenant's limit counts up to the limit. If the reserves sum up to more than the device
// has, none of them holds on that device (reserved() and capacity() tell). All sizes are bytes. Pure logic,
// not thread-safe: it belongs to one thread.
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

/// A session, by the number that the owner of the sessions gave it.
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
  /// Begins anew with a device for each capacity, at most kMostDevices: forgets all sessions and allowances.
  void reset(std::vector<std::uint64_t> capacities);
  /// Adds a device behind the others. No effect past kMostDevices.
  void add_device(std::uint64_t capacity);
  /// The device must exist.
  void set_capacity(std::uint32_t device, std::uint64_t capacity);

  /// Sets how much the tenant may hold on a device from now on. A tenant without an allowance has no limit
  /// and no reserve.
  void allow(const std::string& tenant, std::uint32_t device, Allowance allowance);
  /// Forgets a tenant's allowances, unless it has a session.
  void forget(const std::string& tenant);

  void begin(SessionKey session, const std::string& tenant);
  /// Frees everything that the session was granted. Nothing happens if there is no such session.
  void end(SessionKey session);

  /// Nothing if the charge was granted; zero bytes always are. Unknown sessions and devices are refused.
  std::optional<Refusal> charge(SessionKey session, DeviceSet devices, std::uint64_t bytes);
  /// Enters bytes that an earlier ledger granted to the session, whatever the rules say now. False if the sum
  /// overflows.
  [[nodiscard]] bool restore(SessionKey session, std::uint32_t device, std::uint64_t bytes);
  /// False, without effect, if the session was granted fewer bytes on one of the devices.
  [[nodiscard]] bool give_back(SessionKey session, DeviceSet devices, std::uint64_t bytes);

  std::size_t devices() const { return capacities_.size(); }
  std::uint64_t capacity(std::uint32_t device) const { return capacities_[device]; }
  /// The sum of all reserves, or kUnlimited if that is beyond 64 bits.
  std::uint64_t reserved(std::uint32_t device) const;
  std::uint64_t charged(std::uint32_t device) const { return charged_[device]; }
  std::uint64_t charged(const std::string& tenant, std::uint32_t device) const;
  std::uint64_t charged(SessionKey session, std::uint32_t device) const;
  Allowance allowance(const std::string& tenant, std::uint32_t device) const;
  /// Bytes of the device that others have reserved and not used: the tenant cannot have them.
  std::uint64_t kept_from(const std::string& tenant, std::uint32_t device) const;
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
  /// The most that `account` can get in addition, by each of the two rules.
  std::uint64_t below_limit(const Account& account, std::uint32_t device) const;
  std::uint64_t room(const Account& account, std::uint32_t device) const;
  std::uint64_t kept_from(const Account* account, std::uint32_t device) const;
  bool has_devices(DeviceSet devices) const;

  std::vector<std::uint64_t> capacities_;
  std::vector<std::uint64_t> charged_;  // by device, of all tenants
  std::map<std::string, Account> accounts_;
  std::map<SessionKey, Session> sessions_;
};

}  // namespace fairgv::memquota
