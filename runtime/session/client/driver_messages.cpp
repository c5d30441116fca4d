#include "runtime/session/client/driver_messages.hpp"

#include <unistd.h>

#include <algorithm>

#include "runtime/base/write_all.hpp"

namespace fairgv::session {

void DriverMessages::take(const DriverSays& message) {
  std::string text;
  for (const std::string& line : message.lines) text += line + '\n';
  write_all(STDERR_FILENO, text);
  if (message.answers == 0) return;
  const std::lock_guard lock(mutex_);
  answered_ = std::max(answered_, message.answers);
  news_.notify_all();
}

void DriverMessages::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  news_.notify_all();
}

std::uint64_t DriverMessages::next_question() {
  const std::lock_guard lock(mutex_);
  return ++asked_;
}

void DriverMessages::await(std::uint64_t question, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, patience, [&] { return answered_ >= question || ended_; });
}

}  // namespace fairgv::session
