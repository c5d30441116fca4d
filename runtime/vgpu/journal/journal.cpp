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

void Journal::keep(wire::Opcode opcode, wire::Lasting lasting, wire::ObjectId object, std::uint32_t slot,
                   std::span<const std::byte> call, std::span<const wire::ObjectId> names) {
  if (gave_up_) return;
  auto record = std::make_shared<Record>();
  record->number = next_++;
  record->opcode = opcode;
  record->lasting = lasting;
  record->object = object;
  record->slot = slot;
  record->call.assign(call.begin(), call.end());
  for (const wire::ObjectId name : names) {
    if (name == object) continue;
    const auto named = entries_.find(name.raw);
    if (named == entries_.end()) continue;
    const Records& needed = named->second.records;
    record->needs.insert(record->needs.end(), needed.begin(), needed.end());
  }
  Entry& entry = entries_[object.raw];
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

void Journal::release(wire::ObjectId object) {
  const auto found = entries_.find(object.raw);
  if (found == entries_.end()) return;
  for (const auto& record : found->second.records) record->released = next_;
  ++next_;
  Records records = std::move(found->second.records);
  std::move(found->second.prepared.begin(), found->second.prepared.end(), std::back_inserter(records));
  entries_.erase(found);
  drop(std::move(records));
}

std::vector<std::shared_ptr<const Journal::Record>> Journal::records() const {
  std::vector<std::shared_ptr<const Record>> all;
  std::unordered_set<const Record*> seen;
  const auto add = [&](const Records& records) {
    for (const auto& record : records) {
      if (seen.insert(record.get()).second) all.push_back(record);
    }
  };
  for (const auto& [raw, entry] : entries_) {
    add(entry.records);
    add(entry.prepared);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto record = all[i];  // add() moves the others
    add(record->needs);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->number < b->number; });
  return all;
}

void Journal::drop(Records records) {
  while (!records.empty()) {
    const std::shared_ptr<Record> record = std::move(records.back());
    records.pop_back();
    if (record.use_count() > 1) continue;
    bytes_ -= size_of(*record);
    std::move(record->needs.begin(), record->needs.end(), std::back_inserter(records));
    record->needs.clear();
  }
}

void Journal::give_up() {
  Records records;
  for (auto& [raw, entry] : entries_) {
    std::move(entry.records.begin(), entry.records.end(), std::back_inserter(records));
    std::move(entry.prepared.begin(), entry.prepared.end(), std::back_inserter(records));
  }
  entries_.clear();
  drop(std::move(records));
}

}  // namespace fairgv::vgpu
