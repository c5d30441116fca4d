#include "runtime/daemon/dispatch/dispatch_loop.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "runtime/base/time_slice.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kWakeKey = 0;  // session ids start at 1
/// Looked at without letting go of the lock: a few microseconds.
constexpr std::size_t kTenantsAtATime = 32;

void signal_event(int fd) {
  const std::uint64_t one = 1;
  // Fails only when the counter is full: then it is readable anyway.
  [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof(one));
}

void clear_event(int fd) {
  std::uint64_t count = 0;
  // Non-blocking: nothing to read is fine.
  [[maybe_unused]] const ssize_t length = ::read(fd, &count, sizeof(count));
}

/// `events`: EPOLLIN, for what this thread reads itself, or with EPOLLET.
bool watch(int epoll, int fd, std::uint64_t key, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/// Signals are for the server's thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Result<std::unique_ptr<DispatchLoop>> DispatchLoop::start(DeviceRules rules, std::string wake_latency_file) {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  UniqueFd broken(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll || !wake || !broken || !watch(epoll.get(), wake.get(), kWakeKey, EPOLLIN)) {
    return system_error("cannot make the dispatcher's event descriptors");
  }
  std::unique_ptr<DispatchLoop> loop(new DispatchLoop(std::move(rules), std::move(wake_latency_file),
                                                      std::move(epoll), std::move(wake), std::move(broken)));
  loop->start_thread();
  return loop;
}

void DispatchLoop::start_thread() {
  const SignalsBlocked quiet;
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "dispatcher");
}

DispatchLoop::DispatchLoop(DeviceRules rules, std::string wake_latency_file, UniqueFd epoll,
                           UniqueFd wake, UniqueFd broken)
    : rules_(std::move(rules)),
      wake_latency_(std::move(wake_latency_file)),
      epoll_(std::move(epoll)),
      wake_(std::move(wake)),
      broken_event_(std::move(broken)) {}

DispatchLoop::~DispatchLoop() {
  freeze();
}

void DispatchLoop::freeze() {
  stopping_.store(true, std::memory_order_release);
  wake();
  if (thread_.joinable()) thread_.join();
}

void DispatchLoop::thaw() {
  stopping_.store(false, std::memory_order_relaxed);  // before the thread begins
  start_thread();
}

void DispatchLoop::set_rules(DeviceRules rules) {
  const std::lock_guard lock(mutex_);
  const DeviceRules before = std::exchange(rules_, std::move(rules));
  for (std::uint32_t device = 0; device < dispatchers_.size(); ++device) adopt(device, before.of(device));
  wake();  // deadlines may have changed
}

void DispatchLoop::run_on(const cpu_set_t& cores) {
  ::pthread_setaffinity_np(thread_.native_handle(), sizeof(cores), &cores);
}

void DispatchLoop::set_policy(const std::string& policy, std::optional<std::uint32_t> device) {
  const std::lock_guard lock(mutex_);
  const DeviceRules before = rules_;
  if (device) {
    rules_.by_index.try_emplace(hardware_[*device], rules_.common).first->second.policy = policy;
  } else {
    rules_.common.policy = policy;
    for (auto& [index, rule] : rules_.by_index) rule.policy = policy;
  }
  for (std::uint32_t index = 0; index < dispatchers_.size(); ++index) adopt(index, before.of(index));
  wake();
}

/// Brings a dispatcher in line with its rule.
void DispatchLoop::adopt(std::uint32_t device, const DeviceRule& before) {
  const DeviceRule& rule = rules_.of(device);
  Dispatcher& dispatcher = dispatchers_[device];
  dispatcher.set_hold_limit(rule.hold_limit);
  dispatcher.set_slices(rule.slices);
  if (rule.policy != before.policy) {
    dispatcher.set_policy(sched::make_policy(rule.policy, rule.slices.least), Clock::now());
  }
}

void DispatchLoop::reset_devices() {
  const std::lock_guard lock(mutex_);
  dispatchers_.clear();
  hardware_.clear();
  host_devices_.clear();
  processor_book_ = {};
  entitlement_ = {};
}

void DispatchLoop::append_dispatcher(const std::optional<cpu_set_t>& processors, std::uint32_t hardware) {
  auto& host = host_devices_.emplace_back();
  hardware_.push_back(hardware);
  if (processors && hardware == dispatchers_.size()) {
    host = HostDevice{*processors, static_cast<unsigned>(CPU_COUNT(&*processors)),
                      processor_stat_.read(*processors), Clock::now()};
  }
  const DeviceRule& rule = rules_.of(static_cast<std::uint32_t>(dispatchers_.size()));
  Dispatcher& added = dispatchers_.emplace_back(sched::make_policy(rule.policy, rule.slices.least));
  added.set_slices(rule.slices);
  added.set_hold_limit(rule.hold_limit);
  added.set_processors(host ? host->count : 0);
  added.trace(tracing_);
}

void DispatchLoop::add_device(const std::optional<cpu_set_t>& processors,
                              std::optional<std::uint32_t> same_as) {
  const std::lock_guard lock(mutex_);
  append_dispatcher(processors, same_as.value_or(static_cast<std::uint32_t>(dispatchers_.size())));
}

Result<void> DispatchLoop::add_session(const DispatchedSession& session) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  for (std::size_t device = 0; device < session.devices.size(); ++device) {
    const PlaceId place(session.id, session.devices.host(device));
    Dispatcher& dispatcher = dispatcher_of(place.device);
    dispatcher.add_tenant(session.tenant, session.weight, now);
    dispatcher.set_weight(session.tenant, session.weight, now);
    dispatcher.add_session(place, session.tenant, session.turns->devices[device], *session.header, now,
                           session.ran);
    dispatcher.set_suspended(place, session.suspended, now);
  }
  join(session, now);
  return watch_knocks(session);
}

void DispatchLoop::join(const DispatchedSession& session, Time now) {
  sessions_[session.id] = {session.tenant, session.knock_fd, session.devices, session.suspended};
  if (!session.suspended) enter(session.tenant, session.weight, now);
}

void DispatchLoop::enter(TenantId id, std::uint32_t weight, Time now) {
  ++members_[id];
  entitlement_.set(id, weight, now);
}

void DispatchLoop::leave(TenantId id, Time now) {
  if (--members_[id] != 0) return;
  members_.erase(id);
  entitlement_.set(id, 0, now);
}

Result<void> DispatchLoop::watch_knocks(const DispatchedSession& session) {
  // A knock from before is reported once more.
  if (!watch(epoll_.get(), session.knock_fd, session.id.value, EPOLLIN | EPOLLET)) {
    return system_error("cannot watch a worker's knocks");
  }
  return {};
}

Result<void> DispatchLoop::adopt_session(const DispatchedSession& session, const SessionBooks& books) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const auto used = session.devices.pick(books.used_ns);
  const auto work = session.devices.pick(books.work);
  const auto turns = session.devices.pick(books.turns);
  for (std::size_t device = 0; device < session.devices.size(); ++device) {
    const PlaceId place(session.id, session.devices.host(device));
    Dispatcher& dispatcher = dispatcher_of(place.device);
    dispatcher.add_tenant(session.tenant, session.weight, now);
    dispatcher.adopt_session(place, session.tenant, session.turns->devices[device], *session.header,
                             used[device], now, work[device], turns[device], session.ran);
    dispatcher.set_suspended(place, session.suspended, now);
  }
  processor_book_.go_on(session.id);
  join(session, now);
  return watch_knocks(session);
}

void DispatchLoop::resume() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  for (Dispatcher& dispatcher : dispatchers_) dispatcher.resume(now);
  collect_broken();
  wake();
}

std::vector<TenantBooks> DispatchLoop::books(TenantId id) {
  const std::lock_guard lock(mutex_);
  std::vector<TenantBooks> list;
  for (Dispatcher& dispatcher : dispatchers_) {
    dispatcher.charge_holder(Clock::now());
    list.push_back(dispatcher.knows(id) ? dispatcher.books(id) : TenantBooks{});
  }
  return list;
}

void DispatchLoop::restore_books(TenantId id, const std::vector<TenantBooks>& books, std::uint32_t weight,
                                 std::chrono::nanoseconds entitled) {
  const std::lock_guard lock(mutex_);
  entitlement_.restore(id, entitled);
  for (std::size_t device = 0; device < std::min(dispatchers_.size(), books.size()); ++device) {
    dispatchers_[device].add_tenant(id, weight, Clock::now());
    dispatchers_[device].restore_books(id, books[device]);
  }
}

std::chrono::nanoseconds DispatchLoop::entitled(TenantId id) {
  const std::lock_guard lock(mutex_);
  return entitlement_.of(id, Clock::now());
}

SessionBooks DispatchLoop::session_books(SessionId id) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  SessionBooks books;
  for (std::uint32_t device = 0; device < dispatchers_.size(); ++device) {
    Dispatcher& dispatcher = dispatcher_of(device);
    const PlaceId place(id, device);
    books.used_ns.push_back(dispatcher.charged_ns(place));
    books.work.push_back(dispatcher.work(place, now));
    books.turns.push_back(dispatcher.turn_books(place));
  }
  return books;
}

void DispatchLoop::remove_session(SessionId id, std::optional<std::chrono::nanoseconds> ran) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  const TenantId tenant = found->second.tenant;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.knock_fd, nullptr);
  const auto now = Clock::now();
  if (const auto device = ran ? host_device_of(id, now) : std::nullopt) {
    look_at_processors({*reading_of({id, *ran}, now)}, *device, now);
  }
  processor_book_.forget_session(id);
  if (!found->second.suspended) leave(tenant, now);
  at_places(id, [now](Dispatcher& dispatcher, PlaceId place) { dispatcher.remove_session(place, now); });
  sessions_.erase(found);
  collect_broken();
  wake();  // deadlines may have changed
}

void DispatchLoop::set_weight(TenantId id, std::uint32_t weight) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  for (Dispatcher& dispatcher : dispatchers_) dispatcher.set_weight(id, weight, now);
  if (members_.contains(id)) entitlement_.set(id, weight, now);
}

bool DispatchLoop::owes_nothing(TenantId id) const {
  return processor_book_.may_forget(id, Clock::now()) &&
         std::all_of(dispatchers_.begin(), dispatchers_.end(),
                     [&](const Dispatcher& dispatcher) { return dispatcher.may_forget(id); });
}

bool DispatchLoop::may_forget(TenantId id) {
  const std::lock_guard lock(mutex_);
  return owes_nothing(id);
}

void DispatchLoop::set_suspended(SessionId id, bool suspended, std::uint32_t weight) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || std::exchange(found->second.suspended, suspended) == suspended) return;
  const auto now = Clock::now();
  if (suspended) {
    leave(found->second.tenant, now);
  } else {
    enter(found->second.tenant, weight, now);
  }
  at_places(id, [suspended, now](Dispatcher& dispatcher, PlaceId place) {
    dispatcher.set_suspended(place, suspended, now);
  });
  collect_broken();
  wake();  // deadlines have changed
}

bool DispatchLoop::forget_if_clear(TenantId id) {
  const std::lock_guard lock(mutex_);
  if (!owes_nothing(id)) return false;
  processor_book_.forget_tenant(id);
  const auto now = Clock::now();
  for (Dispatcher& dispatcher : dispatchers_) {
    if (dispatcher.knows(id)) dispatcher.forget_tenant(id, now);
  }
  entitlement_.forget(id, now);
  return true;
}

std::vector<BrokenSession> DispatchLoop::take_broken() {
  const std::lock_guard lock(mutex_);
  clear_event(broken_event_.get());
  return std::exchange(broken_, {});
}

std::vector<DeviceRule> DispatchLoop::rules() {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceRule> list;
  for (const std::uint32_t hardware : hardware_) list.push_back(rules_.of(hardware));
  return list;
}

std::vector<sched::Duration> DispatchLoop::slices() {
  const std::lock_guard lock(mutex_);
  std::vector<sched::Duration> list;
  for (const std::uint32_t hardware : hardware_) list.push_back(dispatchers_[hardware].slice());
  return list;
}

std::vector<std::optional<SessionId>> DispatchLoop::holders() {
  const std::lock_guard lock(mutex_);
  std::vector<std::optional<SessionId>> list;
  for (std::uint32_t device = 0; device < dispatchers_.size(); ++device) {
    const auto holder = dispatcher_of(device).holding_place();
    list.push_back(holder && holder->device == device ? std::optional(holder->session) : std::nullopt);
  }
  return list;
}

void DispatchLoop::trace(bool on) {
  const std::lock_guard lock(mutex_);
  tracing_ = on;
  for (Dispatcher& dispatcher : dispatchers_) dispatcher.trace(on);
}

std::vector<std::vector<TracedTurn>> DispatchLoop::take_traced(std::uint64_t& lost) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  for (Dispatcher& dispatcher : dispatchers_) dispatcher.charge_holder(now);
  collect_broken();
  std::vector<std::vector<TracedTurn>> turns(dispatchers_.size());
  for (Dispatcher& dispatcher : dispatchers_) {
    for (const TracedTurn& turn : dispatcher.take_traced(now, lost)) turns[turn.device].push_back(turn);
  }
  return turns;
}

session::TurnState DispatchLoop::state(SessionId id) {
  const std::lock_guard lock(mutex_);
  auto most = session::TurnState::idle;
  at_places(id, [&most](const Dispatcher& dispatcher, PlaceId place) {
    most = std::max(most, dispatcher.state(place));
  });
  return most;
}

bool DispatchLoop::has_used_a_device(SessionId id) {
  const std::lock_guard lock(mutex_);
  bool any = false;
  at_places(id, [&any](const Dispatcher& dispatcher, PlaceId place) {
    any = any || dispatcher.charged_ns(place) > 0;
  });
  return any;
}

std::vector<std::uint64_t> DispatchLoop::used_ns(SessionId id) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> used;
  for (const Dispatcher& dispatcher : dispatchers_) used.push_back(dispatcher.charged_ns(id));
  return used;
}

bool DispatchLoop::compiles(SessionId id) {
  const std::lock_guard lock(mutex_);
  bool any = false;
  at_places(id, [&any](const Dispatcher& dispatcher, PlaceId place) {
    any = any || dispatcher.compile_clock(place).runs();
  });
  return any;
}

std::string DispatchLoop::waits_for(SessionId id) {
  const std::lock_guard lock(mutex_);
  std::string first;
  at_places(id, [&first](const Dispatcher& dispatcher, PlaceId place) {
    if (first.empty()) first = dispatcher.waits_for(place);
  });
  return first;
}

bool DispatchLoop::interactive(SessionId id) {
  const std::lock_guard lock(mutex_);
  bool any = false;
  at_places(id, [&any](const Dispatcher& dispatcher, PlaceId place) {
    any = any || dispatcher.interactive(place);
  });
  return any;
}

std::unordered_map<TenantId, TenantUsage> DispatchLoop::usage(const std::vector<TenantId>& tenants) {
  std::unordered_map<TenantId, TenantUsage> result;
  std::unique_lock lock(mutex_);
  auto now = Clock::now();
  for (Dispatcher& dispatcher : dispatchers_) dispatcher.charge_holder(now);
  collect_broken();
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    if (i > 0 && i % kTenantsAtATime == 0) {
      lock.unlock();
      lock.lock();
      now = Clock::now();
    }
    const TenantId id = tenants[i];
    const bool known = std::any_of(dispatchers_.begin(), dispatchers_.end(),
                                   [id](const Dispatcher& dispatcher) { return dispatcher.knows(id); });
    if (!known) continue;
    TenantUsage& usage = result[id];
    usage.share = entitlement_.share(id);
    usage.entitled = entitlement_.of(id, now);
    for (Dispatcher& dispatcher : dispatchers_) {
      usage.devices.push_back(dispatcher.knows(id) ? dispatcher.use(id, now) : DeviceUse{});
    }
  }
  return result;
}

void DispatchLoop::run() {
  set_time_slice(kPromptSlice);
  std::array<epoll_event, 64> events{};
  while (!stopping_.load(std::memory_order_acquire)) {
    const std::optional<timespec> timeout = time_left();
    if (timeout && timeout->tv_sec == 0 && timeout->tv_nsec == 0) ring::detail::give_way();
    const int count = ::epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                     timeout ? &*timeout : nullptr, nullptr);
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    for (int i = 0; i < count; ++i) handle_knock(events[static_cast<std::size_t>(i)].data.u64, now);
    for (Dispatcher& dispatcher : dispatchers_) {
      dispatcher.expire(now);
      dispatcher.announce_next(now);
    }
    limit_wake_latency(now);
    collect_broken();
    loop_turns_.fetch_add(1, std::memory_order_relaxed);
  }
  wake_latency_.end(Time::max());
}

/// The shortest that a device asks for which is wanted by several.
void DispatchLoop::limit_wake_latency(Time now) {
  std::optional<std::uint32_t> limit;
  for (std::uint32_t device = 0; device < dispatchers_.size(); ++device) {
    const auto of_device = rules_.of(device).wake_latency_us;
    if (of_device && dispatchers_[device].contended())
      limit = std::min(limit.value_or(*of_device), *of_device);
  }
  if (limit) wake_latency_.want(std::chrono::microseconds(*limit), now);
  wake_latency_.end(now);
}

/// Until the first deadline, or until a turn is expected to end; none when there is neither. Milliseconds
/// would be too coarse.
std::optional<timespec> DispatchLoop::time_left() {
  const std::lock_guard lock(mutex_);
  std::optional<Time> first;
  const auto consider = [&first](Time at) {
    if (!first || at < *first) first = at;
  };
  const Time now = Clock::now();
  for (const Dispatcher& dispatcher : dispatchers_) {
    if (const auto deadline = dispatcher.deadline()) consider(*deadline);
    if (const auto end = dispatcher.end_expected(); end && now < end->until) consider(end->from);
  }
  if (const auto end = wake_latency_.deadline()) consider(*end);
  if (!first) return std::nullopt;
  const std::chrono::nanoseconds left = std::max<std::chrono::nanoseconds>(*first - now, {});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  return timespec{seconds.count(), (left - seconds).count()};
}

void DispatchLoop::handle_knock(std::uint64_t key, Time now) {
  if (key == kWakeKey) {
    clear_event(wake_.get());
    return;
  }
  const SessionId id{static_cast<std::uint32_t>(key)};
  // One that was removed since the event was fetched has no places.
  at_places(id, [now](Dispatcher& dispatcher, PlaceId place) { dispatcher.look(place, now); });
}

void DispatchLoop::wake() {
  signal_event(wake_.get());
}

void DispatchLoop::collect_broken() {
  const std::size_t before = broken_.size();
  for (Dispatcher& dispatcher : dispatchers_) {
    for (BrokenSession& broken : dispatcher.take_broken()) broken_.push_back(std::move(broken));
  }
  if (broken_.size() > before) signal_event(broken_event_.get());
}

}  // namespace fairgv::daemon
