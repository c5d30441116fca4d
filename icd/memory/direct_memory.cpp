#include "icd/memory/direct_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "runtime/base/page.hpp"
#include "runtime/session/client/arena_remark.hpp"
#include "runtime/session/client/client.hpp"

namespace fairgv::icd {
namespace {

/// Copying many MiB, glibc's memcpy is up to four times as fast in one direction as in the other, depending
/// on how far into their pages source and destination lie. Large blocks of malloc lie 16 bytes in; with
/// pieces that lie this far in, both directions are fast (`fairgv bench transfer`).
constexpr std::uint64_t kLargeBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kLead = 1536;

bool enabled_by_environment() {
  const char* const value = std::getenv("FAIRGV_DIRECT_MEMORY");
  return value == nullptr || std::string_view(value) != "off";
}

}  // namespace

DirectMemoryPool::DirectMemoryPool(session::ClientSession& session, MemoryQuota& quota)
    : session_(session), quota_(quota), enabled_(enabled_by_environment()) {}

/// A cut arena is small, and transfers and messages need some of it.
bool DirectMemoryPool::leaves_room(std::uint64_t bytes) const {
  if (!session::arena_is_cut(session_.segment())) return true;
  const std::uint64_t most = session_.segment().arena().size() / 4 * 3;
  const std::uint64_t used = session_.arena_used();
  return used <= most && bytes <= most - used;
}

DirectMemory DirectMemoryPool::allocate(std::uint64_t bytes) {
  if (!enabled_) return {};
  reclaim();
  if (!leaves_room(bytes)) return {};
  const wire::EventId retired = session_.events().acquire();
  if (!retired) return {};
  // Pieces of a page or more begin on a page: aligned for every OpenCL type and every CPU device.
  const std::uint64_t lead = bytes >= kLargeBytes ? kLead : 0;
  const auto range = session_.allocate(std::max(bytes, kPageBytes) + lead);
  if (range) return {{range->offset + lead, range->bytes - lead}, retired, {}};
  session_.events().release(retired);
  return {};
}

void DirectMemoryPool::retire(const DirectMemory& memory) {
  {
    const std::lock_guard lock(mutex_);
    retired_.push_back(memory);
  }
  reclaim();
}

void DirectMemoryPool::reclaim() {
  const std::lock_guard lock(mutex_);
  std::erase_if(retired_, [this](const DirectMemory& memory) {
    const std::int32_t status = session_.events().status(memory.retired);
    if (status > session::kComplete) return false;
    if (status == session::kComplete) quota_.credit(memory.charge);
    session_.release_event(memory.retired);
    session_.free({round_down_to_page(memory.range.offset), memory.range.bytes});
    return true;
  });
}

}  // namespace fairgv::icd
