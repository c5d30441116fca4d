// fairgv focus: gives priority to the tenant whose window is in front, under the policy `timegraph`
// (TimeGraph, section 3, AGPA).
//
// Whenever the window in front changes, and once a second, for programs come and go while it stays the same,
// the daemon is told which tenants' programs belong to it. It forgets that when this command ends, however
// that happens.
#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/control/answers.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"
#include "tools/fairgv/focus/front_tenants.hpp"
#include "tools/fairgv/focus/window_watcher.hpp"

namespace fairgv::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLookEvery{1};
/// For how long a daemon that has hung up may take to come back: it may be restarted.
constexpr std::chrono::seconds kReturnPatience{5};
constexpr std::chrono::milliseconds kTryEvery{100};

volatile std::sig_atomic_t end_asked = 0;

void ask_for_end(int /*signal*/) {
  end_asked = 1;
}

/// The signals that ask for the end come only while the command waits.
class EndSignals {
 public:
  EndSignals() {
    sigset_t set;
    ::sigemptyset(&set);
    struct sigaction action {};
    action.sa_handler = ask_for_end;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      ::sigaddset(&set, signal);
      ::sigaction(signal, &action, nullptr);
    }
    ::sigprocmask(SIG_BLOCK, &set, &before_);
  }

  /// Waits for news on the descriptor, for the time, or for a signal. -1: there is no descriptor.
  void wait(int fd, std::chrono::milliseconds time) const {
    pollfd news{fd, POLLIN, 0};
    time = std::max(time, std::chrono::milliseconds(0));
    const timespec most{time.count() / 1'000, time.count() % 1'000 * 1'000'000};
    ::ppoll(&news, 1, &most, &before_);
  }

 private:
  sigset_t before_{};
};

class Follower {
 public:
  Follower(const EndSignals& signals, std::string socket) : signals_(signals), socket_(std::move(socket)) {}

  Result<void> connect() {
    FAIRGV_TRY(control, Control::connect(socket_));
    control_.emplace(std::move(control).value());
    return {};
  }

  /// The programs of this process' window are in front from now on; none: nobody's.
  Result<void> put_in_front(std::optional<pid_t> process) {
    for (const auto give_up = Clock::now() + kReturnPatience;;) {
      lost_ = false;
      const auto told = tell(process);
      if (!lost_ || end_asked != 0 || Clock::now() > give_up) return told;
      signals_.wait(-1, kTryEvery);
      if (end_asked == 0) (void)connect();
    }
  }

 private:
  Result<void> tell(std::optional<pid_t> process) {
    control::Report report;
    if (process) {
      FAIRGV_TRY(text, ask({control::ControlRequest::Command::ps, {}, {}}));
      FAIRGV_TRY(parsed, control::parse_report(text.value()));
      report = std::move(parsed).value();
    }
    control::ControlRequest request;
    request.command = control::ControlRequest::Command::focus;
    if (process) {
      const auto names = focus::tenants_in_front(report, *process, focus::parent_of);
      request.front.assign(names.begin(), names.end());
    }
    FAIRGV_TRY(text, ask(request));
    FAIRGV_TRY(answer, control::parse_front_answer(text.value()));
    show(answer.value(), report);
    return {};
  }

  Result<std::string> ask(const control::ControlRequest& request) {
    auto answer = control_->ask(request);
    lost_ = !answer;
    return answer;
  }

  /// Prints what has changed.
  void show(const control::FrontAnswer& answer, const control::Report& report) {
    for (const std::string& line : answer.refused) {
      if (refused_.insert(line).second) fmt::print(stderr, "fairgv focus: {}\n", line);
    }
    if (shown_ == answer.front) return;
    shown_ = answer.front;
    std::string names;
    for (const std::string& name : answer.front)
      names += (names.empty() ? "" : ", ") + name + note(name, report);
    fmt::print("in front: {}\n", names.empty() ? "nobody" : names);
    std::fflush(stdout);
  }

  /// Being in front changes automatic priorities only.
  static std::string note(const std::string& name, const control::Report& report) {
    const auto tenant = std::find_if(report.tenants.begin(), report.tenants.end(),
                                     [&](const auto& each) { return each.tenant == name; });
    if (tenant == report.tenants.end() || !tenant->timegraph || tenant->timegraph->priority == "*") return "";
    return " (its priority is fixed, " + tenant->timegraph->priority + ")";
  }

  const EndSignals& signals_;
  const std::string socket_;
  std::optional<Control> control_;
  bool lost_ = false;  // the daemon, while it was asked
  std::optional<std::vector<std::string>> shown_;
  std::set<std::string> refused_;
};

int follow(const std::string& socket) {
  const EndSignals signals;
  const auto windows = focus::WindowWatcher::connect();
  if (!windows) return fail("focus", windows.error().message);
  Follower follower(signals, socket);
  if (auto connected = follower.connect(); !connected) return fail("focus", connected.error().message);
  std::optional<pid_t> last;
  auto next_look = Clock::now();
  while (end_asked == 0) {
    const auto process = windows.value()->process_in_front();
    if (!process) return fail("focus", process.error().message);
    // Window managers have other news, too, some of them many times a second.
    if (process.value() != last || Clock::now() >= next_look) {
      const auto told = follower.put_in_front(process.value());
      if (end_asked != 0) break;
      if (!told) return fail("focus", told.error().message);
      last = process.value();
      next_look = Clock::now() + kLookEvery;
    }
    signals.wait(windows.value()->fd(),
                 std::chrono::ceil<std::chrono::milliseconds>(next_look - Clock::now()));
  }
  (void)follower.put_in_front({});  // the daemon does the same when the connection ends
  return 0;
}

}  // namespace

void add_focus(CLI::App& app, Action& action) {
  static std::string socket;
  CLI::App* command = app.add_subcommand(
      "focus", "Give priority to the tenant whose window is in front, on devices with the policy timegraph");
  add_socket_option(*command, socket);
  command->footer(
      "It follows the X server that DISPLAY names until it is interrupted. Tenants whose priority is * in "
      "the "
      "specification\ngo before others of that kind while a window of theirs is in front.");
  command->callback([&action] { action = [] { return follow(socket); }; });
}

}  // namespace fairgv::tools
