#include "sched/oversell/mitigator.hpp"

#include <algorithm>

namespace fairgv::sched::oversell {
namespace {

using Part = Division::Part;

/// The cap that the overloaded tenant should have.
Share wanted(const Part& receiver, const Overload& overload) {
  const Share base = overload.shortfall > 0 ? receiver.load.needed : receiver.cap;
  const std::uint32_t fraction = overload.shortfall > 0 ? kSpareFraction : kGrowthFraction;
  return std::min(Share{base.ppm + base.ppm / fraction}, receiver.load.initial);
}

Part* lightest(Division& division, const Part& receiver) {
  Part* found = nullptr;
  for (Part& part : division.parts) {
    if (&part == &receiver || part.unused().ppm / kStolenFraction < kLeastStep.ppm) continue;
    if (found == nullptr || part.factor() < found->factor()) found = &part;
  }
  return found;
}

}  // namespace

double Part::factor() const {
  const double utilisation = cap.ppm > 0 ? static_cast<double>(load.used.ppm) / cap.ppm : 0;
  return kUseWeight * utilisation + kServiceWeight * load.shortfall;
}

Share mitigate(Division& division, const Overload& overload) {
  const auto receiver = std::find_if(division.parts.begin(), division.parts.end(),
                                     [&](const Part& part) { return part.load.id == overload.id; });
  if (receiver == division.parts.end()) return {};
  const Share before = receiver->cap;
  const Share goal = wanted(*receiver, overload);
  const auto give = [&](std::uint32_t most, std::uint32_t& from) {
    const std::uint32_t given = std::min(most, goal.ppm - receiver->cap.ppm);
    from -= given;
    receiver->cap.ppm += given;
  };
  if (goal > receiver->cap) give(division.free.ppm, division.free.ppm);
  while (goal > receiver->cap) {
    Part* const giver = lightest(division, *receiver);
    if (giver == nullptr) break;
    give(giver->unused().ppm / kStolenFraction, giver->cap.ppm);
    if (overload.shortfall == 0) break;
  }
  return {receiver->cap.ppm - before.ppm};
}

}  // namespace fairgv::sched::oversell
