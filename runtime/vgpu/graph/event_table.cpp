#include "runtime/vgpu/graph/event_table.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace fairgv::vgpu {
namespace {

Error unknown(const char* what, wire::EventId event) {
  return Error{fmt::format("{} {:#x} is unknown", what, event.raw)};
}

}  // namespace

Result<EventTable::Entry*> EventTable::new_entry(wire::EventId event) {
  if (event.generation() == 0 || event.index() >= slots_.size()) {
    return Error{fmt::format("event {:#x} names none of the {} slots", event.raw, slots_.size())};
  }
  if (event.index() >= entries_.size()) {
    entries_.resize(
        std::min(std::max<std::size_t>(event.index() + std::size_t{1}, 2 * entries_.size()), slots_.size()));
  }
  Entry& entry = entries_[event.index()];
  if (entry.generation != 0) return Error{fmt::format("event {:#x} is already in use", event.raw)};
  entry.generation = event.generation();
  return &entry;
}

Result<void> EventTable::add(wire::EventId event, const NodePtr& node, wire::Opcode made_by) {
  FAIRGV_TRY(made, new_entry(event));
  Entry& entry = *made.value();
  entry.status = kQueued;
  entry.node = node;
  entry.made_by = made_by;
  entry.awaited_from = 0;
  node->event = event;
  return {};
}

std::vector<EventTable::State> EventTable::states() const {
  std::vector<State> all;
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    const Entry& entry = entries_[index];
    if (entry.generation == 0) continue;
    all.push_back({wire::EventId::make(index, entry.generation), entry.status, entry.made_by, entry.node,
                   entry.watched});
  }
  return all;
}

Result<void> EventTable::restore(const State& state) {
  FAIRGV_TRY(made, new_entry(state.event));
  if (state.watched.size() > most_watches_ - watches_) return Error{"an image with too many watched events"};
  Entry& entry = *made.value();
  entry.status = state.status;
  entry.made_by = state.made_by;
  entry.awaited_from = 0;
  entry.watched = state.watched;
  watches_ += state.watched.size();
  return {};
}

bool EventTable::attach(wire::EventId event, const NodePtr& node) {
  Entry* const entry = find(event);
  if (entry == nullptr || entry->node || entry->status <= kComplete) return false;
  entry->node = node;
  node->event = event;
  return true;
}

Result<void> EventTable::resolve(std::span<const wire::EventId> wait_list, std::vector<NodePtr>& nodes,
                                 std::int32_t& failure) {
  for (const wire::EventId event : wait_list) {
    const Entry* entry = find(event);
    if (entry == nullptr) return unknown("a wait list's event", event);
    if (entry->node) {
      nodes.push_back(entry->node);
    } else if (entry->status < 0) {
      failure = entry->status;
    }
  }
  return {};
}

Result<NodePtr> EventTable::unset_user_event(wire::EventId event) {
  const Entry* entry = find(event);
  if (entry == nullptr || !entry->node || entry->node->work() != Work::user) {
    return unknown("unset user event", event);
  }
  return entry->node;
}

Result<NodePtr> EventTable::granted_access(wire::EventId event) {
  const Entry* entry = find(event);
  if (entry == nullptr || !entry->node || !entry->node->granted()) return unknown("granted access", event);
  return entry->node;
}

Result<void> EventTable::watch(wire::EventId event, std::int32_t status) {
  Entry* entry = find(event);
  if (entry == nullptr) return unknown("watched event", event);
  if (watches_ + notices_.backlog() >= most_watches_) {
    return Error{fmt::format("more than {} notices were asked for and not taken", most_watches_)};
  }
  if (entry->status <= status) {
    notices_.post({event, status, entry->status});
  } else {
    entry->watched.push_back(status);
    ++watches_;
  }
  return {};
}

Result<void> EventTable::release(wire::EventId event) {
  Entry* entry = find(event);
  if (entry == nullptr) return unknown("released event", event);
  if (entry->node) entry->node->event = {};
  entry->generation = 0;
  entry->node.reset();
  watches_ -= entry->watched.size();
  entry->watched.clear();
  return {};
}

void EventTable::progressed(const Node& node, std::int32_t status) {
  if (Entry* entry = find(node.event)) set_status(*entry, node, status);
}

void EventTable::ended(const Node& node, const CommandTimes* times) {
  Entry* entry = find(node.event);
  if (entry == nullptr) return;
  if (times != nullptr) {
    ring::CompletionSlot& slot = slots_[node.event.index()];
    // Relaxed: ordered by the release store of the state below.
    slot.queued.store(times->queued, std::memory_order_relaxed);
    slot.submitted.store(times->submitted, std::memory_order_relaxed);
    slot.started.store(times->started, std::memory_order_relaxed);
    slot.ended.store(times->ended, std::memory_order_relaxed);
    slot.completed.store(times->completed, std::memory_order_relaxed);
  }
  set_status(*entry, node, node.status());
  entry->node.reset();
}

/// Does nothing if the slot has a new owner, whose state the front end may have written by now: then the
/// front end has let go of this event, and the news of that is on its way. Nor if the state changes all the
/// time: then no honest reader is there. Returns whether a thread may wait for the event.
bool EventTable::write(std::atomic<std::uint64_t>& state, std::uint32_t generation, std::int32_t status) {
  using ring::SlotState;
  const std::uint64_t after = SlotState::make(generation, status);
  std::uint64_t before = state.load(std::memory_order_relaxed);
  for (int change = 0; SlotState::generation(before) == generation && change <= kMostChanges; ++change) {
    const std::uint64_t quiet = before & SlotState::kQuiet;
    // Release: pairs with the acquire in CompletionBoard; times and results are seen with the status.
    // Acquire: pairs with the waiter there, which takes kQuiet back after saying since when it waits.
    if (state.compare_exchange_strong(before, after | quiet, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
      return quiet == 0;
    }
  }
  return false;
}

EventTable::Entry* EventTable::find(wire::EventId event) {
  if (event.generation() == 0 || event.index() >= entries_.size()) return nullptr;
  Entry& entry = entries_[event.index()];
  return entry.generation == event.generation() ? &entry : nullptr;
}

/// Read once: the front end may write there at any time.
void EventTable::note_wait(Entry& entry, const ring::CompletionSlot& slot) const {
  if (!keep_waits_ || entry.awaited_from != 0) return;
  entry.awaited_from = slot.awaited_from.load(std::memory_order_relaxed);
  entry.awaited_as = slot.awaited_as.load(std::memory_order_relaxed);
}

void EventTable::note_end(Entry& entry, const Node& node) {
  if (entry.awaited_from == 0) return;
  ended_waits_.push_back({entry.awaited_from, entry.awaited_as, entry.made_by, node.granted()});
}

void EventTable::set_status(Entry& entry, const Node& node, std::int32_t status) {
  entry.status = status;
  if (node.work() != Work::user) {
    const bool waited = write(slots_[node.event.index()].state, entry.generation, status);
    // Nobody sleeps on anything before the end, but for an access, which the front end goes on with.
    if (waited && (status <= kComplete || node.work() == Work::access)) {
      awaited_ = true;
      note_wait(entry, slots_[node.event.index()]);
    }
    if (status <= kComplete) note_end(entry, node);
  }
  if (entry.watched.empty()) return;
  std::erase_if(entry.watched, [&](std::int32_t watched) {
    if (status > watched) return false;
    notices_.post({node.event, watched, status});
    --watches_;
    return true;
  });
}

}  // namespace fairgv::vgpu
