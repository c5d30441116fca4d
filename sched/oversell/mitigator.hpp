// Gives an overloaded tenant capacity that others do not use: gOver's overload mitigation (section 3.3,
// algorithm 1). The overloaded tenant gets one fifth of the unused cap of the lightest tenant.
//
// Algorithm 1 as printed has defects. Here:
// - It never updates `lightest` in its loop, so that the last tenant with a factor below MAX_INT would win.
//   Here the tenant with the smallest factor gives.
// - The overloaded tenant could be chosen itself. Here it never is.
// - It keeps the factor w_u x u_i + w_e x e_i as an int, which cuts off utilisations, and adds a ratio to
//   frames per second. Here the factor is a fraction of u_i and e_i / target.
// - The lightest tenant may have nothing to give. Here the lightest of those that have gives; no cap falls
//   below what its tenant has lately used or needed for its target.
// - It returns after a warning and leaves the rest to migration. A migration takes time, and may be
//   impossible: here every overloaded tenant is helped, the most broken service first.
//
// Chosen here:
// - A giver's cap stays at most what was sold, since it only falls (the paper wants the dynamic cap to be
//   below the initial one). The receiver's cap, too, grows to its initial cap at most: more was not bought.
// - Capacity that nobody holds is given before anybody's, as far as it is wanted.
// - A broken service gets the step as often as it takes in the same second; a high use gets one step, for
//   smooth performance (section 3.3: "as small as one-fifth").
// - If that is not enough for a broken service, tenants whose own service is above its target give what they
//   use beyond it, but keep their need and a tenth more: programs that use whatever they get would otherwise
//   be fast at the cost of a promise. A tenant without a target never gives what it uses.
// - The sum of all caps and of the free capacity never changes. Steps below 0.1 % of the device are not
//   made, so mitigation ends.
#pragma once

#include <vector>

#include "sched/oversell/detector.hpp"

namespace fairgv::sched::oversell {

/// w_u and w_e. Not printed in the paper. Chosen here: a whole cap used weighs as much as no service at all.
inline constexpr double kUseWeight = 1;
inline constexpr double kServiceWeight = 1;
/// Part of the unused cap that a step takes (section 3.3).
inline constexpr std::uint32_t kStolenFraction = 5;
/// Chosen here.
inline constexpr Share kLeastStep{Share::kWholePpm / 1'000};
/// Part of its cap by which a tenant with a high use may grow in one second, and part of the need that a
/// broken service gets in addition, since its work may go on growing. Chosen here.
inline constexpr std::uint32_t kGrowthFraction = 5;
inline constexpr std::uint32_t kSpareFraction = 10;

/// How the device is divided.
struct Division {
  struct Part {
    Load load;    // of the latest second
    Share cap{};  // from now on

    Share unused() const { return above(load.floor()); }
    /// The share without which it would still reach its target; nothing if it has none, is new, or does
    /// not reach it.
    Share surplus() const;
    /// Small: light.
    double factor() const;

    Share above(Share kept) const { return {cap.ppm > kept.ppm ? cap.ppm - kept.ppm : 0}; }
  };

  std::vector<Part> parts;
  Share free{};  // capacity that nobody holds
};

/// Changes the division for one overloaded tenant. Returns how much its cap has grown.
Share mitigate(Division& division, const Overload& overload);

}  // namespace fairgv::sched::oversell
