#include "runtime/vgpu/memory/memory_waits.hpp"

#include <algorithm>
#include <utility>

#include "runtime/vgpu/executor/loop.hpp"

namespace fairgv::vgpu {

/// Ends after all nodes that were on their way when it was queued. The executor destroys nodes in the order
/// of their ends, so by then these nodes have released their memory.
class MemoryWaits::Drained final : public Node {
 public:
  Drained(MemoryWaits& waits, const std::shared_ptr<Wait>& wait)
      : Node(Work::marker, std::make_shared<Lane>(false, wire::DeviceIndex{0})), waits_(waits), wait_(wait) {}
  ~Drained() override {
    // The wait is gone if enough has come back, or the back end has ended.
    if (!wait_.expired()) waits_.end(wire::kNothingOnItsWay);
  }

 private:
  MemoryWaits& waits_;
  const std::weak_ptr<Wait> wait_;
};

MemoryWaits::MemoryWaits(Executor& executor, MemoryAccount* account)
    : executor_(executor), account_(account) {
  if (account_ == nullptr) return;
  account_->on_release([this](std::uint64_t devices, std::uint64_t bytes) { came_back(devices, bytes); });
}

MemoryWaits::~MemoryWaits() {
  if (account_ != nullptr) account_->on_release({});
}

Result<void> MemoryWaits::await(Executor::Loop& loop, const wire::AwaitMemory& call) {
  if (wait_) return Error{"the session waits for memory already"};
  if (account_ != nullptr && !account_->exist(call.devices)) return Error{"devices that there are not"};
  FAIRGV_TRY(answer, executor_.begin_host_work(call.answer));
  wait_ = std::make_shared<Wait>(Wait{std::move(answer).value(), call.devices, 0});
  if (account_ == nullptr) {
    end(wire::kNothingOnItsWay);
  } else {
    begin(loop, call.bytes, call.more != 0);
  }
  return {};
}

void MemoryWaits::begin(Executor::Loop& loop, std::uint64_t bytes, bool more_is_to_come) {
  executor_.free_promptly(true);  // first: came_back() hears of all ends from here on
  wait_->missing = bytes;
  loop.pump();
  if (!wait_) return;  // that was enough
  const std::uint64_t left = account_->least_left(wait_->devices);
  const std::uint64_t missing = left < bytes ? bytes - left : 1;
  if (left >= bytes && account_->released() != std::exchange(released_then_, account_->released())) {
    // Something has come back since the refusal, or the driver refuses what the daemon grants: asking again
    // tells. Once for each release, or a program would ask for ever.
    end(kComplete);
  } else if (!more_is_to_come && account_->expected(wait_->devices) < missing) {
    end(wire::kNothingOnItsWay);
  } else {
    wait_->missing = missing;
    const auto drained = std::make_shared<Drained>(*this, wait_);
    // A command that has ended since the look above may have been the last that moved. A node that is not
    // queued ends the wait as it is destroyed.
    if (!executor_.enqueue_behind_moving(drained)) loop.free_retired();
  }
}

void MemoryWaits::came_back(std::uint64_t devices, std::uint64_t bytes) {
  if (!wait_ || (wait_->devices & devices) == 0) return;
  wait_->missing -= std::min(wait_->missing, bytes);
  if (wait_->missing == 0) end(kComplete);
}

void MemoryWaits::end(std::int32_t status) {
  const std::shared_ptr<Wait> wait = std::move(wait_);
  wait_.reset();
  executor_.free_promptly(false);
  executor_.end_host_work(*wait->answer, status);
}

}  // namespace fairgv::vgpu
