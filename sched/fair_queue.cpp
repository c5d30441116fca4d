#include "sched/fair_queue.hpp"

#include <algorithm>

#include "sched/tenant_checks.hpp"

namespace fairgv::sched {
void FairQueue::add(TenantId id, std::uint32_t weight) {
  require_valid_weight(id, weight);
  if (slots_.contains(id)) refuse_known_tenant(id);
  if (free_slots_.empty()) {
    tenants_.emplace_back();
    free_slots_.reserve(tenants_.capacity());  // so that remove() does not allocate
    runnable_.reserve(tenants_.size());        // nor wake()
    leading_.reserve(tenants_.size());
    first_.reserve(tenants_.size());
    free_slots_.push_back(static_cast<Slot>(tenants_.size() - 1));
  }
  const Slot slot = free_slots_.back();
  slots_.emplace(id, slot);
  free_slots_.pop_back();
  tenants_[slot] = Tenant{id, weight, 0, virtual_tag()};
  weights_ += weight;
}

void FairQueue::remove(TenantId id) {
  const Slot slot = find(id);
  if (slot == kNobody) return;
  if (runnable_.contains(slot)) leave_runnable(slot);
  if (last_runnable_ == slot) last_runnable_ = kNobody;
  weights_ -= tenants_[slot].weight;
  slots_.erase(id);
  free_slots_.push_back(slot);
}

void FairQueue::set_weight(TenantId id, std::uint32_t weight) {
  require_valid_weight(id, weight);
  const Slot slot = find(id);
  if (slot == kNobody) return;
  Tenant& tenant = tenants_[slot];
  // The same fraction of a tag unit in the new denominator.
  tenant.remainder = static_cast<std::uint32_t>(std::uint64_t{tenant.remainder} * weight / tenant.weight);
  weights_ += weight;
  weights_ -= tenant.weight;
  tenant.weight = weight;
}

void FairQueue::wake(TenantId id, Duration credit, Duration lead) {
  const auto woken = become_runnable(id, credit);
  if (!woken || lead <= Duration::zero()) return;
  const Tag ahead = in_tag_units(lead) / tenants_[woken->slot].weight;
  leading_.push(woken->slot,
                {woken->key.start_tag - std::min(woken->key.start_tag, ahead), woken->key.arrival});
}

void FairQueue::wake_first(TenantId id, Duration credit, Duration lead) {
  const auto woken = become_runnable(id, credit);
  if (!woken) return;
  const Tag ahead = in_tag_units(lead) / tenants_[woken->slot].weight;
  if (woken->key.start_tag <= later(highest_, ahead)) first_.push(woken->slot, {0, woken->key.arrival});
}

std::optional<FairQueue::Woken> FairQueue::become_runnable(TenantId id, Duration credit) {
  const Slot slot = find(id);
  if (slot == kNobody || runnable_.contains(slot)) return std::nullopt;
  Tenant& tenant = tenants_[slot];
  const Tag now = virtual_tag();
  highest_ = std::max(highest_, now);  // virtual time falls here and nowhere else
  const Tag earliest = now - std::min(now, in_tag_units(credit));
  if (tenant.start_tag < earliest) {
    tenant.start_tag = earliest;
    tenant.remainder = 0;
  }
  const RunHeap::Key key = next_key(tenant);
  runnable_.push(slot, key);
  return Woken{slot, key};
}

void FairQueue::drop_lead_of(TenantId id) {
  const Slot slot = find(id);
  if (slot != kNobody) drop_lead(slot);
}

void FairQueue::block(TenantId id) {
  const Slot slot = find(id);
  if (slot != kNobody && runnable_.contains(slot)) leave_runnable(slot);
}

FairQueue::Slot FairQueue::pick_with_leads() const {
  if (!first_.empty()) return first_.front_slot();
  const bool lead = leading_.front_key().start_tag <= runnable_.front_key().start_tag;
  return lead ? leading_.front_slot() : runnable_.front_slot();
}

std::optional<TenantId> FairQueue::first() const {
  if (first_.empty()) return std::nullopt;
  return tenants_[first_.front_slot()].id;
}

std::optional<TenantId> FairQueue::second() const {
  if (runnable_.size() < 2) return std::nullopt;
  return tenants_[runnable_.second_slot()].id;
}

void FairQueue::charge(TenantId id, Duration used) {
  const Slot slot = find(id);
  if (slot == kNobody) return;
  Tenant& tenant = tenants_[slot];

  const Tag dividend = in_tag_units(used) + tenant.remainder;
  tenant.remainder = static_cast<std::uint32_t>(dividend % tenant.weight);
  tenant.start_tag = later(tenant.start_tag, dividend / tenant.weight);

  if (runnable_.contains(slot)) {
    runnable_.rekey(slot, next_key(tenant));
    drop_lead(slot);
  } else if (last_runnable_ == slot) {
    idle_tag_ = std::max(idle_tag_, tenant.start_tag);  // its last turn is paid only now
  }
}

void FairQueue::rest(Duration time) {
  if (weights_ == 0 || runnable_.size() > 1) return;
  const Tag by = in_tag_units(time) / weights_;
  if (runnable_.empty()) {
    idle_tag_ = later(idle_tag_, by);
    return;
  }
  const Slot slot = runnable_.front_slot();
  Tenant& tenant = tenants_[slot];
  tenant.start_tag = later(tenant.start_tag, by);
  runnable_.rekey(slot, next_key(tenant));
  drop_lead(slot);
}

bool FairQueue::runnable(TenantId id) const {
  const Slot slot = find(id);
  return slot != kNobody && runnable_.contains(slot);
}

Duration FairQueue::ahead(TenantId id) const {
  const Slot slot = find(id);
  if (slot == kNobody) return Duration(0);
  const Tenant& tenant = tenants_[slot];
  const Tag now = virtual_tag();
  if (tenant.start_tag <= now) return Duration(0);
  constexpr Tag kLongest = std::numeric_limits<Duration::rep>::max();
  const Tag by = (tenant.start_tag - now) >> kTagFractionBits;
  return Duration(static_cast<Duration::rep>(by > kLongest / tenant.weight ? kLongest : by * tenant.weight));
}

void FairQueue::set_ahead(TenantId id, Duration ahead) {
  const Slot slot = find(id);
  if (slot == kNobody || runnable_.contains(slot)) return;
  tenants_[slot].start_tag = later(virtual_tag(), in_tag_units(ahead) / tenants_[slot].weight);
  tenants_[slot].remainder = 0;
}

std::uint32_t FairQueue::weight(TenantId id) const {
  return tenants_[slots_.at(id)].weight;
}

double FairQueue::start_tag(TenantId id) const {
  return in_nanoseconds(tenants_[slots_.at(id)].start_tag);
}

double FairQueue::virtual_time() const {
  return in_nanoseconds(virtual_tag());
}

FairQueue::Tag FairQueue::in_tag_units(Duration time) {
  constexpr Tag kLongest = (kLargestTag >> kTagFractionBits) / 2;  // 18 years: leaves room to add a remainder
  return std::min(static_cast<Tag>(std::max(time, Duration::zero()).count()), kLongest) << kTagFractionBits;
}

double FairQueue::in_nanoseconds(Tag tag) {
  return static_cast<double>(tag) / (1U << kTagFractionBits);
}

FairQueue::Slot FairQueue::find(TenantId id) const {
  // Most calls concern the tenant whose turn it is: saves the hash table's cache misses.
  if (!runnable_.empty() && tenants_[runnable_.front_slot()].id == id) return runnable_.front_slot();
  const auto found = slots_.find(id);
  return found == slots_.end() ? kNobody : found->second;
}

FairQueue::Tag FairQueue::virtual_tag() const {
  return runnable_.empty() ? idle_tag_ : runnable_.front_key().start_tag;
}

RunHeap::Key FairQueue::next_key(const Tenant& tenant) {
  return {tenant.start_tag, arrivals_++};
}

void FairQueue::erase_lead(Slot slot) {
  if (leading_.contains(slot)) leading_.erase(slot);
  if (first_.contains(slot)) first_.erase(slot);
}

void FairQueue::leave_runnable(Slot slot) {
  runnable_.erase(slot);
  drop_lead(slot);
  if (!runnable_.empty()) return;
  idle_tag_ = tenants_[slot].start_tag;
  last_runnable_ = slot;
}

}  // namespace fairgv::sched
