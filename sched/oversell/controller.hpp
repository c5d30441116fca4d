// Overselling of one device (gOver, section 3): takes what the tenants did once per second, and answers with
// their caps, with overloads, and with the capacity that is for sale. The owner of the device's tenants calls
// it: the simulator's run, or a daemon, which sets the caps as TenantAttributes::max of the policy `cap`.
//
//   sell() --> second() --> monitor --> detector --> mitigator --> take_changes()
//                 ^                                  capacity  --> for_sale() --> sell() ...
//                 +---- once per second ----+
//
// The caps of all tenants and the free capacity add up to the whole device, always. So the policy can keep
// every cap at the same time, and nobody takes what another tenant needs. (With a fixed ratio they add up to
// the whole device when all that may be sold is sold.)
//
// Pure logic; not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sched/oversell/capacity.hpp"

namespace fairgv::sched::oversell {

/// The name of the policy that keeps the caps.
inline constexpr std::string_view kPolicy = "cap";

struct CapChange {
  TenantId id;
  Share cap{};

  friend bool operator==(const CapChange&, const CapChange&) = default;
};

/// The result of one second.
struct Report {
  std::vector<Load> loads;
  std::vector<Overload> overloaded;
  /// Several tenants are overloaded at once (section 3.3), or a broken service got nothing (chosen here): a
  /// tenant should move to another device.
  bool warning = false;
};

class Controller {
 public:
  struct Settings {
    Share sell_up_to = kSellUpTo;                         // U_l
    std::optional<StaticOversubscription> fixed_ratio{};  // instead: caps never change
  };

  Controller() : Controller(Settings{}) {}
  explicit Controller(const Settings& settings) : settings_(settings) {}

  /// The largest cap that a new tenant can buy now.
  Share for_sale() const;
  /// Takes a tenant on. Its cap is `initial` at once (with a fixed ratio, its part of that). target: its
  /// units of work per second; 0: none. Returns false, and changes nothing, if that is not for sale, nothing
  /// is wanted, or the tenant is here already.
  bool sell(TenantId id, Share initial, double target);
  /// Takes a tenant over as it was, for instance after a restart of the caller. It counts as new. Returns
  /// false, and changes nothing, if its cap is more than what it bought or what is free (a fixed ratio has
  /// its own caps), or the tenant is here already.
  bool take_over(TenantId id, Share initial, Share cap, double target);
  /// A tenant buys more, which must be for sale, or less. Its cap grows or shrinks with that. Returns false,
  /// and changes nothing, if there is not so much, nothing would be left, or the tenant is unknown.
  bool resize(TenantId id, Share initial);
  /// The tenant has left. Unknown tenants are ignored.
  void remove(TenantId id);
  void set_target(TenantId id, double target);

  /// A second has passed. A tenant without an observation has done nothing; unknown tenants are ignored.
  Report second(std::span<const Observation> seen);

  /// The caps that have changed since the last call, and those of new tenants.
  std::vector<CapChange> take_changes();
  /// Nothing for an unknown tenant.
  Share cap(TenantId id) const;
  Share bought(TenantId id) const;
  bool knows(TenantId id) const { return tenants_.contains(id); }
  /// Of all tenants, in the order of their ids: the conclusions from the latest second.
  std::vector<Load> loads() const;
  const Settings& settings() const { return settings_; }
  /// Capacity that nobody holds.
  Share free() const { return free_; }
  /// The paper's total_load, of the latest second.
  double total_load() const { return oversell::total_load(loads()); }
  double overbooking() const { return oversell::overbooking(loads()); }

 private:
  struct Tenant {
    Monitor monitor;
    Share cap{};
    bool changed = true;
  };

  Division division() const;
  void adopt(const Division& division);

  Settings settings_;
  std::map<TenantId, Tenant> tenants_;  // in order: the same input gives the same output
  Share free_ = kWholeDevice;           // not with a fixed ratio
  Detector detector_;
};

}  // namespace fairgv::sched::oversell
