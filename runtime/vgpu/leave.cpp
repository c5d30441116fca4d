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
  if (begun) begun = ahead_.begin(std::move(file), worker_.loop(), worker_.next_number(), copied);
  if (!begun) (void)daemon_.send(to_text(session::CannotMove{begun.error().message}));
}

void Leave::write_image(UniqueFd file) {
  {
    const std::lock_guard lock(mutex_);
    goes_on_ = false;
  }
  const auto to = std::make_shared<const UniqueFd>(std::move(file));
  worker_.run_between_calls([this, to] { leave(to->get()); });
}

void Leave::go_on() {
  {
    const std::lock_guard lock(mutex_);
    goes_on_ = true;
  }
  told_.notify_all();
  worker_.run_between_calls([this] { ahead_.forget(); });
}

bool Leave::goes_on() const {
  const std::lock_guard lock(mutex_);
  return goes_on_;
}

Result<std::uint64_t> Leave::written(int file) {
  FAIRGV_CHECK(may_move(calls_));
  ahead_.abandon();
  const bool rests =
      worker_.come_to_rest([this] { return calls_.movable()->at_rest(); }, [this] { return goes_on(); });
  if (!rests) return Error{"its commands did not end in time"};
  ahead_.close();
  return vgpu::write_image(file, api_, calls_, worker_.loop(), worker_.next_number(), ahead_);
}

void Leave::leave(int file) {
  const auto bytes = written(file);
  if (!bytes) {
    ahead_.forget();
    worker_.end_rest();
    // If the daemon has given up meanwhile, it expects no answer, and takes one.
    (void)daemon_.send(to_text(session::CannotMove{bytes.error().message}));
    return;
  }
  (void)daemon_.send(to_text(session::ImageWritten{bytes.value()}));
  std::unique_lock lock(mutex_);
  told_.wait(lock, [this] { return goes_on_; });
  lock.unlock();
  ahead_.forget();
  worker_.end_rest();
}

}  // namespace fairgv::vgpu
