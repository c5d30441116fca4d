#include "sched/oversell/mitigator.hpp"

#include <algorithm>

namespace fairgv::sched::oversell {
namespace {

using Part = Division::Part;

Share with_spare(Share need) {
  return {need.ppm + need.ppm / kSpareFraction};
}

/// The cap that the overloaded tenant should have.
Share wanted(const Part& receiver, const Overload& overload) {
  const Share grown{receiver.cap.ppm + receiver.cap.ppm / kGrowthFraction};
  return std::min(overload.shortfall > 0 ? with_spare(receiver.load.needed) : grown, receiver.load.initial);
}

/// Of those that can make a step.
Part* lightest(Division& division, const Part& receiver) {
  Part* found = nullptr;
  for (Part& part : division.parts) {
    if (&part == &receiver || part.unused().ppm / kStolenFraction < kLeastStep.ppm) continue;
    if (found == nullptr || part.factor() < found->factor()) found = &part;
  }
  return found;
}

Part* with_most_surplus(Division& division, const Part& receiver) {
  Part* found = nullptr;
  for (Part& part : division.parts) {
    if (&part == &receiver || part.surplus() < kLeastStep) continue;
    if (found == nullptr || part.surplus() > found->surplus()) found = &part;
  }
  return found;
}

}  // namespace

Share Part::surplus() const {
  if (load.is_new || load.target <= 0 || load.shortfall > 0) return {};
  return above(with_spare(load.needed));
}

double Part::factor() const {
  const double utilisation = cap.ppm > 0 ? static_cast<double>(load.used.ppm) / cap.ppm : 0;
  return kUseWeight * utilisation + kServiceWeight * load.shortfall;
}

Share mitigate(Division& division, const Overload& overload) {
  const auto found = std::find_if(division.parts.begin(), division.parts.end(),
                                  [&](const Part& part) { return part.load.id == overload.id; });
  if (found == division.parts.end()) return {};
  Part& receiver = *found;
  const Share before = receiver.cap;
  const Share goal = std::max(wanted(receiver, overload), before);
  const auto give = [&](std::uint32_t most, Share& from) {
    const std::uint32_t given = std::min(most, goal.ppm - receiver.cap.ppm);
    from.ppm -= given;
    receiver.cap.ppm += given;
  };
  give(division.free.ppm, division.free);
  while (receiver.cap < goal) {
    Part* const giver = lightest(division, receiver);
    if (giver == nullptr) break;
    give(giver->unused().ppm / kStolenFraction, giver->cap);
    if (overload.shortfall == 0) break;
  }
  while (overload.shortfall > 0 && receiver.cap < goal) {
    Part* const giver = with_most_surplus(division, receiver);
    if (giver == nullptr) break;
    give(giver->surplus().ppm, giver->cap);
  }
  return {receiver.cap.ppm - before.ppm};
}

}  // namespace fairgv::sched::oversell
