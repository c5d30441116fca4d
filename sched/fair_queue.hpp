// Start-time fair queuing over tenants: decides which tenant has the next turn on the device (FairGV, section
// 3.2.1).
//
// Each tenant has a weight w and a start tag S, both in weighted nanoseconds (device time divided by weight).
// A tenant that has used the device for L gets S += L / w; the runnable tenant with the smallest S runs next.
// So every tenant's S advances at the same pace, and each gets device time in proportion to its weight. The
// length of a turn is charged afterwards and need not be known before: a tenant that overran pays by waiting
// (debt).
//
// Virtual time is the smallest start tag among the runnable tenants (a running tenant stays runnable until it
// is blocked). A tenant that wakes gets max(own S, virtual time): it cannot claim the time for which it
// slept, and it cannot shed debt by sleeping. While no tenant is runnable, virtual time is the finish tag of
// the last runnable tenant, plus the device's rest (see rest()). Virtual time never goes backwards, except
// for the credit of a tenant that wakes with one.
//
// Fairness (Goyal, Vin, Cheng: Start-time Fair Queuing, theorem 1): while two tenants stay runnable, the
// weighted times that they got differ by at most Lmax_a / w_a + Lmax_b / w_b, where Lmax is the longest
// single charge.
//
// Arithmetic: tags are integers of 1/16 weighted nanosecond. The remainder of a division is kept for the
// tenant's next charge, so rounding never adds up: a tag is below the exact value by less than 1/16 ns, for
// ever. Tags do not wrap: charges add up to no more than the time that passes, and one tenant of weight 1 on
// a device that never idles needs 36 years to use up 64 bits. A charge beyond that saturates instead of
// wrapping.
//
// Pure logic, not thread-safe: one owner (the dispatcher of one device). pick() is O(1), the rest O(log n);
// only add() allocates. Calls that tell of an event (charge, wake, block, set_weight, remove) about an
// unknown tenant do nothing, since a report may arrive after its tenant has left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sched/run_heap.hpp"
#include "sched/types.hpp"

namespace fairgv::sched {

class FairQueue {
 public:
  // Adds a tenant, blocked, without debt or claim. Throws std::invalid_argument if the weight is not within
  // [kMinWeight, kMaxWeight] or the tenant is already here: check outside values with is_valid_weight().
  void add(TenantId id, std::uint32_t weight = kDefaultWeight);

  // Forgets the tenant with its debt, running or not. A tenant that may come back under the same name should
  // stay until start_tag() <= virtual_time(), or leaving would be a way out of debt.
  void remove(TenantId id);

  // Holds for later charges; time already charged keeps the old weight. For an exact change in the middle of
  // a turn, charge the part used so far first. Each change may round the tag down by less than one unit.
  // Throws std::invalid_argument for an invalid weight.
  void set_weight(TenantId id, std::uint32_t weight);

  // The tenant has something to run: S = max(S, virtual time - credit). No effect if it is runnable already.
  // The paper's credit is zero. A tenant that only paused for a moment (its program reads a result and
  // launches the next kernel) may be given the lead that waiting tenants have on each other anyway, up to the
  // longest turn. Otherwise every pause would cost it device time that it is owed, the more so the higher its
  // weight. Sleeping still gains nothing: after any sleep the tenant comes back at most `credit` behind
  // virtual time.
  //
  // With a lead the tenant goes before tenants whose tags are smaller by up to lead / w, and before equals,
  // until its turn begins. Without a lead a tenant that needs the device for a moment would wait for a turn
  // of each tenant whose tag is virtual time, which stands still until they have run. The lead changes
  // neither the tenant's tag nor its share.
  void wake(TenantId id, Duration credit = Duration::zero(), Duration lead = Duration::zero());

  // The same, but if the tenant's tag is within the lead of the highest virtual time so far, it goes before
  // everybody who does not lead like that, in the order of waking, until its turn begins. A tenant that has
  // always wanted the device is never behind that time.
  void wake_first(TenantId id, Duration credit, Duration lead);

  // The tenant has nothing to run. It keeps its start tag. No effect if it is blocked already.
  void block(TenantId id);

  // Its turn begins: the lead with which it woke is used up. Charging it does that, too.
  void spend_lead(TenantId id) {
    if (has_leads()) drop_lead_of(id);
  }

  // The next tenant: the runnable tenant with the smallest start tag, less its lead; among equals a tenant
  // with a lead, then the tenant that was woken or charged first. It stays in the queue: charge() moves it
  // back. Empty when no tenant is runnable.
  std::optional<TenantId> pick() const {
    if (runnable_.empty()) return std::nullopt;
    return tenants_[has_leads() ? pick_with_leads() : runnable_.front_slot()].id;
  }

  // The tenant that goes before everybody else, as wake_first() says; empty when there is none.
  std::optional<TenantId> first() const;

  // The runnable tenant with the second smallest start tag, leads left aside: its tag would be virtual time
  // if the first tenant were blocked. Empty when fewer than two are runnable. O(1).
  std::optional<TenantId> second() const;

  // The tenant has used the device for this long: S += used / w. It may be running, waiting, or blocked by
  // now. Bound a tenant's report about itself by the time that really passed. A negative time counts as zero.
  void charge(TenantId id, Duration used);

  // The device was free for this long, and nobody waited for it: virtual time advances as if all tenants had
  // shared that time, by time / (sum of all weights), together with the tag of the only runnable tenant, if
  // there is one. So overuse is forgiven as far as there was free device time since. Goyal's queue forgets
  // all of it in the first idle moment, which a tenant of long turns could wait for. No effect while several
  // tenants are runnable.
  void rest(Duration time);

  bool contains(TenantId id) const { return slots_.contains(id); }
  std::size_t size() const { return slots_.size(); }
  bool runnable(TenantId id) const;  // false also for an unknown tenant
  std::size_t runnable_count() const { return runnable_.size(); }

  // The device time by which the tenant is beyond virtual time: what it owes. Zero also for an unknown
  // tenant.
  Duration ahead(TenantId id) const;
  // Makes a blocked tenant owe so much, as another queue has found.
  void set_ahead(TenantId id, Duration ahead);

  // For display and tests; throw std::out_of_range for an unknown tenant. Tags are in weighted nanoseconds.
  std::uint32_t weight(TenantId id) const;
  double start_tag(TenantId id) const;
  double virtual_time() const;

 private:
  using Tag = std::uint64_t;  // weighted nanoseconds << kTagFractionBits
  using Slot = RunHeap::Slot;
  static constexpr unsigned kTagFractionBits = 4;
  static constexpr Slot kNobody = UINT32_MAX;

  struct Tenant {
    TenantId id;
    std::uint32_t weight = kDefaultWeight;
    std::uint32_t remainder = 0;  // of the last division: remainder / weight of one tag unit, below weight
    Tag start_tag = 0;
  };

  struct Woken {
    Slot slot;
    RunHeap::Key key;
  };

  static constexpr Tag kLargestTag = std::numeric_limits<Tag>::max();
  static Tag in_tag_units(Duration time);
  static double in_nanoseconds(Tag tag);
  Slot find(TenantId id) const;  // kNobody when unknown
  Tag virtual_tag() const;
  static Tag later(Tag tag, Tag by) { return tag + std::min(by, kLargestTag - tag); }
  std::optional<Woken> become_runnable(TenantId id, Duration credit);
  RunHeap::Key next_key(const Tenant& tenant);
  bool has_leads() const { return !leading_.empty() || !first_.empty(); }
  Slot pick_with_leads() const;
  void drop_lead_of(TenantId id);
  void drop_lead(Slot slot) {
    if (has_leads()) erase_lead(slot);
  }
  void erase_lead(Slot slot);
  void leave_runnable(Slot slot);

  std::unordered_map<TenantId, Slot> slots_;
  std::vector<Tenant> tenants_;  // by slot
  std::vector<Slot> free_slots_;
  RunHeap runnable_;
  RunHeap leading_;             // tenants with a lead, by their start tags less the lead
  RunHeap first_;               // tenants that go first, in the order of waking
  std::uint64_t arrivals_ = 0;  // orders equal start tags
  std::uint64_t weights_ = 0;   // of all tenants
  Tag highest_ = 0;             // virtual time so far

  // Meaningful while no tenant is runnable: virtual time, and the tenant whose finish tag it is (kNobody once
  // that tenant was removed).
  Tag idle_tag_ = 0;
  Slot last_runnable_ = kNobody;
};

}  // namespace fairgv::sched
