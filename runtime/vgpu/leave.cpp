#include "runtime/vgpu/leave.hpp"

#include <memory>
#include <utility>

#include "runtime/session/move/orders.hpp"
#include "runtime/vgpu/move/write_image.hpp"

namespace fairgv::vgpu {

void Leave::copy_ahead(std::uint64_t number, UniqueFd file) {
  const auto to = std::make_shared<UniqueFd>(std::move(file));
  worker_.run_between_calls([this, number, to] { copy(number, std::move(*to)); });
}

void Leave::copy(std::uint64_t number, UniqueFd file) {
  const auto copied = [this, number](const CopiesAhead::Copied& done) {
    (void)daemon_.send(to_text(session::CopiedAhead{number, done.bytes, done.left}));
  };
  auto begun = may_move(calls_);
  if (begun) begun = ahead_.begin(number, std::move(file), worker_.loop(), worker_.next_number(), copied);
  if (!begun) (void)daemon_.send(to_text(session::CannotMove{begun.error().message}));
}

void Leave::write_image(std::uint64_t copied, UniqueFd file) {
  std::uint64_t order = 0;
  {
    const std::lock_guard lock(mutex_);
    order = ++orders_;
  }
  const auto to = std::make_shared<const UniqueFd>(std::move(file));
  worker_.run_between_calls([this, copied, to, order] { leave(copied, to->get(), order); });
}

void Leave::go_on() {
  {
    const std::lock_guard lock(mutex_);
    gone_on_ = orders_;
  }
  told_.notify_all();
  worker_.run_between_calls([this] { ahead_.forget(); });
}

bool Leave::goes_on(std::uint64_t order) const {
  const std::lock_guard lock(mutex_);
  return gone_on_ >= order;
}

Result<std::uint64_t> Leave::written(std::uint64_t copied, int file, std::uint64_t order) {
  FAIRGV_CHECK(may_move(calls_));
  FAIRGV_CHECK(ahead_.keep(copied));
  const bool rests = worker_.come_to_rest([this] { return calls_.movable()->at_rest(); },
                                          [this, order] { return goes_on(order); });
  if (!rests) return Error{"its commands did not end in time"};
  ahead_.close();
  return vgpu::write_image(file, api_, calls_, worker_.loop(), worker_.next_number(), ahead_);
}

void Leave::leave(std::uint64_t copied, int file, std::uint64_t order) {
  const auto bytes = written(copied, file, order);
  if (!bytes) {
    ahead_.forget();
    worker_.end_rest();
    // If the daemon has given up meanwhile, it expects no answer, and takes one.
    (void)daemon_.send(to_text(session::CannotMove{bytes.error().message}));
    return;
  }
  (void)daemon_.send(to_text(session::ImageWritten{bytes.value()}));
  std::unique_lock lock(mutex_);
  told_.wait(lock, [this, order] { return gone_on_ >= order; });
  lock.unlock();
  ahead_.forget();
  worker_.end_rest();
}

}  // namespace fairgv::vgpu
