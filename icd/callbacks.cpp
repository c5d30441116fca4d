#include "icd/callbacks.hpp"

#include <algorithm>
#include <optional>

#include "icd/connection.hpp"
#include "icd/event.hpp"

namespace fairgv::icd {

Callbacks::Callbacks(Connection& connection) : connection_(connection) {}
Callbacks::~Callbacks() = default;

bool Callbacks::add(Event& event, std::int32_t status, Function function) {
  std::call_once(listening_, [this] {
    connection_.session().set_notice_handler([this](const wire::EventReached& notice) { run(notice); });
  });
  {
    const std::lock_guard lock(mutex_);
    entries_.emplace(event.id().raw, Entry{Ref<Event>(event), status, std::move(function)});
  }
  return connection_.send(wire::WatchEvent{event.id(), status});
}

void Callbacks::run(const wire::EventReached& notice) {
  std::optional<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = entries_.equal_range(notice.event.raw);
    const auto watched =
        std::find_if(first, last, [&](const auto& item) { return item.second.status == notice.watched; });
    if (watched == last) return;
    entry = std::move(watched->second);
    entries_.erase(watched);
  }
  connection_.settle();
  entry->function(notice.status < 0 ? notice.status : notice.watched);
}

}  // namespace fairgv::icd
