#include "sched/oversell/detector.hpp"

#include <algorithm>

namespace fairgv::sched::oversell {

std::vector<Overload> Detector::look(std::span<const Load> loads) {
  std::vector<Overload> found;
  for (const Load& load : loads) {
    int& above = above_[load.id];
    above = load.utilisation > kOverloaded ? above + 1 : 0;
    if (load.cap >= load.initial) continue;
    const bool broken = load.shortfall > 0 && load.utilisation >= kShortOfCapacity;
    if (broken || above >= kInSuccession) found.push_back({load.id, broken ? load.shortfall : 0});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Overload& a, const Overload& b) { return a.shortfall > b.shortfall; });
  quiet_seconds_ = found.empty() ? quiet_seconds_ + 1 : 0;
  return found;
}

}  // namespace fairgv::sched::oversell
