// Watches the tenants of one device, second by second, for decisions on overselling: gOver's monitoring
// module (section 3.2). The caller reports each tenant's busy time and counted units of work once in a
// second; the detector, the mitigator and the capacity go by the loads that come out.
//
// u_i = busy time / (cap x 1 s), as in the paper (its "max timeslice"). The service level is in units of work
// per second: the paper's frames, or another count of processed units (section 5).
//
// Chosen here:
// - A level is counted over one second if its target expects at least 10 units in a second, and over as many
//   seconds as expect 10, at most 10, for slower work. Whole units say nothing about a rate of 0.5 per
//   second.
// - "Some discrepancy is allowed" (section 3.2): a level may be one unit short of the target, since a unit
//   that ends after the second belongs to the next.
// - A tenant is new for 10 seconds. Its needs are not known before, so all of its cap counts as used.
// - A tenant with a target starts until its service first reaches the target, and no longer than it is new: it
//   compiles and loads. Meanwhile its service is not broken, and its seconds are not remembered as demand: a
//   unit or two beside the compiler say nothing about what a unit costs.
// - Demand is remembered for 60 seconds: the largest share that was used or needed for the target.
//
// Pure logic; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "sched/attributes.hpp"

namespace fairgv::sched::oversell {

inline constexpr Duration kPeriod =
    std::chrono::seconds(1);  // SCHED_PERIOD (section 3.2: "1 s is the choice")

/// One tenant, in one second.
struct Observation {
  TenantId id;
  Duration busy{0};
  std::uint64_t units = 0;
};

/// The conclusion from a tenant's latest second, and those before.
struct Load {
  TenantId id;
  Share initial{};         // the cap that was sold
  Share cap{};             // that held in this second
  Share used{};            // busy time as a part of the second: u_i x cap_i
  double utilisation = 0;  // u_i; above 1 after an overrun
  double target = 0;       // units per second; 0: none
  double level = 0;        // units per second
  double shortfall = 0;    // e_i / target, 0 to 1; 0: the target is reached, there is none, or it starts
  Share needed{};          // for the target, at what a unit costs now; at most `initial`
  Share demand{};          // the largest of `used` and `needed` lately, at most `initial`
  bool is_new = false;

  /// Below this its cap is not lowered for others.
  Share floor() const { return is_new ? cap : demand; }
};

/// One tenant's seconds.
class Monitor {
 public:
  static constexpr std::size_t kNewFor = 10;
  static constexpr std::size_t kMemory = 60;
  static constexpr double kLeastUnits = 10;
  static constexpr std::size_t kLongestWindow = 10;

  /// target: in units per second; 0: none.
  Monitor(TenantId id, Share initial, double target, Share cap)
      : initial_(initial),
        target_(target),
        load_{.id = id,
              .initial = initial,
              .cap = cap,
              .target = target,
              .needed = cap,
              .demand = cap,
              .is_new = true} {}

  void set_target(double target) { target_ = load_.target = target; }
  /// It has bought more or less than before, and has this cap now. One that has bought more is new again.
  void set_initial(Share initial, Share cap);

  /// One second has passed, in which `cap` held.
  const Load& observe(const Observation& seen, Share cap);
  /// The latest; before the first second, that of a tenant that has used nothing and needs all of its cap.
  const Load& load() const { return load_; }

 private:
  bool has_started(double missing_units) const;
  std::size_t window_seconds() const;
  double level() const;
  Share needed_for_target(Share used, double level) const;

  Share initial_;
  double target_;
  std::size_t seconds_ = 0;
  bool starts_ = true;
  std::deque<std::uint64_t> units_;  // of the latest seconds
  std::deque<Share> demands_;
  Load load_;
};

}  // namespace fairgv::sched::oversell
