#include "cuda-shim/driver/scheduler.hpp"

#include <new>
#include <utility>

#include "cuda-shim/api/shared/signal.hpp"
#include "runtime/session/client/standard_error.hpp"

namespace fairgv::cuda::remote {
namespace {

wire::cuda::StreamKind kind_on_the_wire(StreamKind kind) {
  switch (kind) {
    case StreamKind::legacy:
      return wire::cuda::StreamKind::legacy;
    case StreamKind::blocking:
      return wire::cuda::StreamKind::blocking;
    case StreamKind::independent:
      break;
  }
  return wire::cuda::StreamKind::non_blocking;
}

/// On the session's notice thread, where nobody catches.
template <typename Body>
void run_guarded(const Body& body) noexcept {
  try {
    body();
  } catch (const std::bad_alloc&) {
    session::say("no room to bring __managed__ variables and mapped memory up to date for a host function");
  }
}

}  // namespace

bool Operation::done() const {
  if (done_.load(std::memory_order_acquire)) return true;
  if (connection_.session().events().status(event_) > session::kComplete) return false;
  connection_.settle();
  done_.store(true, std::memory_order_release);
  return true;
}

void Operation::wait() const {
  if (done_.load(std::memory_order_acquire)) return;
  connection_.wait(event_);
  done_.store(true, std::memory_order_release);
}

Clock::time_point Operation::finished_at() const {
  // Both are CLOCK_MONOTONIC.
  return Clock::time_point(std::chrono::nanoseconds(connection_.session().events().times(event_).ended));
}

Stream::Stream(std::shared_ptr<StreamGroup> group, StreamKind kind, unsigned flags, int priority,
               std::uint64_t id)
    : cuda::Stream(std::move(group), kind, flags, priority, id),
      queue_(workers_group().connection().session().new_object()) {
  workers_group().connection().send(
      wire::cuda::CreateStream{queue_, workers_group().context(), kind_on_the_wire(kind), priority});
}

void Stream::release() {
  if (!released_.exchange(true, std::memory_order_relaxed)) {
    workers_group().connection().session().release_object(queue_);
  }
}

void Stream::note_command() {
  commands_.fetch_add(1, std::memory_order_relaxed);
  if (kind() == StreamKind::blocking)
    workers_group().blocking_commands_.fetch_add(1, std::memory_order_relaxed);
}

void Stream::note_command(std::shared_ptr<Operation> ended, std::uint64_t held_before) {
  note_command();
  const std::lock_guard guard(lock_);
  tail_ = std::move(ended);
  tail_is_behind_ = held_before + 1;
}

std::uint64_t Stream::held() const {
  const std::uint64_t own = commands_.load(std::memory_order_relaxed);
  if (kind() == StreamKind::legacy)
    return own + workers_group().blocking_commands_.load(std::memory_order_relaxed);
  return own;
}

void StreamGroup::close() {
  std::shared_ptr<Stream> legacy;
  std::vector<Forgotten> forgotten;
  {
    const std::lock_guard guard(lock_);
    if (std::exchange(closed_, true)) return;
    legacy = std::move(legacy_);
    forgotten.swap(forgotten_);
  }
  // Released at once, even if it is still shared: a new context in its place may have a legacy stream of its
  // own.
  if (legacy) legacy->release();
  connection_.session().release_object(context_);
}

std::shared_ptr<cuda::Stream> Scheduler::legacy(const std::shared_ptr<cuda::StreamGroup>& of_context) {
  const auto group = workers(of_context);
  const std::lock_guard guard(group->lock_);
  if (!group->legacy_ && !group->closed_) {
    group->legacy_ = std::make_shared<Stream>(group, StreamKind::legacy, 0U, group->least_priority(),
                                              next_stream_id_.fetch_add(1, std::memory_order_relaxed));
  }
  return group->legacy_;
}

std::shared_ptr<cuda::Stream> Scheduler::make_stream(const std::shared_ptr<cuda::StreamGroup>& of_context,
                                                     StreamKind kind, unsigned flags, int priority) {
  const auto group = workers(of_context);
  auto stream = std::make_shared<Stream>(group, kind, flags, priority,
                                         next_stream_id_.fetch_add(1, std::memory_order_relaxed));
  const std::lock_guard guard(group->lock_);
  std::erase_if(group->streams_, [](const auto& other) { return other.expired(); });
  group->streams_.push_back(stream);
  return stream;
}

void Scheduler::forget(const std::shared_ptr<cuda::Stream>& stream) {
  const auto last = tail(workers(stream));
  if (!last || last->done()) return;
  StreamGroup& group = workers(stream).workers_group();
  const std::lock_guard guard(group.lock_);
  std::erase_if(group.forgotten_, [](const auto& other) { return other.tail->done(); });
  group.forgotten_.push_back(
      {last, workers(stream).has_waited() ? std::static_pointer_cast<Stream>(stream) : nullptr});
}

std::shared_ptr<Operation> Scheduler::send_marker(Stream& stream, const Operation* behind) {
  auto marker = std::make_shared<Operation>(connection_, connection_.new_event());
  wire::EnqueueMarker call{stream.command(marker->event())};
  const wire::EventId other = behind != nullptr ? behind->event() : wire::EventId{};
  if (behind != nullptr) call.command.wait_list = {&other, 1};
  // If the session is lost, the marker has ended.
  connection_.send(call);
  return marker;
}

std::shared_ptr<cuda::Operation> Scheduler::mark(const std::shared_ptr<cuda::Stream>& to,
                                                 const std::shared_ptr<cuda::Operation>& behind) {
  Stream& stream = workers(to);
  const auto* const other = static_cast<const Operation*>(behind.get());
  if (other != nullptr) {
    // No other marker is needed if `behind` has ended, or covers all commands of the stream.
    const std::lock_guard guard(stream.lock_);
    const bool is_tail = stream.tail_.get() == other && stream.tail_is_behind_ == stream.held();
    if (is_tail || other->done()) return behind;
  }
  const std::uint64_t held = stream.held();
  auto marker = send_marker(stream, other);
  stream.note_command(marker, held);
  return marker;
}

std::shared_ptr<Operation> Scheduler::tail(Stream& stream) {
  const std::lock_guard guard(stream.lock_);
  const std::uint64_t held = stream.held();
  if (held == stream.tail_is_behind_) return stream.tail_;
  stream.tail_ = send_marker(stream, nullptr);
  stream.tail_is_behind_ = held;
  return stream.tail_;
}

CUresult Scheduler::run_on_host(const std::shared_ptr<cuda::Stream>& to,
                                std::function<void(CUresult)> function, bool despite_fault) {
  Stream& stream = workers(to);
  const auto work = std::make_shared<Operation>(connection_, connection_.new_event());
  const CUresult sent = connection_.enqueue(wire::EnqueueHostWork{stream.command(work->event())});
  if (sent != CUDA_SUCCESS) return sent;
  stream.note_command();
  connection_.session().host_work().begins();
  const bool watched = connection_.watch(
      work->event(), session::kRunning,
      [&connection = connection_, work, despite_fault, function = std::move(function)](std::int32_t status) {
        const bool granted = status == session::kRunning;
        const CUresult fault = connection.fault();
        if (granted) run_guarded([&] { connection.fetch_mirrors(); });
        if (despite_fault || (granted && fault == CUDA_SUCCESS)) function(fault);
        if (granted) run_guarded([&] { connection.send_mirrors(); });
        connection.note_host_work();
        const bool told = granted && connection.send(wire::EndAccess{work->event()});
        connection.session().host_work().ended();
        if (told) connection.session().events().set(work->event(), session::kComplete);
      });
  return watched ? CUDA_SUCCESS : connection_.fault();
}

CUresult Scheduler::hold(const std::shared_ptr<cuda::Stream>& to, const std::shared_ptr<Signal>& until) {
  Stream& stream = workers(to);
  const auto work = std::make_shared<Operation>(connection_, connection_.new_event());
  const CUresult sent = connection_.enqueue(wire::EnqueueHostWork{stream.command(work->event())});
  if (sent != CUDA_SUCCESS) return sent;
  stream.note_command();
  const auto end = [&connection = connection_, work] {
    if (connection.send(wire::EndAccess{work->event()}))
      connection.session().events().set(work->event(), session::kComplete);
  };
  const bool watched = connection_.watch(work->event(), session::kRunning, [until, end](std::int32_t status) {
    if (status == session::kRunning) until->then(end);
  });
  return watched ? CUDA_SUCCESS : connection_.fault();
}

CUresult Scheduler::synchronize(const std::shared_ptr<cuda::Stream>& stream) {
  if (const auto last = tail(workers(stream))) last->wait();
  return connection_.outcome();
}

CUresult Scheduler::synchronize(cuda::StreamGroup& of_context) {
  auto& group = static_cast<StreamGroup&>(of_context);
  std::vector<std::shared_ptr<Stream>> streams;
  std::vector<std::shared_ptr<Operation>> held;
  {
    const std::lock_guard guard(group.lock_);
    if (group.legacy_) streams.push_back(group.legacy_);
    for (const auto& weak : group.streams_) {
      if (auto stream = weak.lock()) streams.push_back(std::move(stream));
    }
    for (const auto& gone : group.forgotten_) held.push_back(gone.tail);
  }
  // All markers are sent before the first wait.
  for (const auto& stream : streams) {
    if (auto last = tail(*stream)) held.push_back(std::move(last));
  }
  for (const auto& operation : held) operation->wait();
  const CUresult code = connection_.outcome();
  if (code == CUDA_SUCCESS) connection_.settled();
  return code;
}

CUresult Scheduler::query(const std::shared_ptr<cuda::Stream>& stream) {
  if (const CUresult fault = connection_.fault(); fault != CUDA_SUCCESS) return fault;
  const auto last = tail(workers(stream));
  if (last && !last->done()) return CUDA_ERROR_NOT_READY;
  return connection_.outcome();
}

}  // namespace fairgv::cuda::remote
