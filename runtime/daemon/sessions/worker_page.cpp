#include "runtime/daemon/sessions/worker_page.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/ring/doorbell.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/ring/spsc_ring.hpp"
#include "runtime/session/service_unit.hpp"

namespace fairgv::daemon {
namespace {

bool has_sleeper(const ring::Doorbell& bell) {
  return (bell.word.load(std::memory_order_acquire) & ring::Doorbell::kSleeper) != 0;
}

std::uint64_t count_in(const std::byte* header, std::size_t offset) {
  std::uint64_t count = 0;
  std::memcpy(&count, header + offset, sizeof(count));
  return count;
}

/// Only the header of the segment is mapped here.
bool has_calls(const Session& session) {
  std::array<std::byte, sizeof(ring::RingHeader)> ring{};
  const auto at = static_cast<off_t>(session.header.header().preamble.offsets.requests);
  if (::pread(session.segment_fd.get(), ring.data(), ring.size(), at) != static_cast<ssize_t>(ring.size()))
    return false;
  return count_in(ring.data(), offsetof(ring::RingHeader, produced)) !=
         count_in(ring.data(), offsetof(ring::RingHeader, consumed));
}

}  // namespace

void tell_configuration(Session& session, const Config& config, const TenantRegistry& tenants) {
  for (session::DeviceTurn& turn : session.turns.page().devices) {
    turn.slicing_floor.store(config.tuning.slicing_floor, std::memory_order_relaxed);
  }
  const Tenant* const tenant = tenants.find(session.tenant);
  if (tenant == nullptr) return;
  const session::ServiceUnit unit =
      tenants.rule_of(tenant->name, tenant->class_name).units.value_or(session::ServiceUnit{});
  const bool calls = unit.kind == session::ServiceUnit::Kind::calls;
  session.header.header().coscheduling.counts_calls.store(calls ? 1 : 0, std::memory_order_relaxed);
  session::TurnPromises* const promises = session.turns.promises();
  if (promises == nullptr) return;
  for (session::TurnPromise& promise : promises->devices) {
    promise.counted.store(calls ? 0 : session::number_of(unit), std::memory_order_relaxed);
  }
}

bool needs_its_device(const Session& session) {
  const ring::SegmentHeader& header = session.header.header();
  return has_calls(session) || has_sleeper(header.completion_bell) || has_sleeper(header.reply_bell);
}

}  // namespace fairgv::daemon
