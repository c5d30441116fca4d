// Everything that a tenant is entitled to, in one struct: from the configuration through registry, dispatcher
// and hand-over to the policy, and the same in the simulator. Each policy uses the members that it knows, and
// ignores the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "sched/types.hpp"

namespace fairgv::sched {

/// Part of one device's time, in parts per million.
struct Share {
  std::uint32_t ppm = 0;

  static constexpr std::uint32_t kWholePpm = 1'000'000;

  /// This part of so long a time, rounded down.
  constexpr Duration of(Duration time) const {
    // Seconds apart from the rest: no product overflows for times of up to 292 years.
    constexpr Duration kSecond = std::chrono::seconds(1);
    return (time / kSecond) * Duration(kSecond * ppm / kWholePpm) +
           Duration((time % kSecond).count() * static_cast<std::int64_t>(ppm) / kWholePpm);
  }
  constexpr double fraction() const { return static_cast<double>(ppm) / kWholePpm; }

  friend auto operator<=>(const Share&, const Share&) = default;
};

inline constexpr Share kWholeDevice{Share::kWholePpm};

/// `budget` of device time in every `period`, as C and T in TimeGraph (section 5). No period: none.
struct Reservation {
  Duration budget{0};
  Duration period{0};

  constexpr bool empty() const { return period <= Duration(0) || budget <= Duration(0); }
  /// The reserved part of the device, rounded up: for sums that must not exceed the whole.
  constexpr Share share() const {
    if (empty()) return {};
    const double ppm = static_cast<double>(budget.count()) / static_cast<double>(period.count()) * 1e6;
    const auto whole = static_cast<std::uint32_t>(ppm);
    return {whole + (static_cast<double>(whole) < ppm ? 1 : 0)};
  }

  friend bool operator==(const Reservation&, const Reservation&) = default;
};

/// The way in which a tenant's work is served beside that of others.
enum class ServiceClass : std::uint8_t {
  normal,
  latency,  // answers soon when it wakes, without getting more of the device
  batch,    // has what the others leave, and a floor
};

/// When a reservation is enforced (TimeGraph, section 5.1).
enum class Enforcement : std::uint8_t {
  posterior,  // after a command: an overrun is taken from the next budget
  apriori,    // before a command: its predicted cost must fit into the budget
};

/// A task of TimeGraph (sections 3 and 4.1): <name:sched:resv:prio:C:T>.
struct TimeGraphTask {
  enum class Scheduling : std::uint8_t {
    predictable,      // PRT: one command at a time
    high_throughput,  // HT: the next commands of the same task follow at once
  };

  Scheduling scheduling = Scheduling::predictable;
  Enforcement enforcement = Enforcement::posterior;
  /// C and T; empty: the task has the Background reserve. None: TenantAttributes::min has them.
  std::optional<Reservation> reserve{};
  /// An admission control outside of the policy has let the reserve in: the policy's own does not count it.
  bool admitted = false;
  /// Tasks with the same number that is not 0 share one reserve, whose C and T are those of its first task.
  std::uint32_t shared_reserve = 0;
  /// Higher goes first. `automatic`: the task has the default priority, and the highest of that level while
  /// `foreground`.
  std::int32_t priority = 0;
  bool automatic = false;
  bool foreground = false;

  friend bool operator==(const TimeGraphTask&, const TimeGraphTask&) = default;
};

struct TenantAttributes {
  std::uint32_t weight = kDefaultWeight;  // relative part of the device time that is not promised
  Reservation min{};                      // guaranteed while the tenant has work
  Share max = kWholeDevice;               // ceiling over one second, also while nobody else wants the device
  ServiceClass service = ServiceClass::normal;
  Duration response{0};  // of a latency tenant: wanted from its waking to its turn; 0: as soon as may be

  /// cpu.weight of its programs' control group: the credits of the host's scheduler (Pegasus, XenoCredit).
  std::uint32_t host_weight = 100;
  /// The service level that it wants, in units of work per second (gOver's frames); 0: none.
  double units_per_second = 0;
  TimeGraphTask timegraph{};

  /// C and T of its reserve under TimeGraph; empty: Background.
  const Reservation& timegraph_reserve() const { return timegraph.reserve ? *timegraph.reserve : min; }

  friend bool operator==(const TenantAttributes&, const TenantAttributes&) = default;
};

}  // namespace fairgv::sched
