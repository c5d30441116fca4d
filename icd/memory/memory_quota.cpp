#include "icd/memory/memory_quota.hpp"

#include <algorithm>

#include "icd/session/connection.hpp"

namespace fairgv::icd {
namespace {

/// Enough for thousands of small objects, and little compared to a device's memory.
constexpr std::uint64_t kHeadroom = wire::kMostHeadroom / 2;
constexpr std::uint64_t kHeadroomPart = 256;  // of the tenant's limit, if that is less
constexpr std::uint64_t kSmallPart = 4;       // of the headroom: an object up to this is worth keeping some

std::uint64_t wish(const session::ClientSession& session) {
  std::uint64_t bytes = kHeadroom;
  if (const auto& limits = session.facts().memory_limits) {
    for (const std::uint64_t limit : *limits) bytes = std::min(bytes, limit / kHeadroomPart);
  }
  return bytes;
}

}  // namespace

MemoryReservation::~MemoryReservation() {
  if (quota_ != nullptr) quota_->put_back(share_);
}

MemoryQuota::MemoryQuota(Connection& connection)
    : connection_(connection),
      counted_(connection.session().facts().memory_limits.has_value()),
      headroom_wish_(wish(connection.session())) {}

bool MemoryQuota::take(MemoryShare share) {
  const std::lock_guard lock(mutex_);
  if (headroom_.least(share.devices) < share.bytes) return false;
  headroom_.take(share.devices, share.bytes);
  return true;
}

cl_int MemoryQuota::reserve(MemoryShare share, MemoryReservation& reservation) {
  if (!counted_ || share.bytes == 0) return CL_SUCCESS;
  cl_int error = take(share) ? CL_SUCCESS : obtain(share);
  if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE) {
    const auto is_refused = [&] {
      error = obtain(share);
      return error == CL_MEM_OBJECT_ALLOCATION_FAILURE;
    };
    connection_.session().ask_for_memory_until_refused(session::Api::opencl, share.devices, share.bytes,
                                                       is_refused);
  }
  if (error == CL_SUCCESS) reservation = MemoryReservation(*this, share);
  return error;
}

cl_int MemoryQuota::obtain(MemoryShare share) {
  const std::lock_guard asking(asking_);
  // Other threads may take the granted bytes before this thread does.
  while (!take(share)) {
    if (const cl_int error = ask(share)) return error;
  }
  return CL_SUCCESS;
}

/// A device of several contexts may have more headroom than the other devices of one context. Each request
/// for all devices would then add to it.
void MemoryQuota::return_surplus(std::uint64_t devices) {
  const std::lock_guard lock(mutex_);
  for (; devices != 0; devices &= devices - 1) {
    const std::uint64_t device = devices & -devices;
    const std::uint64_t there = headroom_.least(device);
    if (there <= wire::kMostHeadroom) continue;
    headroom_.take(device, there);
    connection_.send(wire::ReturnMemory{device, there});
  }
}

cl_int MemoryQuota::ask(MemoryShare share) {
  return_surplus(share.devices);
  // Twice: the worker answers after it has handled every release that was sent, so their memory is available
  // at the second look.
  for (int look = 0; look < 2; ++look) {
    std::uint64_t there = 0;
    {
      const std::lock_guard lock(mutex_);
      there = headroom_.least(share.devices);
    }
    if (there >= share.bytes) return CL_SUCCESS;
    const std::uint64_t more = share.bytes <= headroom_wish_ / kSmallPart ? headroom_wish_ : 0;
    const auto reply = connection_.call(wire::ReserveMemory{share.devices, share.bytes - there, more});
    if (!reply) return kSessionLost;
    if (reply->bytes != 0) {
      credit({share.devices, reply->bytes});
      return CL_SUCCESS;
    }
    connection_.direct_memory().reclaim();
  }
  return CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

void MemoryQuota::credit(MemoryShare share) {
  const std::lock_guard lock(mutex_);
  headroom_.add(share.devices, share.bytes);
}

void MemoryQuota::put_back(MemoryShare share) {
  const std::lock_guard lock(mutex_);
  if (headroom_.most(share.devices) + share.bytes <= wire::kMostHeadroom) {
    headroom_.add(share.devices, share.bytes);
  } else {
    connection_.send(wire::ReturnMemory{share.devices, share.bytes});
  }
}

}  // namespace fairgv::icd
