#include "icd/objects/callbacks.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "icd/objects/event.hpp"
#include "icd/session/connection.hpp"

namespace fairgv::icd {
Callbacks::Callbacks(Connection& connection) : connection_(connection) {}
Callbacks::~Callbacks() = default;

Callbacks::Entries::iterator Callbacks::find(std::uint64_t event, std::int32_t status) {
  const auto [first, last] = entries_.equal_range(event);
  const auto found =
      std::find_if(first, last, [&](const auto& item) { return item.second.status == status; });
  return found == last ? entries_.end() : found;
}

bool Callbacks::add(Event& event, std::int32_t status, Function function) {
  std::call_once(listening_, [this] {
    connection_.session().set_notice_handler([this](const wire::EventReached& notice) { run(notice); },
                                             [this] { run_all_lost(); });
  });
  {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= wire::kMostNotices) return false;
    entries_.emplace(event.id().raw, Entry{Ref<Event>(event), status, std::move(function)});
    waiting_.fetch_add(1, std::memory_order_relaxed);
  }
  if (connection_.send(wire::WatchEvent{event.id(), status})) return true;
  // The session is lost. run_all_lost() has taken the entry, or has been before it came.
  std::optional<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    const auto found = find(event.id().raw, status);
    if (found == entries_.end()) return true;
    entry = std::move(found->second);
    entries_.erase(found);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  const std::int32_t reached = event.status();
  entry->function(reached < 0 ? reached : status);
  return true;
}

void Callbacks::run(const wire::EventReached& notice) {
  std::optional<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    const auto watched = find(notice.event.raw, notice.watched);
    if (watched == entries_.end()) return;
    entry = std::move(watched->second);
    entries_.erase(watched);
    running_for_ = entry->event->queue();
    ++calls_;
  }
  connection_.settle();
  call(*entry, notice.status < 0 ? notice.status : notice.watched);
}

void Callbacks::call(const Entry& entry, std::int32_t status) {
  caller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  entry.function(status);
  {
    const std::lock_guard lock(mutex_);
    running_for_ = nullptr;
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  returned_.notify_all();
}

void Callbacks::await_called(const Queue& queue) {
  if (waiting_.load(std::memory_order_relaxed) == 0) return;
  if (caller_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;
  std::unique_lock lock(mutex_);
  std::vector<std::pair<std::uint64_t, std::int32_t>> due;
  for (const auto& [event, entry] : entries_) {
    const bool reached = connection_.session().events().status(entry.event->id()) <= entry.status;
    if (entry.event->queue() == &queue && reached) due.emplace_back(event, entry.status);
  }
  // Due entries leave the list to be called, one after the other, and do not come back.
  const auto all_called = [&] {
    while (!due.empty() && find(due.back().first, due.back().second) == entries_.end()) due.pop_back();
    return due.empty() && running_for_ != &queue;
  };
  while (!all_called()) {
    const std::uint64_t begun = calls_;
    if (!returned_.wait_for(lock, kPatience, [&] { return calls_ != begun || all_called(); })) return;
  }
}

void Callbacks::run_all_lost() {
  Entries lost;
  {
    const std::lock_guard lock(mutex_);
    lost.swap(entries_);
  }
  // Every entry that was added and sent before the loss is in the list; add() calls the later ones itself.
  for (auto& [event, entry] : lost) call(entry, CL_DEVICE_NOT_AVAILABLE);
}

}  // namespace fairgv::icd
