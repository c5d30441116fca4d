// The accelerator weight (Pegasus, section 3.2): what a device is worth to one tenant. The paper computes it
// from the profile, "current hardware capabilities and load characteristics", and gives no formula.
//
// Chosen here: weight = speed * share. The share is what `fair` would give the tenant beside those that are
// there, if it had the device on its own account. With its weight w, guarantee g and ceiling c:
//
//   entitled  = g + (1 - P - g) * w / (W + w)
//   left      = g + (1 - K - g) * w / (H + w)
//   share     = min(c, max(entitled, left))
//
// P is the sum of the guarantees of the others and W the sum of their weights. A tenant there is *content* if
// its use was last measured as less than 7/8 of what it was entitled to then, or if its ceiling is no more
// than that. All others are *hungry*: newcomers of unknown use, too. H is the weight of the hungry
// tenants. K is the use of the content ones (their ceiling, for those that it stops) and the guarantees of
// the hungry ones. So a device whose tenants idle is worth more than its weights say.
//
// Batch tenants have what normal tenants leave, and a floor. To a normal tenant they count as that floor (in
// P and K), and their guarantees. A batch tenant has its part by weight, among batch tenants, of the floor
// beside hungry normal tenants; of 1 - K beside content ones only.
//
// The share is never promised too high. Let normal tenants without guarantees and ceilings be on the device,
// and nobody have come or left since they were measured. Content ones want what they used, and hungry ones
// want all. Let x be the newcomer's share by weighted max-min fairness, which is what a work-conserving fair
// policy gives it. Then, but for rounding,
//
//   8/15 * x  <=  share  <=  x.
//
// Proof. Let the weights of the others add up to 1, and B be the content tenants that the newcomer squeezes,
// with weight q and use u; let v be the use of the other content ones. Then x = w (1 - v) / (H + q + w). The
// content ones keep at most what they used, and each tenant at least its entitlement: so share <= x. Since
// (a + w) / (1 + w) >= a for a <= 1, entitled / x >= q / (1 - v) = z. And u <= 7/8 q, so that
// left / x >= (1 - v - u) / (1 - v) >= 1 - 7/8 z. The larger of the two is least where they are equal: at
// z = 8/15. QED
//
// The in-out bandwidth decides between devices of equal weight only: transfers are device time, too, and the
// shares are of device time.
//
// Pure functions of integers, so that equal devices are worth exactly the same. Shares are rounded down.
#pragma once

#include <cstdint>

#include "sched/attributes.hpp"
#include "sched/choice/device_profile.hpp"

namespace fairgv::sched {

/// A share of a device, fine enough for one of many tenants: in units of 2^-40.
struct FineShare {
  static constexpr std::uint64_t kWhole = std::uint64_t{1} << 40;

  std::uint64_t units = 0;

  static constexpr FineShare of_ppm(std::uint64_t ppm) {
    return {(ppm < Share::kWholePpm ? ppm : Share::kWholePpm) * kWhole / Share::kWholePpm};
  }
  constexpr double fraction() const { return static_cast<double>(units) / static_cast<double>(kWhole); }

  friend auto operator<=>(const FineShare&, const FineShare&) = default;
};

struct ExpectedShare {
  FineShare entitled{};  // whatever the others do
  FineShare share{};     // while they do what they did last; not less

  friend bool operator==(const ExpectedShare&, const ExpectedShare&) = default;
};

/// A tenant that uses less than this part of what it is entitled to is content.
inline constexpr std::uint64_t kContentParts = 7;
inline constexpr std::uint64_t kContentOf = 8;

/// The tenant's share of a device beside others. `others`: without the tenant itself.
ExpectedShare expected_share(const DeviceLoad& others, const TenantAttributes& attributes);

/// Part of the device that is promised to batch tenants together, if there are any.
std::uint64_t batch_floor_ppm(bool any_batch_tenant);

}  // namespace fairgv::sched
