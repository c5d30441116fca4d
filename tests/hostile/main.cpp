// hostile: a tenant that scribbles random bytes over its whole segment while it computes, again and again. On
// a CPU device, some of its sessions have kernels that play their worker's part instead: they take turns and
// report nothing, read knocks away, or are killed in the midst of a kernel (deeds.hpp). As a tenant's
// program: `fairgv run -- hostile --rounds 200`. Prints its counts so far as a line of JSON a second, and at
// the end; ends after so many rounds, or at SIGTERM. With --phase-seconds it behaves and scribbles in turns,
// and says so when each phase begins. Scribbling ends sessions, and to begin one takes processor time: a
// phase that behaves replays the sessions of one that scribbled, each as long as it was, so that the phases
// differ only in the deeds of hostile sessions.
#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <iterator>
#include <new>
#include <random>
#include <vector>

#include "runtime/base/handle.hpp"
#include "tests/hostile/session.hpp"

namespace fairgv::hostile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kReportEvery{1};
/// A driver takes its time to load; a session that has done nothing for so long later has damaged itself.
constexpr std::chrono::seconds kPatienceAtFirst{60};
constexpr std::chrono::milliseconds kPatience{500};
constexpr std::chrono::milliseconds kLook{50};
constexpr int kMostFailures = 20;

/// Sessions that play their worker's part: one session in so many commits each of these deeds. `hold` is
/// killed in its midst.
struct DeedPlan {
  const char* name;
  std::chrono::milliseconds takes;  // each kernel
};
constexpr DeedPlan kDeeds[] = {{"forge", std::chrono::milliseconds(100)},
                               {"freeze", std::chrono::milliseconds(100)},
                               {"hold", std::chrono::milliseconds(1'000)}};
constexpr std::uint64_t kDeedsOf = 9;
/// How long such a session lives: less than it may be silent for.
constexpr std::chrono::milliseconds kShortestDeed{50}, kDeedsVary{200};

struct Arguments {
  std::uint64_t rounds = 10'000;  // 0: until SIGTERM
  std::uint64_t seed = 1;
  std::uint32_t iterations = 2'000;
  bool behave = false;
  std::optional<double> phase_seconds;
};

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int /*signal*/) {
  stop_requested = 1;
}

/// Shared by all sessions' processes.
Progress& shared_progress() {
  void* const page =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) std::abort();
  return *new (page) Progress;
}

/// The lives of a phase's sessions, without a session that the phase's end cut off.
using Lives = std::vector<std::chrono::nanoseconds>;

class Supervisor {
 public:
  explicit Supervisor(const Arguments& arguments) : arguments_(arguments), progress_(shared_progress()) {}

  int run() {
    while (!over()) {
      begin_phase();
      if (!run_one()) return 1;
      if (failures_ == kMostFailures) {
        fmt::print(stderr, "hostile: no session begins any more\n");
        return 1;
      }
    }
    report();
    return 0;
  }

 private:
  bool over() const {
    const bool enough = arguments_.rounds != 0 && progress_.rounds.load() >= arguments_.rounds;
    return enough || stop_requested != 0;
  }

  /// The order within a pair of phases changes from pair to pair, so that a slow drift favours neither.
  void begin_phase() {
    if (!arguments_.phase_seconds || Clock::now() < phase_ends_) return;
    const bool first_of_pair = phase_ % 2 == 0;
    const bool behaved_first = phase_ / 2 % 2 == 0;
    behaves_ = first_of_pair == behaved_first;
    fmt::print("{{\"phase\":{},\"behaves\":{},\"rounds\":{},\"rogues\":{}}}\n", phase_, behaves_,
               progress_.rounds.load(), rogues_);
    std::fflush(stdout);
    if (!behaves_) {
      scribbled_.emplace_back();
    } else if (!scribbled_.empty()) {
      replayed_ = std::move(scribbled_.front());
      scribbled_.pop_front();
    }
    behaved_ = 0;
    ++phase_;
    phase_ends_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(*arguments_.phase_seconds));
  }

  void report() {
    fmt::print("{{\"rounds\":{},\"sessions\":{},\"launches\":{}}}\n", progress_.rounds.load(), sessions_,
               progress_.launches.load());
    std::fflush(stdout);
    reported_ = Clock::now();
  }

  bool run_one() {
    const SessionSettings settings = next_session();
    const std::uint64_t launches_before = progress_.launches.load();
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return false;
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      ::signal(SIGTERM, SIG_DFL);
      ::_exit(run_session(settings, progress_));
    }
    ++sessions_;
    if (settings.deed != nullptr) ++rogues_;
    const bool cut_off = watch(pid);
    const std::chrono::nanoseconds began(progress_.at_work_since_ns.exchange(0));
    if (behaves_) {
      ++behaved_;
    } else if (!cut_off && !scribbled_.empty()) {
      // A session that never was at work is replayed as a session that ends at once.
      const auto now = Clock::now().time_since_epoch();
      scribbled_.back().push_back(now - (began == began.zero() ? now : began));
    }
    failures_ = progress_.launches.load() == launches_before ? failures_ + 1 : 0;
    return true;
  }

  /// A session with a deed scribbles where it cannot do it.
  SessionSettings next_session() const {
    SessionSettings settings{arguments_.iterations};
    if (behaves_) {
      if (behaved_ < replayed_.size()) settings.life = replayed_[behaved_];
      return settings;
    }
    settings.scribble_by = arguments_.seed + sessions_;
    std::mt19937_64 random(*settings.scribble_by);
    const std::uint64_t dice = random() % kDeedsOf;
    if (dice >= std::size(kDeeds)) return settings;
    settings.deed = find_deed(kDeeds[dice].name);
    settings.deed_takes = kDeeds[dice].takes;
    settings.life = kShortestDeed + std::chrono::milliseconds(random() % kDeedsVary.count());
    return settings;
  }

  /// Until it has ended, by itself or because it hangs. Whether it was cut off: by the end of its phase.
  bool watch(pid_t pid) {
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    pollfd ended{pidfd.get(), POLLIN, 0};
    std::uint64_t seen = progress_.launches.load();
    Clock::time_point give_up = Clock::now() + kPatienceAtFirst;
    bool cut_off = false;
    while (::poll(&ended, 1, static_cast<int>(kLook.count())) <= 0) {
      if (const std::uint64_t now = progress_.launches.load(); now != seen) {
        seen = now;
        give_up = Clock::now() + kPatience;
      }
      const auto now = Clock::now();
      cut_off = cut_off || over() || now > phase_ends_;
      if (cut_off || now > give_up) ::kill(pid, SIGKILL);
      if (Clock::now() - reported_ > kReportEvery) report();
    }
    ::waitpid(pid, nullptr, 0);
    return cut_off;
  }

  const Arguments arguments_;
  Progress& progress_;
  std::uint64_t sessions_ = 0;
  std::uint64_t rogues_ = 0;  // of them, those with a deed
  int failures_ = 0;          // of sessions, one after the other
  bool behaves_ = arguments_.behave;
  std::uint64_t phase_ = 0;      // the next one
  std::deque<Lives> scribbled_;  // of the phases that are still to be replayed
  Lives replayed_;               // in this phase; sessions beyond them live until its end
  std::size_t behaved_ = 0;      // sessions of this phase
  Clock::time_point phase_ends_ =
      arguments_.phase_seconds ? Clock::time_point::min() : Clock::time_point::max();
  Clock::time_point reported_ = Clock::now();
};

int run(int argc, char** argv) {
  CLI::App app("a tenant that scribbles over all that it shares, or plays its worker's part", "hostile");
  Arguments arguments;
  app.add_option("--rounds", arguments.rounds, "of scribbling; 0: until SIGTERM");
  app.add_option("--seed", arguments.seed, "of the random bytes");
  app.add_option("--iterations", arguments.iterations, "how long each launch takes");
  app.add_flag("--behave", arguments.behave, "do the same work and scribble nothing, until SIGTERM");
  app.add_option("--phase-seconds", arguments.phase_seconds,
                 "behave and misbehave in turns of so many seconds; a session ends with its phase")
      ->check(CLI::Range(0.1, 3600.0));
  CLI11_PARSE(app, argc, argv);
  // Core dumps of its own crashes are not wanted.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(SIGTERM, &request_stop);
  return Supervisor(arguments).run();
}

}  // namespace
}  // namespace fairgv::hostile

int main(int argc, char** argv) {
  return fairgv::hostile::run(argc, argv);
}
