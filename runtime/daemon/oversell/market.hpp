// One device whose time is oversold (gOver, section 3): what its tenants have bought and may use, by what
// they did in each second. The controller decides (sched/oversell/controller.hpp); a market makes
// observations for it out of the dispatcher's books, and says which caps changed.
//
//   readings of the books --> look() --> Controller::second() --> take_caps() --> the policy `cap`
//   sell(), resize(), take_over(), remove() <-- tenants that come, change and go
//
// - A look is due at the beginning of each second of the caller's clock, as the policy's seconds are: a cap
//   that changes holds from the beginning of a second on. A look that comes late shares what it finds evenly
//   among the seconds that it covers.
// - Nothing is known of a tenant's first, broken second: it counts as one in which it did nothing. The tenant
//   is new then, and nobody takes anything from it.
// - While another policy is in force the market rests: tenants have what they have bought, nothing is
// watched,
//   no cap moves, and only what was never sold is for sale.
//
// Pure logic; time is an argument. Not thread-safe: Markets owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/daemon/dispatch/device_use.hpp"
#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "sched/oversell/controller.hpp"

namespace fairgv::daemon {

class Market {
 public:
  using Time = sched::Time;
  using Share = sched::Share;
  using Settings = sched::oversell::Controller::Settings;

  explicit Market(const Settings& settings) : controller_(settings) {}

  // -- tenants; the same rules as the controller's

  Share for_sale() const;
  bool sell(TenantId id, Share wanted, double target);
  bool resize(TenantId id, Share bought);
  /// A tenant that was here before the market, or under a daemon before this one. Its cap is cut to what is
  /// free.
  void take_over(TenantId id, Share bought, Share cap, double target);
  void remove(TenantId id);
  void set_target(TenantId id, double target) { controller_.set_target(id, target); }

  bool knows(TenantId id) const { return controller_.knows(id); }
  bool empty() const { return customers_.empty(); }
  Share bought(TenantId id) const { return controller_.bought(id); }
  Share cap(TenantId id) const { return controller_.cap(id); }
  /// In the order of their ids.
  std::vector<TenantId> tenants() const;

  // -- time

  /// When look() is due: at the beginning of the second after the latest look.
  Time next_look() const { return next_look_; }
  /// `readings`: of all tenants with sessions; others' are passed over.
  void look(const std::vector<TenantReading>& readings, Time now);
  /// Another policy is in force, or the policy `cap` is again: take_caps() then has the caps of all tenants.
  void set_resting(bool resting);
  bool is_resting() const { return resting_; }
  /// The caps to set: those that have changed since the last call. None: the tenant's own ceiling.
  std::vector<TenantCap> take_caps();

  // -- looking

  const sched::oversell::Controller& controller() const { return controller_; }
  /// Of the latest second.
  const sched::oversell::Report& report() const { return report_; }
  /// The conclusion from the tenant's latest second; nothing if it is unknown.
  std::optional<sched::oversell::Load> load(TenantId id) const;
  /// Seconds in which the tenant's service was below its target.
  std::uint64_t broken_seconds(TenantId id) const;

  struct Totals {
    std::uint64_t warnings = 0;  // seconds with a warning
    std::uint64_t changes = 0;   // caps that were changed for an overloaded tenant or a newcomer
  };
  const Totals& totals() const { return totals_; }

 private:
  struct Customer {
    std::optional<TenantReading> last{};  // at the latest look
    std::uint64_t broken = 0;
  };

  sched::oversell::Controller controller_;
  std::map<TenantId, Customer> customers_;
  sched::oversell::Report report_;
  Totals totals_;
  std::optional<Time> looked_;
  Time next_look_{};
  bool resting_ = false;
  bool tell_all_ = false;
};

}  // namespace fairgv::daemon
