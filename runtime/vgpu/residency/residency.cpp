#include "runtime/vgpu/residency/residency.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/signals_blocked.hpp"

namespace fairgv::vgpu {

using Where = Block::Where;

namespace {

/// How soon terms are answered that the loop thread has not seen.
constexpr std::chrono::milliseconds kUnseenTerms{250};

}  // namespace

/// Takes as long as the simulated link does.
class Residency::Move final : public BlockMove {
 public:
  Move(Residency& residency, const Block& block, bool comes)
      : residency_(residency), block_(block), comes_(comes) {}

  bool moved(std::uint64_t bytes) override {
    auto& page = residency_.settings_.page;
    auto& count = comes_ ? page.brought_in : page.taken_out;
    count.store(count.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    const std::uint64_t link = page.link.load(std::memory_order_relaxed);
    std::unique_lock lock(residency_.mutex_);
    if (link != 0) {
      const std::chrono::duration<double> takes(static_cast<double>(bytes) / static_cast<double>(link));
      due_ += std::chrono::round<std::chrono::nanoseconds>(takes);
      residency_.moved_.wait_until(lock, due_, [this] { return block_.gives_up_; });
    }
    return !block_.gives_up_;
  }

 private:
  Residency& residency_;
  const Block& block_;
  const bool comes_;
  std::chrono::steady_clock::time_point due_ = std::chrono::steady_clock::now();
};

Residency::Residency(Settings settings) : settings_(std::move(settings)) {
  const std::lock_guard lock(mutex_);
  is_silent_ = settings_.is_silent;
  allowed_ = settings_.page.allowed.load(std::memory_order_relaxed);
  most_ = settings_.page.most.load(std::memory_order_relaxed);
}

Residency::~Residency() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    for (Block* const block : blocks_) block->gives_up_ = true;
  }
  to_mover_.notify_one();
  moved_.notify_all();
  if (mover_.joinable()) mover_.join();
}

void Residency::take_over() {
  {
    const std::lock_guard lock(mutex_);
    is_silent_ = false;
    agree();
    tell();
  }
  to_mover_.notify_one();
}

// ---- blocks

void Residency::add(Block& block) {
  const std::lock_guard lock(mutex_);
  blocks_.push_back(&block);
  if (mover_.joinable()) return;
  const SignalsBlocked quiet;
  mover_ = std::thread([this] { run(); });
  ::pthread_setname_np(mover_.native_handle(), "mover");
}

void Residency::remove(Block& block) {
  std::unique_lock lock(mutex_);
  block.gives_up_ = true;
  moved_.notify_all();
  wait_until_still(block, lock);
  for (auto* const list : {&blocks_, &wanted_, &first_}) std::erase(*list, &block);
  if (block.where_ == Where::in) resident_ -= block.bytes_;
  agree();
  tell();
  const bool shrinks = resident_ + block.bytes_ > allowed_;
  lock.unlock();
  if (shrinks) settings_.knock();
}

void Residency::pin(Block& block) {
  std::unique_lock lock(mutex_);
  ++block.pins_;
  wait_until_still(block, lock);
}

void Residency::unpin(Block& block) {
  {
    const std::lock_guard lock(mutex_);
    --block.pins_;
    tell();
  }
  to_mover_.notify_one();
}

std::int32_t Residency::bring_in_now(Block& block) {
  std::unique_lock lock(mutex_);
  if (block.where_ == Where::out) carry_out({&block, true}, lock);
  tell();
  return std::exchange(block.error_, 0);
}

void Residency::fix(Block& block) {
  const std::lock_guard lock(mutex_);
  block.stays_ = true;
}

void Residency::set_others(std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (bytes == others_) return;
  const bool shrinks = bytes < others_;
  resident_ = resident_ - others_ + bytes;
  others_ = bytes;
  agree();
  tell();
  lock.unlock();
  to_mover_.notify_one();
  if (shrinks) settings_.knock();
}

// ---- commands

void Residency::blocks_of(const DeviceCommand& command) {
  scratch_.clear();
  command.blocks(scratch_);
  std::sort(scratch_.begin(), scratch_.end());
  scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
}

Residency::Fit Residency::fit(const DeviceCommand& command) {
  const std::lock_guard lock(mutex_);
  blocks_of(command);
  std::uint64_t bytes = others_;
  bool there = true;
  for (const Block* const block : scratch_) {
    bytes += block->bytes_;
    there = there && (block->where_ == Where::in || block->error_ != 0);
  }
  if (there) return Fit::there;
  return most_ != 0 && bytes > most_ ? Fit::never : Fit::to_come;
}

void Residency::want(Block& block, std::uint64_t& room) {
  if (block.wanted_ == plan_ || block.bytes_ > room) return;
  room -= block.bytes_;
  block.wanted_ = plan_;
  wanted_.push_back(&block);
}

void Residency::plan(const std::deque<std::shared_ptr<DeviceCommand>>& ready) {
  /// More would take long to look at, and be of little use.
  constexpr std::size_t kMostCommands = 64;
  std::unique_lock lock(mutex_);
  ++plan_;
  wanted_.clear();
  first_.clear();
  std::uint64_t room = most_ - std::min(most_, others_);
  const bool on_demand = settings_.page.on_demand.load(std::memory_order_relaxed) != 0;
  const std::size_t commands = std::min(ready.size(), on_demand ? std::size_t{1} : kMostCommands);
  for (std::size_t i = 0; i < commands; ++i) {
    blocks_of(*ready[i]);
    if (i == 0) first_ = scratch_;
    for (Block* const block : scratch_) want(*block, room);
  }
  if (!on_demand) {
    scratch_.clear();
    std::copy_if(blocks_.begin(), blocks_.end(), std::back_inserter(scratch_), [this](const Block* block) {
      return block->used_in_ + 1 >= turn_ && block->wanted_ != plan_;
    });
    std::sort(scratch_.begin(), scratch_.end(),
              [](const Block* one, const Block* other) { return one->used_ > other->used_; });
    for (Block* const block : scratch_) want(*block, room);
  }
  const std::uint64_t lacked = std::exchange(lacks_told_, lacking());
  tell();
  // Where it already waits for the turn, or has it, nobody else would.
  const bool is_news = lacks_told_ != lacked;
  lock.unlock();
  to_mover_.notify_one();
  if (is_news) settings_.knock();
}

std::uint64_t Residency::lacking() const {
  std::uint64_t bytes = 0;
  for (const Block* const block : first_) {
    if (block->where_ != Where::in && block->error_ == 0) bytes += block->bytes_;
  }
  return bytes;
}

bool Residency::use(DeviceCommand& command) {
  const std::lock_guard lock(mutex_);
  blocks_of(command);
  const bool there = std::all_of(scratch_.begin(), scratch_.end(), [](const Block* block) {
    return block->where_ == Where::in || block->error_ != 0;
  });
  if (!there) return false;
  ++uses_;
  is_used_ = true;
  for (Block* const block : scratch_) {
    block->used_ = uses_;
    block->used_in_ = turn_;
    if (const std::int32_t error = std::exchange(block->error_, 0); error != 0) command.memory_error = error;
  }
  return true;
}

void Residency::rests() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(is_used_, false)) return;
  }
  to_mover_.notify_one();
}

void Residency::turn_begins() {
  const std::lock_guard lock(mutex_);
  ++turn_;
}

// ---- the page

bool Residency::changed() const {
  // Acquire: as in look(). Only this worker writes `answered`.
  return settings_.page.terms.load(std::memory_order_acquire) !=
         settings_.page.answered.load(std::memory_order_relaxed);
}

void Residency::look() {
  // Acquire: pairs with the daemon's release; what it allows is seen.
  if (!changed()) return;
  {
    const std::lock_guard lock(mutex_);
    if (!answer()) return;
  }
  to_mover_.notify_one();
  settings_.knock();
}

/// False: there is nothing to answer.
bool Residency::answer() {
  if (is_silent_ || !changed()) return false;
  const std::uint32_t terms = settings_.page.terms.load(std::memory_order_acquire);
  allowed_ = settings_.page.allowed.load(std::memory_order_relaxed);
  most_ = settings_.page.most.load(std::memory_order_relaxed);
  agree();
  // Release: pairs with the daemon's acquire; `agreed` is of these terms.
  settings_.page.answered.store(terms, std::memory_order_release);
  tell();
  return true;
}

std::chrono::nanoseconds Residency::keep() const {
  return std::chrono::nanoseconds(
      static_cast<std::chrono::nanoseconds::rep>(settings_.page.keep_ns.load(std::memory_order_relaxed)));
}

void Residency::agree() {
  if (is_silent_) return;
  // Release: pairs with the daemon's acquire; what is not agreed to any more is free.
  settings_.page.agreed.store(std::max(resident_, allowed_), std::memory_order_release);
  settings_.page.resident.store(resident_, std::memory_order_relaxed);
}

void Residency::tell() {
  if (is_silent_) return;
  std::uint64_t wants = others_;
  for (const Block* const block : wanted_) wants += block->bytes_;
  settings_.page.wants.store(wants, std::memory_order_relaxed);
  std::uint64_t fixed = others_;
  for (const Block* const block : blocks_) {
    if (block->where_ == Where::in && (block->pins_ > 0 || block->stays_)) fixed += block->bytes_;
  }
  settings_.page.fixed.store(fixed, std::memory_order_relaxed);
  lacks_told_ = lacking();
  settings_.page.lacks.store(lacks_told_, std::memory_order_relaxed);
}

// ---- moving

/// Out of blocks that may go: not wanted before wanted, and the last of the plan before the first.
Block* Residency::to_go() {
  const auto may_go = [](const Block* block) {
    return block->where_ == Where::in && block->pins_ == 0 && !block->stays_;
  };
  Block* found = nullptr;
  for (Block* const block : blocks_) {
    if (!may_go(block) || block->wanted_ == plan_) continue;
    const bool is_better = found == nullptr || block->used_ < found->used_ ||
                           (block->used_ == found->used_ && block->is_kept_outside());
    if (is_better) found = block;
  }
  if (found != nullptr || resident_ <= allowed_) return found;
  for (const bool kept_outside : {true, false}) {
    const auto last = std::find_if(wanted_.rbegin(), wanted_.rend(), [&](const Block* block) {
      return may_go(block) && (!kept_outside || block->is_kept_outside());
    });
    if (last != wanted_.rend()) return *last;
  }
  return nullptr;
}

Block* Residency::to_come() {
  const auto found = std::find_if(wanted_.begin(), wanted_.end(), [](const Block* block) {
    return block->where_ == Where::out && block->pins_ == 0 && block->error_ == 0;
  });
  return found == wanted_.end() ? nullptr : *found;
}

std::optional<Residency::Step> Residency::next_step() {
  if (is_silent_) return std::nullopt;
  Block* const comes = to_come();
  if (comes != nullptr && resident_ + comes->bytes_ <= allowed_) return Step{comes, true};
  const bool too_much = resident_ > allowed_ || comes != nullptr;
  if (!too_much || is_used_) return std::nullopt;
  Block* const goes = to_go();
  if (goes == nullptr) return std::nullopt;
  return Step{goes, false};
}

void Residency::carry_out(const Step& step, std::unique_lock<std::mutex>& lock) {
  Block& block = *step.block;
  block.where_ = step.comes ? Where::comes : Where::goes;
  if (step.comes) {
    resident_ += block.bytes_;
    agree();
  }
  tell();
  lock.unlock();
  const auto begun = std::chrono::steady_clock::now();
  Move move(*this, block, step.comes);
  const std::int32_t error = step.comes ? block.bring_in(move) : block.take_out(move);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begun;
  lock.lock();
  auto& total = settings_.page.moving_ns;
  total.store(total.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(took.count()),
              std::memory_order_relaxed);
  const bool is_in = step.comes == (error == 0);
  block.where_ = is_in ? Where::in : Where::out;
  if (!is_in) resident_ -= block.bytes_;
  if (error != 0 && step.comes) block.error_ = error;
  if (error != 0 && !step.comes && !block.gives_up_) block.stays_ = true;
  agree();
  tell();
  moved_.notify_all();
}

void Residency::wait_until_still(const Block& block, std::unique_lock<std::mutex>& lock) {
  moved_.wait(lock, [&block] { return block.where_ == Where::in || block.where_ == Where::out; });
}

void Residency::run() {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    const auto step = next_step();
    if (!step) {
      // The loop thread may be busy for long: with a call of the driver, with the session's image.
      if (to_mover_.wait_for(lock, kUnseenTerms) == std::cv_status::timeout && answer()) {
        lock.unlock();
        settings_.knock();
        lock.lock();
      }
      continue;
    }
    carry_out(*step, lock);
    const bool has_all = step->comes && lacks_told_ == 0;
    lock.unlock();
    settings_.knock();
    if (has_all || !step->comes) settings_.wake();
    lock.lock();
  }
}

}  // namespace fairgv::vgpu
