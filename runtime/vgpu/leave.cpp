#include "runtime/vgpu/leave.hpp"

#include <memory>
#include <utility>

#include "runtime/session/move/orders.hpp"
#include "runtime/vgpu/move/write_image.hpp"

namespace fairgv::vgpu {

void Leave::write_image(UniqueFd file) {
  std::uint64_t order = 0;
  {
    const std::lock_guard lock(mutex_);
    order = ++orders_;
  }
  const auto to = std::make_shared<const UniqueFd>(std::move(file));
  if (worker_.run_between_calls([this, to, order] { leave(to->get(), order); })) return;
  (void)daemon_.send(to_text(session::CannotMove{"its worker still answers an earlier question; try again"}));
}

void Leave::go_on() {
  {
    const std::lock_guard lock(mutex_);
    gone_on_ = orders_;
  }
  told_.notify_all();
}

bool Leave::goes_on(std::uint64_t order) const {
  const std::lock_guard lock(mutex_);
  return gone_on_ >= order;
}

Result<std::uint64_t> Leave::written(int file, std::uint64_t order) {
  FAIRGV_CHECK(may_move(calls_));
  const bool rests = worker_.come_to_rest([this] { return calls_.movable()->at_rest(); },
                                          [this, order] { return goes_on(order); });
  if (!rests) return Error{"its commands did not end in time"};
  return vgpu::write_image(file, api_, calls_, worker_.loop(), worker_.next_number());
}

void Leave::leave(int file, std::uint64_t order) {
  const auto bytes = written(file, order);
  if (!bytes) {
    worker_.end_rest();
    // If the daemon has given up meanwhile, it expects no answer, and takes one.
    (void)daemon_.send(to_text(session::CannotMove{bytes.error().message}));
    return;
  }
  (void)daemon_.send(to_text(session::ImageWritten{bytes.value()}));
  std::unique_lock lock(mutex_);
  told_.wait(lock, [this, order] { return gone_on_ >= order; });
  lock.unlock();
  worker_.end_rest();
}

}  // namespace fairgv::vgpu
