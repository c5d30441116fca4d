// The runnable tenants in the order in which they arrived, for policies that serve them in turn. All
// operations are O(1). Not thread-safe; part of a policy.
#pragma once

#include <list>
#include <optional>
#include <unordered_map>

#include "sched/types.hpp"

namespace fairgv::sched {

class ArrivalQueue {
 public:
  bool empty() const { return order_.empty(); }
  std::size_t size() const { return order_.size(); }
  bool contains(TenantId id) const { return places_.contains(id); }

  std::optional<TenantId> front() const {
    if (order_.empty()) return std::nullopt;
    return order_.front();
  }

  /// Arrives at the back; keeps its place if it is here already.
  void push_back(TenantId id) {
    if (!contains(id)) places_.emplace(id, order_.insert(order_.end(), id));
  }

  /// To the back, if it is here.
  void move_to_back(TenantId id) {
    if (const auto found = places_.find(id); found != places_.end()) {
      order_.splice(order_.end(), order_, found->second);
    }
  }

  void erase(TenantId id) {
    if (const auto found = places_.find(id); found != places_.end()) {
      order_.erase(found->second);
      places_.erase(found);
    }
  }

 private:
  std::list<TenantId> order_;
  std::unordered_map<TenantId, std::list<TenantId>::iterator> places_;
};

}  // namespace fairgv::sched
