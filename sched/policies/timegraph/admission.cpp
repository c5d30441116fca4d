#include "sched/policies/timegraph/admission.hpp"

namespace fairgv::sched {
namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

bool Admission::admit(std::uint64_t name, const Reservation& reservation) {
  if (reservation.empty()) return false;
  const Wide part = (Wide{kWhole} * static_cast<std::uint64_t>(reservation.budget.count())) /
                    static_cast<std::uint64_t>(reservation.period.count());
  const auto held = parts_.find(name);
  const std::uint64_t before = held == parts_.end() ? 0 : held->second;
  if (part > limit_ || total_ - before > limit_ - static_cast<std::uint64_t>(part)) return false;
  const auto granted = static_cast<std::uint64_t>(part);
  parts_[name] = granted;
  total_ += granted - before;
  return true;
}

void Admission::release(std::uint64_t name) {
  const auto held = parts_.find(name);
  if (held == parts_.end()) return;
  total_ -= held->second;
  parts_.erase(held);
}

}  // namespace fairgv::sched
