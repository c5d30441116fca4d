#include "tools/fairgv/top/live.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "runtime/base/handle.hpp"
#include "tools/fairgv/top/link.hpp"
#include "tools/fairgv/top/terminal.hpp"

namespace fairgv::tools::top {
namespace {

using Clock = std::chrono::steady_clock;

/// Blocked in this process from now on: they are read in the loop, between two drawings, so that the terminal
/// is given back whole. SIGTSTP stays with curses, which restores the terminal while we are stopped.
Result<UniqueFd> take_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT}) ::sigaddset(&set, signal);
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return system_error("cannot block signals");
  UniqueFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return system_error("cannot take signals");
  return fd;
}

int milliseconds_until(Clock::time_point time, Clock::time_point now) {
  if (time <= now) return 0;
  // A link that waits for nothing has no deadline.
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      std::min<Clock::duration>(time - now, std::chrono::minutes(10)));
  return static_cast<int>(left.count());
}

class Live {
 public:
  Live(const std::string& socket_path, Controller controller, Terminal terminal, UniqueFd signals)
      : controller_(std::move(controller)),
        terminal_(std::move(terminal)),
        signals_(std::move(signals)),
        link_(socket_path,
              {[this](control::Report report) { controller_.arrived(std::move(report)); },
               [this](const Change& change, const Result<void>& outcome) { on_answer(change, outcome); },
               [this](const std::string& why) { controller_.lost(why); }}) {}

  Result<void> run() {
    while (!quit_) {
      const auto now = Clock::now();
      link_.tick(now);
      look_if_due(now);
      terminal_.draw(render(controller_.screen(), terminal_.size(), terminal_.glyphs()));
      if (auto waited = wait(now); !waited) return waited;
    }
    return {};
  }

 private:
  void look_if_due(Clock::time_point now) {
    if (now < next_look_) return;
    next_look_ = now + controller_.interval();
    if (!controller_.paused()) link_.ask_report(now);
  }

  Result<void> wait(Clock::time_point now) {
    std::array<pollfd, 3> waits{
        {{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}, {link_.fd(), POLLIN, 0}}};
    const int timeout = milliseconds_until(std::min(next_look_, link_.deadline()), now);
    if (::poll(waits.data(), waits.size(), timeout) < 0 && errno != EINTR) {
      return system_error("cannot wait for keys");
    }
    if (waits[1].revents != 0) take_signal();
    if (waits[2].revents != 0) link_.readable(Clock::now());
    if ((waits[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return Error{"the terminal is gone"};
    // Also when poll() was interrupted: curses may hold a key that it has read.
    take_keys();
    return {};
  }

  void take_signal() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      if (info.ssi_signo == SIGWINCH || info.ssi_signo == SIGCONT) {
        terminal_.resized();
      } else {
        quit_ = true;
      }
    }
  }

  void take_keys() {
    while (const auto key = terminal_.key()) {
      const Step step = controller_.press(*key);
      quit_ = quit_ || step.quit;
      if (step.change) link_.ask(*step.change, Clock::now());
      if (step.look) next_look_ = {};
    }
  }

  void on_answer(const Change& change, const Result<void>& outcome) {
    controller_.answered(change, outcome);
    next_look_ = {};  // show the outcome
  }

  Controller controller_;
  Terminal terminal_;
  UniqueFd signals_;
  DaemonLink link_;
  Clock::time_point next_look_{};
  bool quit_ = false;
};

}  // namespace

Result<void> run_live(const std::string& socket_path, Controller controller) {
  FAIRGV_TRY(signals, take_signals());
  FAIRGV_TRY(terminal, Terminal::begin());
  return Live(socket_path, std::move(controller), std::move(terminal).value(), std::move(signals).value())
      .run();
}

}  // namespace fairgv::tools::top
