#include "runtime/vgpu/cuda/word_watcher.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/wire/calls/cuda/types.hpp"

namespace fairgv::vgpu::cuda {
namespace {

using Clock = std::chrono::steady_clock;

/// The pause before the next look at waits of which none has ended for so long: a program that waits for long
/// can wait a little longer, and looking costs little.
Clock::duration pause_after(Clock::duration quiet) {
  constexpr Clock::duration kShortest = std::chrono::microseconds(20);
  constexpr Clock::duration kLongest = std::chrono::milliseconds(1);
  return std::clamp(quiet / 16, kShortest, kLongest);
}

}  // namespace

/// An access: it is granted when all before it has ended, and holds up what is behind it.
class WordWatcher::Wait final : public Node {
 public:
  Wait(std::shared_ptr<Stream> stream, const AwaitedWord& word, std::shared_ptr<Inbox> inbox)
      : Node(Work::access, stream->lane,
             stream->code == CUDA_SUCCESS ? 0 : wire::cuda::status_of(stream->code)),
        stream_(std::move(stream)),
        word_(word),
        inbox_(std::move(inbox)) {
    program_ends = true;
  }

  void was_granted() override {
    const std::lock_guard lock(inbox_->mutex);
    if (inbox_->is_closed) return;
    inbox_->given.push_back(std::static_pointer_cast<Wait>(shared_from_this()));
    inbox_->changed.notify_one();
  }

  const Stream& stream() const { return *stream_; }
  const AwaitedWord& word() const { return word_; }

  /// The watcher's thread's: the word has been read once.
  bool was_read = false;

 private:
  const std::shared_ptr<Stream> stream_;
  const AwaitedWord word_;
  const std::shared_ptr<Inbox> inbox_;
};

WordWatcher::~WordWatcher() {
  Waits given;
  {
    const std::lock_guard lock(inbox_->mutex);
    inbox_->is_closed = true;
    given.swap(inbox_->given);
  }
  inbox_->changed.notify_one();
  if (thread_.joinable()) thread_.join();
}

NodePtr WordWatcher::wait(const std::shared_ptr<Stream>& stream, const AwaitedWord& word) {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  return std::make_shared<Wait>(stream, word, inbox_);
}

void WordWatcher::run() {
  Clock::time_point last = Clock::now();  // when a wait came or ended
  std::unique_lock lock(inbox_->mutex);
  const auto is_wanted = [this] { return inbox_->is_closed || !inbox_->given.empty(); };
  while (!inbox_->is_closed) {
    if (!inbox_->given.empty()) last = Clock::now();
    std::move(inbox_->given.begin(), inbox_->given.end(), std::back_inserter(waits_));
    inbox_->given.clear();
    lock.unlock();
    if (look()) last = Clock::now();
    lock.lock();
    if (waits_.empty()) {
      inbox_->changed.wait(lock, is_wanted);
    } else {
      inbox_->changed.wait_for(lock, pause_after(Clock::now() - last), is_wanted);
    }
  }
}

bool WordWatcher::look() {
  if (waits_.empty()) return false;
  is_looking_.store(true, std::memory_order_seq_cst);
  const bool any = !executor_.rests() && end_waits();
  is_looking_.store(false, std::memory_order_seq_cst);
  return any;
}

bool WordWatcher::end_waits() {
  // In this order, and before the words: a command that comes or ends later shows at the next look.
  const std::uint64_t issued = issued_.load(std::memory_order_acquire);
  const bool is_at_work = executor_.in_flight();
  const bool may_have_changed = is_at_work || was_at_work_ || issued != issued_before_;
  issued_before_ = issued;
  was_at_work_ = is_at_work;
  std::vector<std::pair<std::shared_ptr<Wait>, std::int32_t>> over;
  std::erase_if(waits_, [&](const auto& wait) {
    const auto status = outcome(*wait, may_have_changed);
    if (status) over.emplace_back(wait, *status);
    return status.has_value();
  });
  // Once told, the context's owner may destroy it, and then it must not be current anywhere.
  use(driver_, nullptr);
  for (const auto& [wait, status] : over) executor_.end_host_work(*wait, status);
  return !over.empty();
}

/// With which status the wait ends now; nothing: it goes on.
std::optional<std::int32_t> WordWatcher::outcome(Wait& wait, bool may_have_changed) {
  if (const CUresult fault = late_.fault(); fault != CUDA_SUCCESS) return wire::cuda::status_of(fault);
  const AwaitedWord& word = wait.word();
  if (word.in_arena != nullptr || may_have_changed || !wait.was_read) {
    std::uint64_t now = 0;
    if (const CUresult code = read(wait, now); code != CUDA_SUCCESS) {
      late_.report(code);
      return wire::cuda::status_of(code);
    }
    wait.was_read = true;
    if (wire::cuda::passes(word.comparison, word.bytes, now, word.value)) return kComplete;
  }
  if (!wait.stream().gives_up_waits.load(std::memory_order_acquire)) return std::nullopt;
  return wire::cuda::status_of(CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

CUresult WordWatcher::read(const Wait& wait, std::uint64_t& now) {
  const AwaitedWord& word = wait.word();
  if (word.in_arena != nullptr) {
    now = wire::cuda::load_word(word.in_arena, word.bytes);
    return CUDA_SUCCESS;
  }
  const CUresult code = use(driver_, wait.stream().context->handle);
  if (code != CUDA_SUCCESS) return code;
  // Into pageable memory: it returns when the word is there. The program has no stream 0 in the driver, so
  // nothing of its work comes before it (stream_order.hpp).
  return driver_.cuMemcpyDtoHAsync(&now, word.address, word.bytes, nullptr);
}

}  // namespace fairgv::vgpu::cuda
