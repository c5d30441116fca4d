#include "runtime/daemon/service/close_aside.hpp"

#include <sys/stat.h>

#include <system_error>
#include <thread>
#include <utility>

namespace fairgv::daemon {
namespace {

/// Beyond it (some ten milliseconds), a thread is worth its start.
constexpr blkcnt_t kLarge = (blkcnt_t{64} << 20) / 512;

}  // namespace

void close_aside(UniqueFd file) {
  struct stat size {};
  if (!file || ::fstat(file.get(), &size) != 0 || size.st_blocks <= kLarge) return;
  try {
    std::thread([closed = std::move(file)] {}).detach();
  } catch (const std::system_error&) {
    // No thread is to be had: it was closed here.
  }
}

}  // namespace fairgv::daemon
