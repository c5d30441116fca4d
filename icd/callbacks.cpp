#include "icd/callbacks.hpp"

#include <algorithm>
#include <optional>

#include "icd/connection.hpp"
#include "icd/event.hpp"

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
    entries_.emplace(event.id().raw, Entry{Ref<Event>(event), status, std::move(function)});
  }
  if (connection_.send(wire::WatchEvent{event.id(), status})) return true;
  // Either it is still here, or run_all_lost() has taken it.
  std::optional<Entry> entry;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = find(event.id().raw, status);
  if (found == entries_.end()) return true;
  entry = std::move(found->second);
  entries_.erase(found);
  return false;
}

void Callbacks::run(const wire::EventReached& notice) {
  std::optional<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    const auto watched = find(notice.event.raw, notice.watched);
    if (watched == entries_.end()) return;
    entry = std::move(watched->second);
    entries_.erase(watched);
  }
  connection_.settle();
  entry->function(notice.status < 0 ? notice.status : notice.watched);
}

void Callbacks::run_all_lost() {
  Entries lost;
  {
    const std::lock_guard lock(mutex_);
    lost.swap(entries_);
  }
  // What was added and sent before the loss is among them; whoever adds from now on is told so.
  for (auto& [event, entry] : lost) entry.function(CL_DEVICE_NOT_AVAILABLE);
}

}  // namespace fairgv::icd
