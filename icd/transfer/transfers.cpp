#include "icd/transfer/transfers.hpp"

#include <algorithm>
#include <functional>

#include "icd/objects/event.hpp"
#include "icd/session/connection.hpp"

namespace fairgv::icd {
namespace {

bool overlap(const HostRegion& a, const HostRegion& b) {
  const std::less<const std::byte*> below;
  return below(a.address, b.address + b.span()) && below(b.address, a.address + a.span());
}

bool contains(const HostRegion& outer, const HostRegion& inner) {
  const std::less<const std::byte*> below;
  return outer.is_flat() && inner.is_flat() && !below(inner.address, outer.address) &&
         !below(outer.address + outer.bytes(), inner.address + inner.bytes());
}

}  // namespace

Staging::~Staging() {
  session_.free(range_);
}

std::byte* Staging::data() const {
  return session_.bytes(range_);
}

Transfers::Transfers(Connection& connection)
    : connection_(connection),
      patience_(std::min<std::uint64_t>(kPatienceBytes,
                                        connection.session().segment().arena().size() / kPatiencePart)) {}
Transfers::~Transfers() = default;

bool Transfers::ended(const Ref<Event>& command) const {
  return connection_.session().events().status(command->id()) <= CL_COMPLETE;
}

StagingRef Transfers::try_allocate(std::uint64_t bytes) {
  session::ClientSession& session = connection_.session();
  const auto range = session.allocate(bytes);
  if (!range) return nullptr;
  return std::make_shared<Staging>(session, *range);
}

StagingRef Transfers::allocate(std::uint64_t bytes) {
  reclaim();
  const auto crowded = [this] {
    const std::lock_guard lock(mutex_);
    return write_bytes_ > patience_;
  };
  while (crowded() && !connection_.has_open_user_events()) wait_for_oldest_write();
  if (StagingRef staging = try_allocate(bytes)) return staging;
  if (!connection_.has_open_user_events()) wait_for_oldest_write();
  return try_allocate(bytes);
}

void Transfers::wait_for_oldest_write() {
  Ref<Event> oldest;
  {
    const std::lock_guard lock(mutex_);
    if (writes_.empty()) return;
    oldest = writes_.front().command;
  }
  connection_.session().wait(oldest->id());
  reclaim();
}

void Transfers::reclaim() {
  std::vector<Write> done;  // destroyed without the lock: an event may hold the last reference to its queue
  const std::lock_guard lock(mutex_);
  while (!writes_.empty() && ended(writes_.front().command)) {
    write_bytes_ -= writes_.front().staging->range().bytes;
    done.push_back(std::move(writes_.front()));
    writes_.pop_front();
  }
}

void Transfers::keep_until_ended(Ref<Event> command, StagingRef staging) {
  const std::lock_guard lock(mutex_);
  write_bytes_ += staging->range().bytes;
  writes_.push_back({std::move(command), std::move(staging)});
}

void Transfers::deliver(Ref<Event> command, StagingRef staging, std::uint64_t offset,
                        const HostRegion& host) {
  const std::lock_guard lock(mutex_);
  reads_.push_back({std::move(command), std::move(staging), offset, host});
  // Release: pairs with the acquire in settle().
  read_count_.store(static_cast<std::uint32_t>(reads_.size()), std::memory_order_release);
}

void Transfers::settle() {
  if (read_count_.load(std::memory_order_acquire) == 0) return;
  std::vector<Read> done;
  {
    const std::lock_guard lock(mutex_);
    const auto settled = std::stable_partition(reads_.begin(), reads_.end(),
                                               [this](const Read& read) { return !ended(read.command); });
    for (auto read = settled; read != reads_.end(); ++read) {
      if (connection_.session().events().status(read->command->id()) == CL_COMPLETE) {
        scatter(read->staging->data() + read->offset, read->host);
      }
    }
    done.assign(std::make_move_iterator(settled), std::make_move_iterator(reads_.end()));
    reads_.erase(settled, reads_.end());
    read_count_.store(static_cast<std::uint32_t>(reads_.size()), std::memory_order_release);
  }
}

std::optional<StagedSource> Transfers::find_source(const HostRegion& host) {
  if (read_count_.load(std::memory_order_acquire) == 0) return std::nullopt;
  settle();
  std::vector<Ref<Event>> blockers;
  {
    const std::lock_guard lock(mutex_);
    // The latest read decides what the memory will hold.
    for (auto read = reads_.rbegin(); read != reads_.rend(); ++read) {
      if (!overlap(read->host, host)) continue;
      if (blockers.empty() && contains(read->host, host)) {
        const auto into = static_cast<std::uint64_t>(host.address - read->host.address);
        return StagedSource{read->staging, read->staging->part(read->offset + into, host.bytes())};
      }
      blockers.push_back(read->command);
    }
  }
  for (const Ref<Event>& blocker : blockers) connection_.wait(blocker->id());
  return std::nullopt;
}

}  // namespace fairgv::icd
