#include "tests/moves/executor/callbacks.hpp"

#include <chrono>
#include <string>

#include "tests/moves/executor/expect.hpp"

namespace fairgv::moves {
namespace {

/// A bound for programs that would wait for ever.
constexpr std::chrono::seconds kLongest{60};

}  // namespace

void Callbacks::add(cl_event event, cl_int status, Number number) {
  Call* call = nullptr;
  {
    const std::lock_guard lock(mutex_);
    call = &calls_.emplace_back(Call{this, number});
  }
  expect(clSetEventCallback(event, status, called, call), "clSetEventCallback");
}

std::uint64_t Callbacks::all_called() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kLongest, [&] { return called_ >= calls_.size(); }))
    throw Unexpected(std::to_string(called_) + " of " + std::to_string(calls_.size()) +
                     " callbacks were called");
  return sum_ + called_;
}

void CL_CALLBACK Callbacks::called(cl_event, cl_int status, void* call) {
  const Call& of = *static_cast<const Call*>(call);
  const std::lock_guard lock(of.owner->mutex_);
  ++of.owner->called_;
  // Drivers differ in the status that they give of a command that has gone on since.
  of.owner->sum_ += of.number * std::uint64_t{0x9E3779B97F4A7C15U} + static_cast<std::uint64_t>(status < 0);
  of.owner->changed_.notify_one();
}

}  // namespace fairgv::moves
