// How a device is divided among tenants that all have work: each has its guarantee, and of what is not
// guaranteed a part by its weight, but no more than its ceiling. What a ceiling leaves goes to the others by
// their weights. This is weighted max-min fairness, and the way to compute it is water-filling (Bertsekas and
// Gallager, Data Networks, section 6.5.2): tenants are vessels as wide as their weights, and full ones take
// no more.
//
// Amounts are whole parts of a billion, and which tenants are full is decided exactly. A change costs O(log
// n) and a step for each tenant that is full.
//
// Pure logic; not thread-safe.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "sched/types.hpp"

namespace fairgv::sched {

class WaterLevel {
 public:
  /// Of the device, in parts of a billion.
  using Parts = std::int64_t;
  static constexpr Parts kWhole = 1'000'000'000;
  static constexpr Parts kPartsOfPpm = 1'000;

  struct Claim {
    std::uint32_t weight = 0;  // 0: none
    Parts least = 0;           // guaranteed; counts up to `most`
    Parts most = kWhole;
  };

  /// The tenant claims this from now on, instead of what it claimed.
  void set(TenantId id, const Claim& claim);
  /// What the tenant gets, 0 to 1. More than the whole only if guarantees are.
  double share(TenantId id) const;
  /// Whether its ceiling bounds what it gets.
  bool is_full(TenantId id) const;
  /// Tenants that have become full since the last call, or are so no longer.
  std::vector<TenantId> take_changed();
  /// What a tenant that is not full gets for each unit of its weight beyond its guarantee, 0 to 1.
  double level() const;
  bool empty() const { return members_.empty(); }

 private:
  /// A tenant with a ceiling: the lower the level that fills it, the earlier it is full.
  struct Vessel {
    Parts room;  // from guarantee to ceiling
    std::int64_t weight;
    TenantId id;

    bool operator<(const Vessel& other) const {
      const Parts own = room * other.weight;
      const Parts its = other.room * weight;
      return own != its ? own < its : id < other.id;
    }
  };
  struct Member {
    Claim claim{};
    bool full = false;
  };

  static Vessel vessel(TenantId id, const Claim& claim) {
    return {claim.most - claim.least, std::int64_t{claim.weight}, id};
  }
  void fill();

  std::unordered_map<TenantId, Member> members_;
  std::set<Vessel> vessels_;
  std::vector<TenantId> full_;
  std::vector<TenantId> changed_;
  Parts guaranteed_ = 0;      // to all
  std::int64_t weights_ = 0;  // of all
  Parts poured_ = 0;          // what is left for tenants that are not full, beyond guarantees
  std::int64_t open_ = 0;     // their weights
};

}  // namespace fairgv::sched
