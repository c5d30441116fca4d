#include "runtime/session/turn.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace fairgv::session {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

Result<TurnMemory> TurnMemory::create() {
  ring::UniqueFd fd(::memfd_create("fairgv-turn", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // Fresh pages are zero: every device's state is idle.
  if (!fd || ::ftruncate(fd.get(), sizeof(TurnPage)) != 0 || ::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return system_error("cannot make a turn page");
  }
  auto mapping = ring::Mapping::shared(fd.get(), sizeof(TurnPage));
  if (!mapping) return mapping.error();
  return TurnMemory(std::move(fd), std::move(mapping).value());
}

Result<TurnMemory> TurnMemory::attach(ring::UniqueFd fd) {
  struct stat file {};
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(fd.get(), &file) != 0 ||
      file.st_size != static_cast<off_t>(sizeof(TurnPage))) {
    return Error{"the turn page's descriptor is not a sealed memory file of " +
                 std::to_string(sizeof(TurnPage)) + " bytes"};
  }
  auto mapping = ring::Mapping::shared(fd.get(), sizeof(TurnPage));
  if (!mapping) return mapping.error();
  return TurnMemory(std::move(fd), std::move(mapping).value());
}

}  // namespace fairgv::session
