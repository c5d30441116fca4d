#include "sched/oversell/capacity.hpp"

#include <algorithm>

namespace fairgv::sched::oversell {
namespace {

std::uint64_t sold_ppm(std::span<const Load> loads) {
  std::uint64_t sold = 0;
  for (const Load& load : loads) sold += load.initial.ppm;
  return sold;
}

/// limit - used, at least 0 and at most the whole device.
Share rest(std::uint64_t limit, std::uint64_t used) {
  return {
      static_cast<std::uint32_t>(std::min<std::uint64_t>(limit - std::min(used, limit), Share::kWholePpm))};
}

}  // namespace

double total_load(std::span<const Load> loads) {
  double total = 0;
  for (const Load& load : loads) total += load.utilisation * load.cap.fraction();
  return total;
}

std::uint64_t remembered_load(std::span<const Load> loads) {
  std::uint64_t total = 0;
  for (const Load& load : loads) total += load.floor().ppm;
  return total;
}

double overbooking(std::span<const Load> loads) {
  return static_cast<double>(sold_ppm(loads)) / Share::kWholePpm;
}

Share for_sale(std::span<const Load> loads, int quiet_seconds, Share sell_up_to) {
  const Share unsold = rest(Share::kWholePpm, sold_ppm(loads));
  if (quiet_seconds < kInSuccession) return unsold;
  return std::max(unsold, rest(sell_up_to.ppm, remembered_load(loads)));
}

bool make_room(Division& division, Share wanted) {
  if (wanted <= division.free) return true;
  const std::uint64_t missing = wanted.ppm - division.free.ppm;
  std::uint64_t unused = 0;
  for (const Division::Part& part : division.parts) unused += part.unused().ppm;
  if (unused < missing) return false;
  for (Division::Part& part : division.parts) {
    const std::uint64_t own = part.unused().ppm;
    // Rounded up: at most what is unused, since missing <= unused.
    const auto given = static_cast<std::uint32_t>((own * missing + unused - 1) / unused);
    part.cap.ppm -= given;
    division.free.ppm += given;
  }
  return true;
}

Share StaticOversubscription::cap(Share sold) const {
  return {static_cast<std::uint32_t>(sold.ppm / ratio)};
}

Share StaticOversubscription::for_sale(std::span<const Load> loads) const {
  return rest(static_cast<std::uint64_t>(ratio * Share::kWholePpm), sold_ppm(loads));
}

}  // namespace fairgv::sched::oversell
