#include "runtime/vgpu/journal/journal.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace fairgv::vgpu {
namespace {

std::uint64_t size_of(const Journal::Record& record) {
  return sizeof(record) + record.call.size() + record.needs.size() * sizeof(record.needs.front());
}

}  // namespace

Journal::~Journal() {
  give_up();
}

Journal::Entry* Journal::find(wire::ObjectId object) {
  if (object.index() >= entries_.size()) return nullptr;
  Entry& found = entries_[object.index()];
  return found.generation == object.generation() ? &found : nullptr;
}

Journal::Entry& Journal::entry(wire::ObjectId object) {
  if (object.index() >= entries_.size()) {
    entries_.resize(std::max<std::size_t>(object.index() + std::size_t{1}, 2 * entries_.size()));
  }
  Entry& found = entries_[object.index()];
  found.generation = object.generation();
  return found;
}

std::shared_ptr<Journal::Record> Journal::make_record() {
  if (spare_.empty()) return std::make_shared<Record>();
  auto record = std::move(spare_.back());
  spare_.pop_back();
  record->released = 0;
  return record;
}

void Journal::keep(std::uint64_t number, wire::Opcode opcode, wire::Lasting lasting, wire::ObjectId object,
                   std::uint32_t slot, std::span<const std::byte> call,
                   std::span<const wire::ObjectId> names) {
  if (gave_up_) return;
  latest_ = number;
  auto record = make_record();
  record->number = number;
  record->opcode = opcode;
  record->lasting = lasting;
  record->object = object;
  record->slot = slot;
  record->call.assign(call.begin(), call.end());
  for (const wire::ObjectId name : names) {
    if (name == object) continue;
    const Entry* const named = find(name);
    if (named == nullptr) continue;
    record->needs.insert(record->needs.end(), named->records.begin(), named->records.end());
  }
  Entry& entry = this->entry(object);
  Records replaced;
  if (lasting == wire::Lasting::sets) {
    const auto is_replaced = [&](const std::shared_ptr<Record>& earlier) {
      return earlier->lasting == lasting && earlier->slot == slot;
    };
    const auto kept = std::stable_partition(entry.records.begin(), entry.records.end(),
                                            [&](const auto& earlier) { return !is_replaced(earlier); });
    replaced.assign(std::make_move_iterator(kept), std::make_move_iterator(entry.records.end()));
    entry.records.erase(kept, entry.records.end());
    std::move(entry.prepared.begin(), entry.prepared.end(), std::back_inserter(record->needs));
    entry.prepared.clear();
  }
  bytes_ += size_of(*record);
  (lasting == wire::Lasting::prepares ? entry.prepared : entry.records).push_back(std::move(record));
  drop(std::move(replaced));
  if (bytes_ > most_bytes_) {
    give_up();
    gave_up_ = true;
  }
}

void Journal::release(std::uint64_t number, wire::ObjectId object, std::weak_ptr<const void> used) {
  Entry* const found = find(object);
  if (found == nullptr) return;
  for (const auto& record : found->records) record->released = number;
  found->generation = 0;
  if (used.use_count() <= 1) {
    drop(found->records);
    return drop(found->prepared);
  }
  Records records = std::exchange(found->records, {});
  std::move(found->prepared.begin(), found->prepared.end(), std::back_inserter(records));
  found->prepared.clear();
  if (lingering_.size() >= sweep_at_) sweep();
  lingering_.push_back({object, std::move(used), std::move(records)});
}

void Journal::sweep() {
  const auto unused = std::stable_partition(lingering_.begin(), lingering_.end(),
                                            [](const Lingering& each) { return !each.used.expired(); });
  for (auto each = unused; each != lingering_.end(); ++each) drop(std::move(each->records));
  lingering_.erase(unused, lingering_.end());
  sweep_at_ = std::max(kFewLinger, 2 * lingering_.size());
}

std::vector<Journal::Used> Journal::used() const {
  std::vector<Used> all;
  for (const Lingering& each : lingering_) {
    if (auto it = each.used.lock()) all.push_back({each.object, std::move(it)});
  }
  return all;
}

std::vector<std::shared_ptr<const Journal::Record>> Journal::records() const {
  std::vector<std::shared_ptr<const Record>> all;
  std::unordered_set<const Record*> seen;
  const auto add = [&](const Records& records) {
    for (const auto& record : records) {
      if (seen.insert(record.get()).second) all.push_back(record);
    }
  };
  for (const Entry& entry : entries_) {
    add(entry.records);
    add(entry.prepared);
  }
  for (const Lingering& each : lingering_) {
    if (!each.used.expired()) add(each.records);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto record = all[i];  // add() moves the others
    add(record->needs);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->number < b->number; });
  return all;
}

void Journal::drop(Records& records) {
  while (!records.empty()) {
    std::shared_ptr<Record> record = std::move(records.back());
    records.pop_back();
    if (record.use_count() > 1) continue;
    bytes_ -= size_of(*record);
    for (auto& needed : record->needs) {
      // One by one: a call may name an object twice.
      if (needed.use_count() == 1) records.push_back(std::move(needed));
      needed.reset();
    }
    record->needs.clear();
    const bool is_small = record->call.capacity() <= kLargestSpare && record->needs.capacity() <= kFewRecords;
    if (is_small && spare_.size() < kMostSpare) spare_.push_back(std::move(record));
  }
  if (records.capacity() > kFewRecords) records.shrink_to_fit();
}

void Journal::give_up() {
  Records records;
  const auto take = [&records](Records& from) {
    std::move(from.begin(), from.end(), std::back_inserter(records));
  };
  for (Entry& entry : entries_) {
    take(entry.records);
    take(entry.prepared);
  }
  for (Lingering& each : lingering_) take(each.records);
  entries_.clear();
  lingering_.clear();
  drop(std::move(records));
}

}  // namespace fairgv::vgpu
