#include "runtime/vgpu/leave.hpp"

#include <memory>
#include <utility>

#include "runtime/session/move/orders.hpp"
#include "runtime/vgpu/move/write_image.hpp"

namespace fairgv::vgpu {

void Leave::write_image(UniqueFd file) {
  {
    const std::lock_guard lock(mutex_);
    goes_on_ = false;
  }
  const auto to = std::make_shared<const UniqueFd>(std::move(file));
  if (worker_.run_between_calls([this, to] { leave(to->get()); })) return;
  (void)daemon_.send(to_text(session::CannotMove{"its worker still answers an earlier question; try again"}));
}

void Leave::go_on() {
  {
    const std::lock_guard lock(mutex_);
    goes_on_ = true;
  }
  told_.notify_all();
}

bool Leave::goes_on() const {
  const std::lock_guard lock(mutex_);
  return goes_on_;
}

Result<std::uint64_t> Leave::written(int file) {
  FAIRGV_CHECK(may_move(calls_));
  const bool rests =
      worker_.come_to_rest([this] { return calls_.movable()->at_rest(); }, [this] { return goes_on(); });
  if (!rests) return Error{"its commands did not end in time"};
  return vgpu::write_image(file, api_, calls_, worker_.loop(), worker_.next_number());
}

void Leave::leave(int file) {
  const auto bytes = written(file);
  if (!bytes) {
    worker_.end_rest();
    // If the daemon has given up meanwhile, it expects no answer, and takes one.
    (void)daemon_.send(to_text(session::CannotMove{bytes.error().message}));
    return;
  }
  (void)daemon_.send(to_text(session::ImageWritten{bytes.value()}));
  std::unique_lock lock(mutex_);
  told_.wait(lock, [this] { return goes_on_; });
  lock.unlock();
  worker_.end_rest();
}

}  // namespace fairgv::vgpu
