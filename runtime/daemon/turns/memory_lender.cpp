#include "runtime/daemon/turns/memory_lender.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::daemon {
namespace {

/// Part of the device that a session is lent beyond what it wants, while there is room: its next objects then
/// need not wait.
constexpr std::uint64_t kRoomToGrow = 16;

void tell(const LendingRule& rule, session::DeviceResidency& page) {
  page.on_demand.store(rule.on_demand ? 1 : 0, std::memory_order_relaxed);
  page.link.store(rule.link, std::memory_order_relaxed);
  page.is_lent.store(rule.capacity != 0 ? 1 : 0, std::memory_order_relaxed);
}

}  // namespace

void MemoryLender::set_rule(const LendingRule& rule, Places& places) {
  const bool was_on = is_on();
  if (std::exchange(rule_, rule) == rule) return;
  places.each([&](SessionPlace& place) {
    if (!place.memory) return;
    // Objects of a session that has begun are lent for good, or never.
    if (was_on && is_on()) tell(rule_, place.memory->page());
    if (was_on && !is_on()) {
      constexpr std::uint64_t kAll = std::uint64_t{1} << 62;
      place.memory->allow(kAll, kAll);
      place.wake();
    } else if (is_on()) {
      place.memory->allow(std::min(place.memory->allowed(), rule_.capacity), rule_.capacity);
      place.wake();
    }
  });
}

void MemoryLender::begin(SessionPlace& place) const {
  if (!place.memory || !is_on()) return;
  tell(rule_, place.memory->page());
  place.memory->begin_anew(rule_.capacity);
  place.transfers = Duration(0);
}

void MemoryLender::adopt(SessionPlace& place) const {
  if (place.memory) place.memory->adopt();
}

bool MemoryLender::is_ready(SessionPlace& place) {
  if (!place.memory) return true;
  place.memory->look();
  return place.memory->is_ready();
}

/// Claims of memory that was not lent are believed up to half of the device, by session.
std::uint64_t MemoryLender::most_for(const SessionPlace& place, const Places& places) const {
  std::uint64_t fixed = 0;
  places.each([&](const SessionPlace& each) {
    if (&each != &place && each.memory) fixed += std::min(each.memory->fixed(), rule_.capacity / 2);
  });
  return rule_.capacity - std::min(rule_.capacity, fixed);
}

void MemoryLender::lend_to(SessionPlace& place, Places& places,
                           const std::function<bool(const SessionPlace&)>& keep, const IsLater& is_later,
                           Time now) {
  if (!is_on() || !place.memory) return;
  std::uint64_t held = 0;
  SessionPlace* victim = nullptr;
  bool shrinks = false;
  places.each([&](SessionPlace& each) {
    if (!each.memory) return;
    const std::uint64_t before = each.memory->held();
    each.memory->look();
    held += each.memory->held();
    if (each.memory->held() < before) each.shrinks_since = now;
    if (&each == &place) return;
    shrinks = shrinks || each.memory->shrinks();
    if (each.memory->held() == 0 || each.broken || keep(each)) return;
    if (victim == nullptr || is_later(each, *victim)) victim = &each;
  });
  session::ResidencyLender& memory = *place.memory;
  const std::uint64_t most = most_for(place, places);
  const std::uint64_t wants = std::min(memory.wants(), most);
  if (memory.most() != most) {
    memory.allow(memory.allowed(), most);
    place.wake();
  }
  if (wants <= memory.allowed()) return;
  std::uint64_t missing = wants - memory.allowed();
  const std::uint64_t free = rule_.capacity - std::min(rule_.capacity, held);
  // Memory that it was lent before, and has not given back, is its own again.
  const std::uint64_t own = memory.held() - memory.allowed();
  const std::uint64_t more = std::min(free + own, missing);
  if (more > 0) {
    const std::uint64_t spare = free + own - more;
    memory.allow(memory.allowed() + more + std::min(spare, rule_.capacity / kRoomToGrow), most);
    place.grows_since = now;
    place.wake();
    missing -= more;
  }
  if (missing > 0 && !shrinks && victim != nullptr) ask(*victim, missing, now);
}

void MemoryLender::ask(SessionPlace& place, std::uint64_t bytes, Time now) const {
  session::ResidencyLender& memory = *place.memory;
  memory.allow(memory.held() - std::min(memory.held(), bytes), memory.most());
  place.shrinks_since = now;
  place.wake();
}

void MemoryLender::grant(SessionPlace& place, bool others_wait_for_memory, const Places& places) {
  waits_since_.reset();
  if (!is_on() || !place.memory) return;
  if (place.memory->shrinks()) {
    place.memory->allow(place.memory->held(), place.memory->most());
    place.wake();
  }
  const bool keeps = others_wait_for_memory && !rule_.on_demand;
  place.memory->page().keep_ns.store(keeps ? static_cast<std::uint64_t>(longest_wait(places).count()) : 0,
                                     std::memory_order_relaxed);
}

void MemoryLender::end(SessionPlace& place, Time now) {
  place.turn_ended = now;
  if (!place.memory) return;
  // Relaxed, and read once: a lie makes turns longer, up to the bound, and each of them is paid for.
  const std::uint64_t moving = place.memory->page().moving_ns.load(std::memory_order_relaxed);
  const std::uint64_t before = std::exchange(place.moving_ns, moving);
  const Duration latest(static_cast<Duration::rep>(
      std::min(moving - std::min(moving, before), static_cast<std::uint64_t>(kMostPredicted.count()))));
  // A turn that found its memory there says little about the next.
  place.transfers = std::max(latest, place.transfers * 3 / 4);
}

MemoryLender::Duration MemoryLender::longest_wait(const Places& places) const {
  Duration longest{0};
  places.each([&longest](const SessionPlace& place) { longest = std::max(longest, place.transfers); });
  return longest;
}

MemoryLender::Duration MemoryLender::slice(Duration usual, const Places& places) const {
  if (!is_on() || rule_.on_demand) return usual;
  const Duration grown = std::min(kTurnPerTransfer * longest_wait(places), rule_.longest_turn);
  return std::max(usual, grown);
}

const char* MemoryLender::fault_of(const SessionPlace& place, Duration limit, Time now) {
  if (!place.memory || limit == Duration(0)) return nullptr;
  if (place.memory->shrinks() && now - place.shrinks_since > limit)
    return "did not give back memory of a device that was lent to it (hold_limit_s)";
  return nullptr;
}

bool MemoryLender::is_late(const SessionPlace& place, Duration limit, Time now) const {
  if (!waits_since_ || limit == Duration(0)) return false;
  const std::uint64_t wants = std::min(place.memory->wants(), place.memory->most());
  return place.memory->allowed() >= wants && now - std::max(*waits_since_, place.grows_since) > limit;
}

}  // namespace fairgv::daemon
