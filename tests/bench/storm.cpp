// fairgv bench storm: one fault after the other, at random, while tenants compute. Clients and workers are
// killed, the daemon is replaced, kernels crash or never end, memory is refused. Whoever is not hit himself
// must end with right results; two tenants that are never hit must keep their shares; and in the end nothing
// may be left: no process, no descriptor, no mapping, no byte that is charged.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "tests/bench/support/company.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/progress_line.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::storm_experiment {
namespace {

using namespace harness;
namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Longer than a driver takes to compile a kernel on its device thread, on a machine that is busy.
constexpr const char* kWatchdog = "hold_limit_s = 2";
// Now and then nothing happens for a while: a second after the last fault the shares of those who go on must
// be right again. They are taken from there on.
constexpr std::uint64_t kStepsBetweenRests = 40;
constexpr double kSettling = 1;              // seconds
constexpr double kRest = 3;                  // with that
constexpr double kSteadyLonger = 4 * kRest;  // a rest may begin at the very end, among programs that do harm
constexpr std::chrono::milliseconds kLook{250};
constexpr std::chrono::minutes kPatience{1};

struct Settings {
  double seconds = 600;
  unsigned tenants = 8;
  std::uint64_t seed = 0;
};

/// What a tenant's program is going to do.
enum class Kind { compute, crash, never_end, refused };

struct Slot {
  std::string tenant;
  std::optional<Child> child;
  Kind kind = Kind::compute;
  bool hit = false;               // by a fault of somebody else's making
  std::uintmax_t log_before = 0;  // bytes of the daemon's log that are older than the program
};

struct Tally {
  std::map<std::string, std::uint64_t> counts;  // of faults and of programs, by what they were
  std::vector<std::string> complaints;
  std::vector<double>
      shares;  // of the heavier steady tenant over that of the lighter, half of it; for each rest
};

std::size_t entries(const fs::path& folder) {
  std::error_code ignored;
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder, ignored), fs::directory_iterator()));
}

std::size_t memory_files(pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("memfd:") != std::string::npos) ++count;
  return count;
}

std::vector<pid_t> children_of(pid_t process) {
  std::ifstream list(fmt::format("/proc/{0}/task/{0}/children", process));
  std::vector<pid_t> children;
  for (pid_t child = 0; list >> child;) children.push_back(child);
  return children;
}

/// What a daemon without programs holds.
struct Holdings {
  std::size_t descriptors = 0, memory_files = 0, children = 0, shared_memory = 0;

  static Holdings of(pid_t daemon) {
    return {entries(fmt::format("/proc/{}/fd", daemon)), storm_experiment::memory_files(daemon),
            children_of(daemon).size(), entries("/dev/shm")};
  }
  bool operator==(const Holdings&) const = default;
};

std::string shown(const Holdings& holdings) {
  return fmt::format("{} descriptors, {} shared mappings, {} workers, {} files in /dev/shm",
                     holdings.descriptors, holdings.memory_files, holdings.children, holdings.shared_memory);
}

fs::path log_of(const Tenancy& tenancy) {
  return fs::path(tenancy.socket()).replace_extension("log");
}

std::uintmax_t log_bytes(const Tenancy& tenancy) {
  std::error_code none_yet;
  const std::uintmax_t bytes = fs::file_size(log_of(tenancy), none_yet);
  return none_yet ? 0 : bytes;
}

/// The daemon's lines with `what` in them, those before `from` left out.
std::vector<std::string> log_lines(const Tenancy& tenancy, const std::string& what, std::uintmax_t from = 0) {
  std::ifstream log(log_of(tenancy));
  log.seekg(static_cast<std::streamoff>(from));
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) {
    if (line.find(what) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

class Storm {
 public:
  Storm(const Tenancy& tenancy, const Settings& settings)
      : tenancy_(tenancy), settings_(settings), random_(settings.seed) {
    for (const std::string& tenant : numbered("tenant", settings.tenants - 2)) slots_.push_back({tenant, {}});
  }

  Result<Tally> run() {
    auto before = idle_daemon();
    if (!before) return before.error();
    auto steady = start_steady();
    if (!steady) return steady.error();
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(settings_.seconds));
    for (std::uint64_t step = 1; Clock::now() < end; ++step) {
      for (Slot& slot : slots_) look_after(slot, true);
      raise_a_fault();
      std::this_thread::sleep_for(std::chrono::milliseconds(draw(20, 300)));
      if (step % kStepsBetweenRests != 0) continue;
      if (auto rested = rest(); !rested) return rested.error();
    }
    calm_down();
    check_steady(std::move(steady).value());
    check_holdings(before.value());
    return std::move(tally_);
  }

 private:
  std::uint64_t draw(std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(random_);
  }

  void complain(const std::string& what) { tally_.complaints.push_back(what); }

  /// The daemon's holdings when no program runs, once it has had one and has been replaced.
  Result<Holdings> idle_daemon() {
    const auto once =
        run_measured(tenancy_.tenant("first", 1, {beside("workloads/matrixMul"), "--repetitions", "1"}));
    if (!once) return once.error();
    const auto report = look_at(tenancy_);
    if (!report) return report.error();
    daemon_ = report.value()["daemon"]["pid"];
    if (const auto replaced =
            harness::run({{beside("fairgv"), "restart", "--socket", tenancy_.socket()}, {}});
        !replaced || replaced->status != 0) {
      return Error{"the daemon cannot be replaced"};
    }
    return settle([](const Holdings& now) { return now.children == 0; });
  }

  /// Waits until the daemon's holdings are so; what they are then.
  Result<Holdings> settle(const std::function<bool(const Holdings&)>& so) {
    const auto give_up = Clock::now() + kPatience;
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const Holdings now = Holdings::of(daemon_);
      if (so(now)) return now;
      if (Clock::now() > give_up) return Error{shown(now)};
    }
  }

  /// Two tenants that nobody touches, the second of twice the weight.
  Result<std::vector<Child>> start_steady() {
    std::vector<Child> steady;
    for (const std::uint32_t weight : {1U, 2U}) {
      auto child =
          Child::start(tenancy_.tenant(fmt::format("steady{}", weight), weight,
                                       {beside("workloads/computeLoop"), "--iterations", "200", "--seconds",
                                        fmt::format("{}", settings_.seconds + kSteadyLonger)}));
      if (!child) return child.error();
      steady.push_back(std::move(child).value());
    }
    return steady;
  }

  /// Ends what has ended, and starts the next.
  void look_after(Slot& slot, bool stormy) {
    if (slot.child) {
      (void)slot.child->read_lines();
      if (!slot.child->ended()) return;
      judge(slot);
    }
    const std::uint64_t dice = stormy ? draw(0, 19) : 19;
    slot.kind = dice == 0   ? Kind::crash
                : dice == 1 ? Kind::never_end
                : dice <= 3 ? Kind::refused
                            : Kind::compute;
    slot.hit = false;
    slot.log_before = log_bytes(tenancy_);
    CommandLine command =
        tenancy_.tenant(slot.tenant, static_cast<std::uint32_t>(draw(1, 3)), silent(program_of(slot.kind)));
    if (slot.kind == Kind::refused) command.environment.emplace_back("FAIRGV_MEM", "16KiB");
    command.environment.emplace_back("FAIRGV_LOG", "off");  // what is lost on purpose is no news
    auto child = Child::start(command);
    if (child) slot.child.emplace(std::move(child).value());
  }

  /// Those that are hit say so, hundreds of times: the same process without standard error.
  std::vector<std::string> silent(std::vector<std::string> program) {
    program.insert(program.begin(), {"/bin/sh", "-c", "exec \"$@\" 2>/dev/null", "sh"});
    return program;
  }

  std::vector<std::string> program_of(Kind kind) {
    switch (kind) {
      case Kind::crash:
        return {beside("opencl_loss"), "fault"};
      case Kind::never_end:
        return {beside("opencl_loss"), "never-ends"};
      case Kind::refused:
        return {beside("workloads/matrixMul"), "--repetitions", "1"};
      case Kind::compute:
        break;
    }
    const char* const workloads[] = {"matrixMul", "hotspot", "scan", "BlackScholes", "srad"};
    return {beside(std::string("workloads/") + workloads[draw(0, 4)]), "--seconds",
            fmt::format("0.{}", draw(1, 9))};
  }

  /// Whether the program ended as it should. Those that were hit may end in any way.
  void judge(Slot& slot) {
    const int status = slot.child->wait();
    slot.child.reset();
    if (slot.hit) {
      ++tally_.counts["programs that were hit"];
      return;
    }
    const bool right = slot.kind == Kind::refused ? status == 1 : status == 0;
    const char* const what = slot.kind == Kind::compute   ? "programs that computed"
                             : slot.kind == Kind::refused ? "programs whose memory was refused"
                             : slot.kind == Kind::crash
                                 ? "programs whose kernel crashed, and that went on"
                                 : "programs whose kernel never ended, and that went on";
    ++tally_.counts[what];
    if (right) return;
    complain(fmt::format("a program of {} ({}) ended with status {}", slot.tenant, what, status));
    // Why, as the daemon has it.
    for (const std::string& line : log_lines(tenancy_, "tenant " + slot.tenant, slot.log_before)) {
      tally_.complaints.back() += "\n    " + line;
    }
  }

  void raise_a_fault() {
    Slot& slot = slots_[draw(0, slots_.size() - 1)];
    switch (draw(0, 4)) {
      case 0:
        if (!slot.child) return;
        slot.hit = true;
        ::kill(slot.child->pid(), SIGKILL);
        ++tally_.counts["clients killed"];
        break;
      case 1:
        if (!kill_worker_of(slot)) return;
        ++tally_.counts["workers killed"];
        break;
      case 2:
        ::kill(daemon_, SIGUSR2);
        ++tally_.counts["daemons replaced"];
        break;
      default:
        return;
    }
  }

  /// Until nobody has done harm for a while: those that are about to have done it, or come to their end.
  Result<void> rest() {
    auto quiet_since = Clock::now();
    std::optional<Charged> settled;
    while (Clock::now() - quiet_since < Seconds(kRest)) {
      for (Slot& slot : slots_) look_after(slot, false);
      std::this_thread::sleep_for(kLook);
      if (std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
            return slot.kind == Kind::crash || slot.kind == Kind::never_end;
          })) {
        quiet_since = Clock::now();
        settled.reset();
      } else if (!settled && Clock::now() - quiet_since >= Seconds(kSettling)) {
        const auto now = charged();
        if (!now) return now.error();
        settled = now.value();
      }
    }
    const auto end = charged();
    if (!end) return end.error();
    if (settled && end->light > settled->light) {
      tally_.shares.push_back((end->heavy - settled->heavy) / (end->light - settled->light) / 2);
    }
    return {};
  }

  bool kill_worker_of(Slot& slot) {
    const auto report = look_at(tenancy_);
    if (!report || !slot.child) return false;
    const auto tenant = tenant_in(report.value(), slot.tenant);
    if (!tenant || tenant.value()["sessions"].empty()) return false;
    slot.hit = true;
    return ::kill(tenant.value()["sessions"][0]["worker_pid"].get<pid_t>(), SIGKILL) == 0;
  }

  /// What the steady tenants have been charged so far, in seconds.
  struct Charged {
    double light = 0, heavy = 0;
  };
  Result<Charged> charged() {
    const auto report = look_at(tenancy_);
    if (!report) return report.error();
    const auto light = tenant_in(report.value(), "steady1");
    const auto heavy = tenant_in(report.value(), "steady2");
    if (!light || !heavy) return Error{"a tenant that nobody has touched is gone"};
    return Charged{charged_seconds(light.value()), charged_seconds(heavy.value())};
  }

  /// No fault any more; what runs comes to its end.
  void calm_down() {
    for (Slot& slot : slots_) {
      if (!slot.child) continue;
      (void)slot.child->read_lines();
      if (slot.kind == Kind::never_end) {
        slot.hit = true;  // perhaps nobody waits for the device any more, and then nobody would kill it
        ::kill(slot.child->pid(), SIGKILL);
      }
      judge(slot);
    }
  }

  void check_steady(std::vector<Child> steady) {
    for (Child& child : steady) {
      const auto result = result_of({{beside("workloads/computeLoop")}, {}}, finish(std::move(child)));
      if (!result) complain("a tenant that nobody has touched: " + result.error().message);
    }
  }

  void check_holdings(const Holdings& before) {
    if (const auto after = settle([&](const Holdings& now) { return now == before; }); !after) {
      complain(fmt::format("something is left: {} before, {} after", shown(before), after.error().message));
    }
    const auto report = look_at(tenancy_);
    if (!report) return complain(report.error().message);
    for (const auto& tenant : report.value()["tenants"]) {
      for (const auto& used : tenant.value("memory_used", nlohmann::json::array())) {
        if (used != 0)
          complain(fmt::format("{} is still charged {} bytes", tenant["tenant"].dump(), used.dump()));
      }
    }
  }

  const Tenancy& tenancy_;
  const Settings settings_;
  std::mt19937_64 random_;
  std::vector<Slot> slots_;
  Tally tally_;
  pid_t daemon_ = 0;
};

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  fmt::print("A storm of faults over {} tenants for {} s, --seed {}\n\n", settings.tenants, settings.seconds,
             settings.seed);
  std::fflush(stdout);
  auto tenancy = Tenancy::start(placement, {}, kWatchdog);
  if (!tenancy) return tenancy.error();
  auto run = Storm(tenancy.value(), settings).run();
  if (!run) return run.error();
  const Tally& tally = run.value();
  Findings found{"what,number", {}};
  const auto row = [&](const std::string& what, const std::string& number) {
    fmt::print("{:<52}{:>10}\n", what, number);
    found.rows.push_back(what + ',' + number);
  };
  for (const auto& [what, count] : tally.counts) row(what, std::to_string(count));
  row("sessions that the watchdog ended",
      std::to_string(log_lines(tenancy.value(), "held a device for more than").size()));
  if (!tally.shares.empty()) {
    row("share of weight 2 over that of weight 1, over 2", fmt::format("{:.3f}", median(tally.shares)));
    row("the same, the least", fmt::format("{:.3f}", smallest(tally.shares)));
    row("the same, the most", fmt::format("{:.3f}", largest(tally.shares)));
  }
  row("complaints", std::to_string(tally.complaints.size()));
  for (const std::string& complaint : tally.complaints) fmt::print("  {}\n", complaint);
  if (!tally.complaints.empty()) return Error{"the storm has done harm: " + tally.complaints.front()};
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("storm", "One fault after the other while tenants compute, and what is left of it");
  Settings settings;
  settings.seed = std::random_device{}();
  experiment.setting("--seconds", settings.seconds, 10, "How long")->check(CLI::Range(2.0, 86'400.0));
  experiment.options()
      .add_option("--tenants", settings.tenants, "Of which two are never hit")
      ->check(CLI::Range(3, 64));
  experiment.options().add_option("--seed", settings.seed,
                                  "Of the faults; another one each time unless given");
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"storm", run};

}  // namespace
}  // namespace fairgv::bench::storm_experiment
