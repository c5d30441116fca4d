#include "runtime/session/turn.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "runtime/base/page.hpp"

namespace fairgv::session {
namespace {

constexpr std::uint64_t kTraceOffset = round_up_to_page(sizeof(TurnPage));
constexpr std::uint64_t kTraceEnd = kTraceOffset + sizeof(TraceHeader) + kTraceSlots * ring::kSlotBytes;
constexpr std::uint64_t kPromisesOffset = round_up_to_page(kTraceEnd);
constexpr std::uint64_t kPromisesEnd = kPromisesOffset + sizeof(TurnPromises);
constexpr std::uint64_t kResidenciesOffset = round_up_to_page(kPromisesEnd);
constexpr std::uint64_t kFileBytes = kResidenciesOffset + sizeof(Residencies);

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

bool knock(int event) {
  const std::uint64_t one = 1;
  return ::write(event, &one, sizeof(one)) == static_cast<ssize_t>(sizeof(one));
}

Result<TurnMemory> TurnMemory::create() {
  UniqueFd fd(::memfd_create("fairgv-turn", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // Fresh pages are zero: every device's state is idle.
  if (!fd || ::ftruncate(fd.get(), kFileBytes) != 0 || ::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return system_error("cannot make a turn page");
  }
  FAIRGV_TRY(mapping, Mapping::shared(fd.get(), kFileBytes));
  return TurnMemory(std::move(fd), std::move(mapping).value());
}

Result<TurnMemory> TurnMemory::attach(UniqueFd fd) {
  struct stat file {};
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  const bool sealed = seals >= 0 && (seals & kSeals) == kSeals && ::fstat(fd.get(), &file) == 0;
  const auto bytes = static_cast<std::uint64_t>(file.st_size);
  // Of a daemon before this one: the page alone, or the page and the traces, or the promises, too.
  const bool known =
      bytes == kFileBytes || bytes == kPromisesEnd || bytes == kTraceEnd || bytes == sizeof(TurnPage);
  if (!sealed || !known) {
    return Error{"the turn page's descriptor is not a sealed memory file of " + std::to_string(kFileBytes) +
                 " bytes"};
  }
  FAIRGV_TRY(mapping, Mapping::shared(fd.get(), bytes));
  return TurnMemory(std::move(fd), std::move(mapping).value());
}

std::optional<TraceMemory> TurnMemory::trace() {
  if (mapping_.size() < kTraceEnd) return std::nullopt;
  std::byte* const place = mapping_.data() + kTraceOffset;
  auto* const header = static_cast<TraceHeader*>(static_cast<void*>(place));
  return TraceMemory{{&header->ring, place + sizeof(TraceHeader), kTraceSlots}, &header->lost};
}

TurnPromises* TurnMemory::promises() {
  if (mapping_.size() < kPromisesEnd) return nullptr;
  return static_cast<TurnPromises*>(static_cast<void*>(mapping_.data() + kPromisesOffset));
}

Residencies* TurnMemory::residencies() {
  if (mapping_.size() < kFileBytes) return nullptr;
  return static_cast<Residencies*>(static_cast<void*>(mapping_.data() + kResidenciesOffset));
}

}  // namespace fairgv::session
