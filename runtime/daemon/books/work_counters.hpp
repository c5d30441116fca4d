// The work that workers count on a device: nobody is charged by it. It is for people to read, but for units
// of service: those move the cap of their own tenant (daemon/oversell/), and of nobody else.
//
// A worker runs its tenant's kernels, so what it writes into the turn page is a claim. A claim never goes
// down, and never beyond what any device could have done in the session's time; any excess is cut.
//
// Pure logic beside the shared page, not thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/session/turn.hpp"

namespace fairgv::daemon {

struct WorkCounters {
  std::uint64_t commands = 0;
  std::uint64_t launches = 0;
  std::uint64_t samples = 0;
  std::uint64_t syncs = 0;
  std::uint64_t checked_ns = 0;
  std::uint64_t by_events_ns = 0;
  std::uint64_t slices = 0;
  std::uint64_t bytes = 0;
  std::uint64_t units = 0;  // of service (session/service_unit.hpp)

  WorkCounters& operator+=(const WorkCounters& other);
  friend bool operator==(const WorkCounters&, const WorkCounters&) = default;
};

/// One counter: its name in a hand-over, where a worker writes it, and how much it can grow in a nanosecond.
struct WorkCounter {
  const char* name;
  std::uint64_t WorkCounters::*value;
  std::atomic<std::uint64_t> session::DeviceTurn::*claim;  // null: elsewhere, see look()
  std::uint64_t most_per_ns;
};

inline constexpr std::array<WorkCounter, 9> kWorkCounters{{
    {"commands", &WorkCounters::commands, &session::DeviceTurn::commands, 1},
    {"launches", &WorkCounters::launches, &session::DeviceTurn::launches, 1},
    {"samples", &WorkCounters::samples, &session::DeviceTurn::samples, 1},
    {"syncs", &WorkCounters::syncs, &session::DeviceTurn::syncs, 1},
    {"checked", &WorkCounters::checked_ns, &session::DeviceTurn::checked_ns, 1},
    {"by_events", &WorkCounters::by_events_ns, &session::DeviceTurn::by_events_ns, 1},
    {"slices", &WorkCounters::slices, &session::DeviceTurn::slices, 1},
    {"bytes", &WorkCounters::bytes, &session::DeviceTurn::bytes, 1'000},  // a terabyte a second
    {"units", &WorkCounters::units, nullptr, 1},
}};

/// One worker's claims about one device.
class ClaimedWork {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Added to its time, so that no bound cuts what is true.
  static constexpr std::chrono::seconds kAllowance{1};

  ClaimedWork() = default;
  /// Of a session that began now; or that a daemon before this one believed to have done `before`.
  explicit ClaimedWork(Time began, const WorkCounters& before = {})
      : began_(began), before_(before), seen_(before) {}

  /// The counters that are believed now. `units`: the claim of units of service, which is on no turn's page.
  const WorkCounters& look(const session::DeviceTurn& turn, Time now, std::uint64_t units = 0);

 private:
  Time began_{};
  WorkCounters before_;
  WorkCounters seen_;
};

}  // namespace fairgv::daemon
