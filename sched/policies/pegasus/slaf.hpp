// `slaf`: `acc-credit` with feedback towards an expected utilisation (Pegasus, section 4.3, "SLA feedback
// to meet QoS requirements (SLAF) [feedback-based proportional fair-share]").
//
// - The service level of a tenant is its expected utilisation, "e.g., 0.5sec every second". It is
//   `TenantAttributes::min`, the budget over the period; none for a tenant without.
// - A sum of the time for which a tenant was polled is maintained, by the clock, as turns are.
// - Once in a second all tenants are scanned. A tenant that was polled for less than its level, of the
//   time for which it had something to run, is in violation. It is given the ticks that it lacks, one in
//   each of its next turns.
// - High load: the levels of the tenants that have something to run add up to more than the accelerator.
//   Then only the tenants in violation with the most credits get their extra ticks, and those with fewer
//   credits wait until these have been compensated. high_load() tells it to the caller, who can keep
//   newcomers away.
//
// Chosen here:
// - The interval between scans: Pegasus' "Monitor and Sweep" thread runs once every second.
// - A scan counts anew what a tenant lacks, so a tenant lacks no more than one second of its level. Extra
//   ticks compensate for the past, and are not counted as polled again. Otherwise the feedback would
//   settle below the level.
// - One tick per turn is all that the paper gives. So a level is reached only if it is at most (Tm + 1) /
//   (sum of all turns of a round, with the extra ticks).
//
// budget() counts the ticks that a tenant still lacks as credit. O(n) once in a second.
#pragma once

#include "sched/policies/pegasus/ring.hpp"

namespace fairgv::sched {

class SlafPolicy final : public RingPolicy {
 public:
  static constexpr Duration kScan = std::chrono::seconds(1);

  using RingPolicy::RingPolicy;

  TenantBudget budget(TenantId id, Time now) const override;
  void restore(TenantId id, const TenantBudget& budget, Time now) override;

  /// Whether the last scan found that the service levels are more than the accelerator has.
  bool high_load() const { return high_load_; }
  /// The ticks that the tenant lacks, for display and tests; throws std::out_of_range for an unknown tenant.
  std::uint64_t lacking(TenantId id) const { return levels_.at(id).lacking; }

 protected:
  void described(TenantId id, const TenantAttributes& attributes) override;
  void forgotten(TenantId id) override;
  void joined(TenantId id, Time now) override;
  void left(TenantId id, Time now) override;
  void began(TenantId id, Duration length, Time now) override;
  void cut_short(TenantId id, Duration unused) override;

 private:
  struct Level {
    Share expected{};
    Duration polled{0};  // since the last scan
    Duration ready{0};   // had something to run, since then
    Time ready_since{};  // while it has
    std::uint64_t lacking = 0;
  };

  std::uint32_t credits_of(const TenantAttributes& attributes) const override { return attributes.weight; }
  std::uint64_t extra_ticks(TenantId id) const override;
  void scan(Time now);

  std::map<TenantId, Level> levels_;
  std::optional<Time> scanned_{};
  bool high_load_ = false;
};

}  // namespace fairgv::sched
