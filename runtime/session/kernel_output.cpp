#include "runtime/session/kernel_output.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <span>

namespace fairgv::session {
namespace {

/// Output that cannot be written is lost, as it is without FairGV.
void write_all(std::span<const char> text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text = text.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace

bool KernelOutput::copy() {
  if (!pipe_) return false;
  std::array<char, 16384> piece;
  const std::lock_guard lock(mutex_);
  for (;;) {
    const ssize_t length = ::read(pipe_.get(), piece.data(), piece.size());
    if (length > 0) {
      write_all(std::span(piece).first(static_cast<std::size_t>(length)));
    } else if (length == 0 || errno != EINTR) {
      return length < 0;
    }
  }
}

}  // namespace fairgv::session
