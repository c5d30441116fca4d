// How much of a device may be sold: gOver's assessment of the potential for overselling (section 3.3).
//
// total_load = sum of u_i x cap_i. If there was no overload signal three times in succession and the load is
// below U_l, one more tenant may be taken on. gOver publishes VMs of one size; here the capacity for sale is
// a share, and a tenant may buy up to that.
//
// Chosen here:
// - "Below U_l" includes the newcomer: what is sold may be used at once and whole, and the load must not pass
//   U_l even then.
// - The load that counts is not that of the latest second alone: each tenant counts with the most that it has
//   used or needed lately, and a new one with all that it has. A device must not be sold in a light scene.
// - The unsold part of the device is always for sale; that is not overselling (section 3.3: "we first sell
//   the physical machines in non-oversubscribed mode").
//
// Static oversubscription, to compare with, sells a fixed multiple of the device, whatever the load is; each
// cap is the sold share divided by the ratio (section 4.3.2: half a device under ratio 1.5 is "33%").
#pragma once

#include <span>

#include "sched/oversell/mitigator.hpp"

namespace fairgv::sched::oversell {

/// U_l. Not printed in the paper. Chosen here: what is left is for demand that grows before the next second.
inline constexpr Share kSellUpTo{Share::kWholePpm * 98 / 100};

/// total_load of the paper, in the latest second.
double total_load(std::span<const Load> loads);
/// The sum of what tenants have lately used or needed, in ppm.
std::uint64_t remembered_load(std::span<const Load> loads);
/// The sum of the caps that were sold, as a multiple of the device: the paper's overbooking ratio.
double overbooking(std::span<const Load> loads);

/// Of the device, beside these tenants.
Share for_sale(std::span<const Load> loads, int quiet_seconds, Share sell_up_to = kSellUpTo);

/// Lowers caps, in proportion to what their tenants do not need, until so much of the device is free.
/// Returns false, and changes nothing, if there is not so much.
bool make_room(Division& division, Share wanted);

struct StaticOversubscription {
  double ratio = 1;  // at least 1

  Share cap(Share sold) const;
  /// At most the whole device at once.
  Share for_sale(std::span<const Load> loads) const;
};

}  // namespace fairgv::sched::oversell
