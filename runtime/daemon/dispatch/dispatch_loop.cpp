#include "runtime/daemon/dispatch/dispatch_loop.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/base/signals_blocked.hpp"
#include "runtime/base/time_slice.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kWakeKey = 0;  // session ids start at 1

/// `events`: EPOLLIN for a descriptor that this thread reads itself, otherwise with EPOLLET.
bool watch(int epoll, int fd, std::uint64_t key, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

unsigned host_processors() {
  return static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

}  // namespace

Result<std::unique_ptr<DispatchLoop>> DispatchLoop::start(DeviceRules rules, std::string wake_latency_file) {
  FAIRGV_TRY(wake, EventSignal::make("the dispatcher's"));
  FAIRGV_TRY(broken, EventSignal::make("the dispatcher's"));
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll || !watch(epoll.get(), wake->fd(), kWakeKey, EPOLLIN)) {
    return system_error("cannot watch the dispatcher's events");
  }
  std::unique_ptr<DispatchLoop> loop(new DispatchLoop(std::move(rules), std::move(wake_latency_file),
                                                      std::move(epoll), std::move(wake).value(),
                                                      std::move(broken).value()));
  loop->start_thread();
  return loop;
}

void DispatchLoop::start_thread() {
  const SignalsBlocked quiet;  // signals are for the server's thread
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "dispatcher");
}

DispatchLoop::DispatchLoop(DeviceRules rules, std::string wake_latency_file, UniqueFd epoll, EventSignal wake,
                           EventSignal broken)
    : state_{.dispatchers = DeviceDispatchers(std::move(rules)),
             .host = HostWatch(host_processors()),
             .broken = BrokenSessions(std::move(broken))},
      wake_latency_(std::move(wake_latency_file)),
      epoll_(std::move(epoll)),
      wake_(std::move(wake)) {}

DispatchLoop::~DispatchLoop() {
  freeze();
}

void DispatchLoop::freeze() {
  stopping_.store(true, std::memory_order_release);
  wake_.raise();
  if (thread_.joinable()) thread_.join();
}

void DispatchLoop::thaw() {
  stopping_.store(false, std::memory_order_relaxed);  // before the thread begins
  start_thread();
}

void DispatchLoop::run_on(const cpu_set_t& cores) {
  ::pthread_setaffinity_np(thread_.native_handle(), sizeof(cores), &cores);
}

/// Deadlines may have changed, and sessions may have broken the protocol.
void DispatchLoop::after_change() {
  state_.broken.collect(state_.dispatchers.all());
  wake_.raise();
}

// -- devices

void DispatchLoop::set_rules(DeviceRules rules) {
  const std::lock_guard lock(state_.mutex);
  state_.dispatchers.set_rules(std::move(rules), Clock::now());
  after_change();
}

void DispatchLoop::set_policy(const std::string& policy, std::optional<std::uint32_t> device) {
  const std::lock_guard lock(state_.mutex);
  state_.dispatchers.set_policy(policy, device, Clock::now());
  after_change();
}

void DispatchLoop::reset_devices() {
  const std::lock_guard lock(state_.mutex);
  state_.dispatchers.clear();
  state_.processors.clear();
}

void DispatchLoop::add_device(const std::optional<cpu_set_t>& processors,
                              std::optional<std::uint32_t> same_as, std::uint64_t bytes) {
  const std::lock_guard lock(state_.mutex);
  const std::uint32_t own = state_.dispatchers.size();
  const std::uint32_t hardware = same_as.value_or(own);
  Dispatcher& added = state_.dispatchers.add(hardware, bytes);
  added.charges().set_processors(
      state_.processors.add_device(hardware == own ? processors : std::nullopt, Clock::now()));
}

void DispatchLoop::account_processors(const std::vector<ProcessorTime>& times) {
  const std::lock_guard lock(state_.mutex);
  state_.processors.charge(state_.dispatchers, times, Clock::now());
  after_change();
}

// -- sessions

Result<void> DispatchLoop::add_session(const DispatchedSession& session) {
  const std::lock_guard lock(state_.mutex);
  state_.dispatchers.add_session(session, Clock::now());
  state_.host.add_session(session.id, session.tenant, session.program);
  return watch_knocks(session);
}

Result<void> DispatchLoop::adopt_session(const DispatchedSession& session, const SessionBooks& books) {
  const std::lock_guard lock(state_.mutex);
  state_.dispatchers.adopt_session(session, books, Clock::now());
  state_.processors.go_on(session.id);
  state_.host.add_session(session.id, session.tenant, session.program);
  return watch_knocks(session);
}

Result<void> DispatchLoop::watch_knocks(const DispatchedSession& session) {
  // epoll reports a knock from before once more.
  if (!watch(epoll_.get(), session.knock_fd, session.id.value, EPOLLIN | EPOLLET)) {
    return system_error("cannot watch a worker's knocks");
  }
  return {};
}

void DispatchLoop::resume() {
  const std::lock_guard lock(state_.mutex);
  const auto now = Clock::now();
  for (Dispatcher& dispatcher : state_.dispatchers.all()) dispatcher.resume(now);
  after_change();
}

void DispatchLoop::move_session(const DispatchedSession& session) {
  const std::lock_guard lock(state_.mutex);
  state_.dispatchers.move_session(session, Clock::now());
  after_change();
}

void DispatchLoop::remove_session(SessionId id, std::optional<std::chrono::nanoseconds> ran) {
  const std::lock_guard lock(state_.mutex);
  const DeviceDispatchers::Member* const member = state_.dispatchers.find(id);
  if (member == nullptr) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, member->knock_fd, nullptr);
  const auto now = Clock::now();
  if (ran) state_.processors.charge_last(state_.dispatchers, {id, *ran}, now);
  state_.processors.forget_session(id);
  state_.host.remove_session(id);
  state_.dispatchers.remove_session(id, now);
  after_change();
}

void DispatchLoop::set_suspended(SessionId id, bool suspended, const sched::TenantAttributes& attributes) {
  const std::lock_guard lock(state_.mutex);
  if (state_.dispatchers.set_suspended(id, suspended, attributes, Clock::now())) after_change();
}

std::vector<BrokenSession> DispatchLoop::take_broken() {
  const std::lock_guard lock(state_.mutex);
  return state_.broken.take();
}

// -- tenants

void DispatchLoop::set_attributes(TenantId id, const sched::TenantAttributes& attributes) {
  const std::lock_guard lock(state_.mutex);
  state_.dispatchers.set_attributes(id, attributes, Clock::now());
  after_change();
}

void DispatchLoop::set_caps(std::uint32_t device, const std::vector<TenantCap>& caps) {
  const std::lock_guard lock(state_.mutex);
  if (device >= state_.dispatchers.size()) return;
  const auto now = Clock::now();
  for (const TenantCap& each : caps) set_cap(state_.dispatchers.of(device), each.id, each.cap, now);
  after_change();
}

bool DispatchLoop::forget_if_clear(TenantId id) {
  const std::lock_guard lock(state_.mutex);
  const auto now = Clock::now();
  if (!state_.may_forget(id, now)) return false;
  state_.processors.forget_tenant(id);
  state_.dispatchers.forget(id, now);
  return true;
}

void DispatchLoop::restore_books(TenantId id, const std::vector<TenantBooks>& books,
                                 const sched::TenantAttributes& attributes,
                                 const std::vector<std::chrono::nanoseconds>& entitled) {
  const std::lock_guard lock(state_.mutex);
  state_.dispatchers.restore_books(id, books, attributes, entitled, Clock::now());
}

// -- the thread

void DispatchLoop::run() {
  set_time_slice(kPromptSlice);
  std::array<epoll_event, 64> events{};
  while (!stopping_.load(std::memory_order_acquire)) {
    const std::optional<timespec> timeout = time_left();
    if (timeout && timeout->tv_sec == 0 && timeout->tv_nsec == 0) ring::detail::give_way();
    const int count = ::epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                     timeout ? &*timeout : nullptr, nullptr);
    const std::lock_guard lock(state_.mutex);
    const auto now = Clock::now();
    for (int i = 0; i < count; ++i) handle_knock(events[static_cast<std::size_t>(i)].data.u64, now);
    for (Dispatcher& dispatcher : state_.dispatchers.all()) {
      dispatcher.expire(now);
      dispatcher.announce_next(now);
    }
    state_.host.expire(state_.dispatchers.all(), now);
    limit_wake_latency(now);
    state_.broken.collect(state_.dispatchers.all());
    loop_turns_.fetch_add(1, std::memory_order_relaxed);
  }
  wake_latency_.end(Time::max());
}

/// The shortest wake-up latency that a device asks for while several tenants want that device.
void DispatchLoop::limit_wake_latency(Time now) {
  std::optional<std::uint32_t> limit;
  for (std::uint32_t device = 0; device < state_.dispatchers.size(); ++device) {
    const auto of_device = state_.dispatchers.rule(device).wake_latency_us;
    if (of_device && !state_.dispatchers.all()[device].device().line.empty())
      limit = std::min(limit.value_or(*of_device), *of_device);
  }
  if (limit) wake_latency_.want(std::chrono::microseconds(*limit), now);
  wake_latency_.end(now);
}

/// The time until the first deadline, or until a turn is expected to end; none when there is neither.
/// Milliseconds would be too coarse.
std::optional<timespec> DispatchLoop::time_left() {
  const std::lock_guard lock(state_.mutex);
  std::optional<Time> first;
  const auto consider = [&first](Time at) {
    if (!first || at < *first) first = at;
  };
  const Time now = Clock::now();
  for (const Dispatcher& dispatcher : state_.dispatchers.all()) {
    if (const auto deadline = dispatcher.deadline()) consider(*deadline);
    if (const auto end = dispatcher.end_expected(); end && now < end->until) consider(end->from);
  }
  if (const auto tick = state_.host.deadline(state_.dispatchers.all())) consider(*tick);
  if (const auto end = wake_latency_.deadline()) consider(*end);
  if (!first) return std::nullopt;
  const std::chrono::nanoseconds left = std::max<std::chrono::nanoseconds>(*first - now, {});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  return timespec{seconds.count(), (left - seconds).count()};
}

void DispatchLoop::handle_knock(std::uint64_t key, Time now) {
  if (key == kWakeKey) return wake_.clear();
  const SessionId id{static_cast<std::uint32_t>(key)};
  // A session that was removed since the event was fetched has no places.
  state_.dispatchers.at_places(id,
                               [now](Dispatcher& dispatcher, PlaceId place) { dispatcher.look(place, now); });
}

}  // namespace fairgv::daemon
