#include "runtime/daemon/server.hpp"

#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

#include "runtime/base/core_set.hpp"
#include "runtime/daemon/config/report.hpp"
#include "runtime/daemon/reports/metrics.hpp"
#include "runtime/daemon/service/deadlines.hpp"
#include "runtime/daemon/tenants/unkept_promises.hpp"
#include "runtime/daemon/worker/control_group.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kShutDownPatience{10};

Result<UniqueFd> take_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) ::sigaddset(&set, signal);
  ::signal(SIGPIPE, SIG_IGN);
  if (::pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0) return Error{"cannot block signals"};
  UniqueFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return system_error("cannot take signals");
  return fd;
}

/// Only root's daemon serves users other than its own: it alone can run workers as them.
mode_t socket_mode(const Config& config) {
  if (config.group) return 0660;
  return ::geteuid() == 0 ? 0666 : 0600;
}

/// Lets in the users whom the configuration names: a group, or everybody whom the daemon can serve.
Result<void> open_socket_to(const std::string& socket, const Config& config) {
  // First the group, so that the socket is never open to the previous group.
  const gid_t group = config.group.value_or(::getegid());
  if (::chown(socket.c_str(), static_cast<uid_t>(-1), group) != 0) {
    return system_error("cannot give " + socket + " to the group of [daemon]");
  }
  if (::chmod(socket.c_str(), socket_mode(config)) == 0) return {};
  return system_error("cannot change the mode of " + socket);
}

Result<Listener> make_listener(ServerSettings& settings, const Config& config,
                               const std::optional<Handover>& handover) {
  if (handover) {
    UniqueFd fd(handover->listener);
    if (handover->listener_is_borrowed) return Listener::borrow(std::move(fd));
    return Listener::adopt(std::move(fd), settings.socket_path);
  }
  if (settings.listener) return Listener::borrow(std::move(settings.listener));
  auto listener = Listener::bind(settings.socket_path, socket_mode(config));
  if (!listener) return listener;
  if (config.group) {
    FAIRGV_CHECK(open_socket_to(settings.socket_path, config));
  }
  return listener;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::create(ServerSettings settings, Config config,
                                               const std::optional<Handover>& handover) {
  FAIRGV_TRY(signals, take_signals());
  FAIRGV_TRY(events, EventLoop::create());
  FAIRGV_TRY(vendors,
             VendorDirectory::create(std::filesystem::path(settings.socket_path).replace_extension("vendors"),
                                     config.vendors));
  FAIRGV_TRY(dispatch, DispatchLoop::start(config.devices));
  FAIRGV_TRY(listener, make_listener(settings, config, handover));
  std::unique_ptr<Server> server(new Server(std::move(settings), std::move(config), std::move(events).value(),
                                            std::move(dispatch).value(), std::move(vendors).value(),
                                            std::move(listener).value(), std::move(signals).value()));
  FAIRGV_CHECK(server->watch_everything());
  if (handover) {
    go_on(*handover, server->estate());
  }
  return server;
}

Server::Server(ServerSettings settings, Config config, std::unique_ptr<EventLoop> events,
               std::unique_ptr<DispatchLoop> dispatch, VendorDirectory vendors, Listener listener,
               UniqueFd signals)
    : settings_(std::move(settings)),
      config_(std::move(config)),
      events_(std::move(events)),
      dispatch_(std::move(dispatch)),
      vendors_(std::move(vendors)),
      installation_{settings_.worker_program, vendors_.path(), vendors_.drivers()},
      tenancies_(config_, *dispatch_),
      devices_(config_, *dispatch_, tenancies_, log_),
      markets_({config_, *dispatch_, tenancies_.registry(), devices_.table()}),
      sessions_({config_, *events_, *dispatch_, tenancies_, devices_, markets_, entrance_, installation_,
                 log_,
                 [this](std::uint64_t key, const std::string& answer) { reception_->answer(key, answer); }}),
      usage_(config_.usage, *events_, sources(),
             [this](std::uint64_t key, const std::string& answer) { reception_->answer(key, answer); }),
      checkpoints_({sessions_.sessions(), sessions_.moves(), devices_, tenancies_,
                    [this](std::uint64_t key, const Checkpoints::Reply& reply) {
                      reception_->answer(key, reply.text, reply.files);
                    }}),
      metrics_(*events_, {[this] { return metrics(); }, [this] { return unready(); }}),
      control_({config_, entrance_, sources(), life_, usage_, log_, sessions_.journals(), sessions_.drains(),
                checkpoints_},
               Adjustments({*dispatch_, tenancies_, markets_, devices_.table(), log_}),
               Interventions(tenancies_.registry(), sessions_, log_),
               Migrations(
                   config_, tenancies_.registry(), sessions_,
                   [this](std::uint64_t key, const std::string& answer) { reception_->answer(key, answer); }),
               Foreground(tenancies_), settings_.socket_path, [this] { return reload(); }),
      listener_(std::move(listener)),
      signals_(std::move(signals)) {
  tenancies_.call_before_forgetting([this] { usage_.flush(); });
  sessions_.call_before_removal([this](Session& session) { control_.take_last(session); });
  reception_.emplace(Reception::Needs{config_, *events_, entrance_, sessions_, control_, listener_, log_});
}

Server::~Server() = default;

Result<void> Server::watch_everything() {
  if (auto opened = reception_->open(); !opened) return opened;
  auto signals = events_->watch(signals_.get(), [this] { on_signal(); });
  if (!signals) return signals.error();
  signal_watch_ = std::move(signals).value();
  auto broken = events_->watch(dispatch_->broken_fd(), [this] { sessions_.end_broken(); });
  if (!broken) return broken.error();
  broken_watch_ = std::move(broken).value();
  return {};
}

/// For as many sessions as there may be, as far as the system lets us.
void Server::count_descriptors() {
  entrance_.count_descriptors();
  const std::size_t sessions = entrance_.descriptors().sessions;
  if (sessions >= config_.session_limit) return;
  spdlog::warn(
      "there are descriptors for {} sessions, and session_limit is {}: raise RLIMIT_NOFILE (LimitNOFILE= of "
      "the service) to {}",
      sessions, config_.session_limit, descriptors_for(config_.session_limit));
}

void Server::run() {
  apply_log_level();
  count_descriptors();
  reception_->set_ends_when_idle(exit_idle().count() > 0);
  place_dispatcher();
  start_services();
  spdlog::info("fairgvd {} serves {}", FAIRGV_VERSION, settings_.socket_path);
  if (vendors_.drivers().empty()) {
    spdlog::warn("no OpenCL driver is registered in {}: install one, for instance pocl-opencl-icd",
                 config_.vendors);
  }
  for (const auto& weakness : {cage_weakness(config_.worker), ending_weakness(config_.worker)}) {
    if (weakness) spdlog::warn("{}", *weakness);
  }
  for (const std::string& warning : unkept_promises()) spdlog::warn("{}", warning);
  if (const auto& groups = control_group_folder()) clear_left_over_groups(*groups);
  tell_ready("serves " + settings_.socket_path);
  while (!stopping_) {
    events_->wait(next_deadline());
    expire(Clock::now());
    reception_->serve(Clock::now());
    tell_sessions();
    if (control_.stop_requested()) stopping_ = true;
    if (control_.take_restart_request()) begin_restart();
    if (ready_to_restart()) restart();
  }
  shut_down();
}

std::string Server::metrics() {
  return metrics_text(sources(), life_, read_books(sources()), usage_.state());
}

std::optional<std::string> Server::unready() const {
  if (stopping_) return "the daemon stops";
  if (restarting_) return "the daemon restarts";
  if (reception_->is_exhausted()) return "the daemon has no descriptors left for new programs";
  if (installation_.drivers.empty()) return "no OpenCL driver is registered in " + config_.vendors;
  return std::nullopt;
}

/// Failures of a service are in the log, and everything else goes on.
void Server::start_services() {
  usage_.configure();
  const auto told = metrics_.listen(config_.metrics.listen, socket_mode(config_));
  if (!told) spdlog::error("{}: no metrics are told", told.error().message);
}

void Server::on_signal() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    if (info.ssi_signo == SIGHUP) {
      reload_on_signal();
    } else if (info.ssi_signo == SIGUSR2) {
      begin_restart();
    } else {
      spdlog::info("stopping: {}", ::sigdescr_np(static_cast<int>(info.ssi_signo)));
      stopping_ = true;
    }
  }
}

void Server::reload_on_signal() {
  const auto report = reload();
  if (report) return;
  for (const std::string& line : lines_of(report.error())) {
    spdlog::error("the configuration stays as it was: {}", line);
  }
}

Result<control::ReloadReport> Server::reload() {
  const ReloadNotice notice;
  // A configuration file that has come since counts, too.
  const auto path = settings_.config_path ? settings_.config_path : default_config_path();
  if (!path) return Error{"there is no configuration to read: start fairgvd with --config FILE"};
  FAIRGV_TRY(config, read_config(*path));
  const ConfigChanges changes = changes_between(config_, config.value());
  control::ReloadReport report{*path, changes.at_once, changes.new_programs, changes.restart, {}};
  apply(std::move(config).value(), report);
  spdlog::info("read {} again: {} options changed", *path,
               changes.at_once.size() + changes.new_programs.size() + changes.restart.size());
  for (const std::string& option : changes.restart) spdlog::warn("restart needed: {}", option);
  for (const std::string& warning : report.warnings) spdlog::warn("{}", warning);
  return report;
}

void Server::apply(Config config, control::ReloadReport& report) {
  const auto warn_of = [&](const Result<void>& done) {
    if (!done) report.warnings.push_back(done.error().message);
  };
  const bool other_group = config_.group != config.group;
  config_ = std::move(config);
  entrance_.refresh_owners();
  // A service manager's socket is its own to open.
  if (other_group && !listener_.is_borrowed()) warn_of(open_socket_to(settings_.socket_path, config_));
  apply_log_level();
  place_dispatcher();
  count_descriptors();
  reception_->set_ends_when_idle(exit_idle().count() > 0);
  dispatch_->set_rules(config_.devices);
  for (std::string& line : tenancies_.configure()) report.warnings.push_back(std::move(line));
  markets_.configure();
  if (!usage_.on()) usage_.skip();
  start_services();
  sessions_.apply_configuration();
  warn_of(vendors_.refresh(config_.vendors));
  installation_.drivers = vendors_.drivers();
  installation_.examined = false;
  const auto unkept = unkept_promises();
  report.warnings.insert(report.warnings.end(), unkept.begin(), unkept.end());
}

/// What is promised, and the configured policies do not keep: a line for each policy.
std::vector<std::string> Server::unkept_promises() const {
  std::set<std::string> policies{config_.devices.common.policy};
  for (const auto& [device, rule] : config_.devices.by_index) policies.insert(rule.policy);
  const auto promised = tenancies_.registry().promises();
  std::vector<std::string> warnings;
  for (const std::string& policy : policies) {
    if (auto warning = unkept_warning(policy, promised)) warnings.push_back(std::move(*warning));
  }
  return warnings;
}

void Server::begin_restart() {
  restarting_ = true;
  sessions_.refuse_moves("the daemon restarts");
  reception_->close();  // connections that come now are accepted afterwards
}

/// Sessions that are starting or ending, and programs that are about to say hello, are waited for: each of
/// them has a limit of its own.
bool Server::ready_to_restart() const {
  return restarting_ && !stopping_ && sessions_.settled() && !reception_->expects_hello();
}

void Server::restart() {
  std::vector<std::string> arguments{"--socket", settings_.socket_path};
  const auto add = [&](const char* option, const std::string& value) {
    arguments.insert(arguments.end(), {option, value});
  };
  if (settings_.config_path) add("--config", *settings_.config_path);
  if (settings_.exit_idle) add("--exit-idle", std::to_string(settings_.exit_idle->count()));
  if (settings_.log_level) add("--log-level", *settings_.log_level);
  spdlog::info("restarting as {} with {} sessions", settings_.program.string(), sessions_.sessions().size());
  const ReloadNotice notice;  // the next program says when it is ready
  usage_.close();
  metrics_.close();
  dispatch_->freeze();
  Handover handover = gather(estate(), listener_.fd(), settings_.lock_fd);
  handover.listener_is_borrowed = listener_.is_borrowed();
  const Error error = replace_program(settings_.program, arguments, handover);
  dispatch_->thaw();
  start_services();
  spdlog::error("goes on as before: {}", error.message);
  restarting_ = false;
  sessions_.refuse_moves("");
  reception_->hang_up();  // a peer that waits for the restart may look what has come of it
  (void)reception_->open();
}

void Server::apply_log_level() const {
  spdlog::set_level(spdlog::level::from_str(settings_.log_level.value_or(config_.log_level)));
}

void Server::place_dispatcher() const {
  const auto all = allowed_cores();
  const auto device = parse_core_set(config_.tuning.device_cores);
  if (all) dispatch_->run_on(device ? other_cores(all.value(), device.value()) : all.value());
}

std::optional<Server::Time> Server::next_deadline() {
  std::optional<Time> first = sessions_.deadline();
  keep_earlier(first, markets_.deadline());
  keep_earlier(first, usage_.deadline());
  keep_earlier(first, metrics_.deadline());
  keep_earlier(first, reception_->deadline());
  keep_earlier(first, control_.deadline());
  keep_earlier(first, log_.deadline());
  keep_earlier(first, watchdog_.deadline());
  if (!sessions_.empty() || !reception_->empty() || exit_idle().count() <= 0) {
    idle_since_.reset();
  } else {
    if (!idle_since_) idle_since_ = Clock::now();
    keep_earlier(first, std::optional(*idle_since_ + std::chrono::ceil<Clock::duration>(exit_idle())));
  }
  return first;
}

void Server::expire(Time now) {
  sessions_.expire(now);
  markets_.expire(now);
  usage_.expire(now);
  metrics_.expire(now);
  control_.expire(now);
  reception_->expire(now);
  log_.expire(now);
  if (watchdog_.due(now)) {
    if (watchdog_.look(now, dispatch_->turns())) tell_alive();
    dispatch_->nudge();
  }
  if (idle_for_too_long(now)) {
    spdlog::info("stopping: idle");
    stopping_ = true;
  }
}

void Server::tell_sessions() {
  const std::size_t sessions = sessions_.sessions().size();
  if (std::exchange(told_sessions_, sessions) == sessions) return;
  tell_status("serves " + settings_.socket_path + " with " + std::to_string(sessions) +
              (sessions == 1 ? " session" : " sessions"));
}

bool Server::idle_for_too_long(Time now) {
  return idle_since_ && sessions_.empty() && reception_->empty() && now - *idle_since_ >= exit_idle();
}

std::chrono::duration<double> Server::exit_idle() const {
  return settings_.exit_idle.value_or(config_.exit_idle);
}

void Server::shut_down() {
  tell_stopping();
  reception_->close();
  sessions_.end_all("the daemon stops");
  const Time patience_ends = Clock::now() + kShutDownPatience;
  while (!sessions_.empty() && Clock::now() < patience_ends) {
    events_->wait(std::min(patience_ends, sessions_.deadline().value_or(patience_ends)));
    sessions_.expire(Clock::now());
  }
  usage_.close();
  if (!sessions_.empty()) spdlog::error("{} workers could not be killed", sessions_.sessions().size());
  spdlog::info("stopped");
}

}  // namespace fairgv::daemon
