// Tells which tenants are overloaded: gOver's overload detection and QoS guarantee (section 3.3).
//
// - By use: u_i above U_o three times in succession.
// - By service: the level is below the target; e_i = target - level.
// - Several tenants overloaded in the same second are a warning.
//
// Chosen here:
// - A tenant that has all of the cap that was sold to it is not overloaded: it uses what it bought, and its
//   cap may not grow any more. Without this rule a program that uses whatever it gets would signal for ever,
//   and nothing would be sold beside it.
// - A service below its target counts only if its tenant used nearly all of its cap. A program that is slow
//   for other reasons, or has nothing to do, is not helped by a higher cap. The paper's programs render all
//   the time.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "sched/oversell/monitor.hpp"

namespace fairgv::sched::oversell {

/// U_o. The paper prints no number; section 4.2 calls u above 95 % "a vGPU overload signal".
inline constexpr double kOverloaded = 0.95;
/// From here on a tenant is short of capacity. Chosen here.
inline constexpr double kShortOfCapacity = 0.85;
/// "three times in succession" (section 3.3).
inline constexpr int kInSuccession = 3;

struct Overload {
  TenantId id;
  double shortfall = 0;  // of its service, as a part of the target; 0: its use alone is too high

  friend bool operator==(const Overload&, const Overload&) = default;
};

class Detector {
 public:
  /// Once per second, with the loads of all tenants. The overloaded ones; broken services first, the most
  /// broken foremost.
  std::vector<Overload> look(std::span<const Load> loads);
  void forget(TenantId id) { above_.erase(id); }

  /// Seconds in succession without a signal.
  int quiet_seconds() const { return quiet_seconds_; }

 private:
  std::unordered_map<TenantId, int> above_;  // seconds in succession with u_i above U_o
  int quiet_seconds_ = 0;
};

}  // namespace fairgv::sched::oversell
