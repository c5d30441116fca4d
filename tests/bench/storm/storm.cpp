// fairgv bench storm: one fault after the other, at random, while tenants compute. Clients and workers are
// killed, the daemon is replaced, kernels crash or never end, memory is refused. On a CPU device kernels also
// play their worker's part, leave processes behind, and flood what they print (storm_programs.hpp). A program
// that is not hit must end with right results; two tenants that are never hit must keep their shares; and in
// the end nothing may be left: no process, no descriptor, no mapping, no control group, no byte that is
// charged. The books must be right, too: a program that is killed in the midst of a kernel has paid for it,
// and all tenants together have not paid for more of the devices' time than has passed.
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

#include "tests/bench/storm/storm_programs.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/holdings.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::bench::storm_experiment {
namespace {

using namespace harness;
namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Longer than a driver takes to compile a kernel on its device thread, on a machine that is busy.
constexpr const char* kWatchdog = "hold_limit_s = 2\n";
// Now and then nothing happens for a while: a second after the last fault the shares of those who go on must
// be right again. They are taken from there on.
constexpr std::uint64_t kStepsBetweenRests = 40;
constexpr double kSettling = 1;               // seconds
constexpr double kRest = 3;                   // with that
constexpr const char* kUntilAsked = "86400";  // seconds
constexpr std::chrono::milliseconds kLook{250};
constexpr std::chrono::minutes kPatience{1};
/// For programs that do harm and come to an end. Longer than the watchdog and the look at processors take.
constexpr std::chrono::seconds kLongestHarm{15};
/// How long a kernel is seen to run before its program is killed: until the watchdog is near.
constexpr std::uint64_t kShortestHold = 200, kLongestHold = 1'000;  // milliseconds
/// The least that such a program has paid of that time.
constexpr double kPaidPart = 0.9;
constexpr std::chrono::seconds kUntilPaid{10};
/// Turns are measured at both ends, and processors' time is counted in ticks.
constexpr double kBooksMayBeOff = 0.01;

struct Settings {
  double seconds = 600;
  unsigned tenants = 8;
  std::uint64_t seed = 0;
};

/// A kernel that was seen to run.
struct Kernel {
  Clock::time_point since;
  Clock::time_point kill_at;
  double charged = 0;  // its tenant, by then; seconds
};

struct Slot {
  std::string tenant;
  std::optional<Child> child;
  Kind kind = Kind::compute;
  bool hit = false;                // by a fault of somebody else's making
  bool under_way = false;          // has printed something
  Clock::time_point give_up{};     // a program that does harm is killed then
  std::optional<Kernel> kernel{};  // that is under way, of a program that is to be killed in it
  std::uintmax_t log_before = 0;   // bytes of the daemon's log that are older than the program
};

struct Tally {
  std::map<std::string, std::uint64_t> counts;  // of faults and of programs, by what they were
  std::vector<std::string> complaints;
  std::vector<double>
      shares;  // of the heavier steady tenant over that of the lighter, half of it; for each rest
  std::vector<double> paid;  // of each kernel in which a program was killed, over the time it was seen to run
  double charged = 0;        // all tenants of all devices' time, over the time that passed
  double steady = 0;         // the steady tenants, over what they were entitled to
};

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
  /// The daemon has served since `began`.
  Storm(const Tenancy& tenancy, const Settings& settings, Clock::time_point began)
      : tenancy_(tenancy), settings_(settings), began_(began), random_(settings.seed) {
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
    check_entitlement();
    check_steady(std::move(steady).value());
    check_holdings(before.value());
    check_books();
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
    const auto probe = harness::run(tenancy_.tenant("first", 1, silent(probe_of_the_host())));
    if (!probe) return probe.error();
    if (probe->status != 0 && probe->status != kNotOnTheHost) {
      return Error{fmt::format("rogue does not run: status {}", probe->status)};
    }
    on_the_host_ = probe->status == 0;
    const auto report = look_at(tenancy_);
    if (!report) return report.error();
    daemon_ = report.value()["daemon"]["pid"];
    if (const auto replaced =
            harness::run({{beside("fairgv"), "restart", "--socket", tenancy_.socket()}, {}});
        !replaced || replaced->status != 0) {
      return Error{"the daemon cannot be replaced"};
    }
    return settle([](const Holdings& now) { return now.children == 0 && now.processes == 0; });
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
      auto child = Child::start(tenancy_.tenant(
          fmt::format("steady{}", weight), weight,
          {beside("workloads/computeLoop"), "--iterations", "200", "--seconds", kUntilAsked}));
      if (!child) return child.error();
      steady.push_back(std::move(child).value());
    }
    return steady;
  }

  /// Ends what has ended, and starts the next.
  void look_after(Slot& slot, bool stormy) {
    if (slot.child) {
      slot.under_way = !slot.child->read_lines().empty() || slot.under_way;
      if (!slot.child->ended()) end_in_time(slot);
      if (slot.child && !slot.child->ended()) return;
      if (slot.child) judge(slot);
    }
    const Draw draw = [this](std::uint64_t least, std::uint64_t most) { return this->draw(least, most); };
    slot.child.reset();
    slot.kind = stormy ? draw_kind(draw, on_the_host_) : Kind::compute;
    slot.hit = slot.under_way = false;
    slot.log_before = log_bytes(tenancy_);
    slot.give_up = Clock::now() + kLongestHarm;
    slot.kernel.reset();
    CommandLine command = tenancy_.tenant(slot.tenant, static_cast<std::uint32_t>(draw(1, 3)),
                                          silent(program_of(slot.kind, draw)));
    if (slot.kind == Kind::refused) command.environment.emplace_back("FAIRGV_MEM", "16KiB");
    command.environment.emplace_back("FAIRGV_LOG", "off");  // what is lost on purpose is no news
    auto child = Child::start(command);
    if (child) slot.child.emplace(std::move(child).value());
  }

  /// Kills a program that has done its harm, and judges it.
  void end_in_time(Slot& slot) {
    const Trait& trait = trait_of(slot.kind);
    if (slot.kind == Kind::hold && slot.under_way) return end_in_kernel(slot);
    if (trait.end == End::killed_under_way && slot.under_way) {
      ::kill(slot.child->pid(), SIGKILL);
      return judge(slot);
    }
    if (!trait.harms || slot.kind == Kind::never_end || slot.kind == Kind::crash ||
        Clock::now() < slot.give_up)
      return;
    ++tally_.counts[std::string("of ") + trait.told + ", ended by force"];
    slot.hit = true;
    ::kill(slot.child->pid(), SIGKILL);
    judge(slot);
  }

  /// Kills the program in the midst of its kernel, once that was seen to run for a while.
  void end_in_kernel(Slot& slot) {
    const auto tenant = tenant_now(slot.tenant);
    const bool runs = tenant && tenant.value()["sessions"].size() == 1 &&
                      tenant.value()["sessions"][0]["pid"] == slot.child->pid() &&
                      tenant.value()["sessions"][0]["state"] == "busy";
    const auto now = Clock::now();
    if (!runs) {
      slot.kernel.reset();
      return;
    }
    if (!slot.kernel) {
      slot.kernel = {now, now + std::chrono::milliseconds(draw(kShortestHold, kLongestHold)),
                     charged_seconds(tenant.value())};
      return;
    }
    if (now < slot.kernel->kill_at) return;
    const double held = Seconds(now - slot.kernel->since).count();
    const double before = slot.kernel->charged;
    ::kill(slot.child->pid(), SIGKILL);
    const bool was_hit = slot.hit;
    judge(slot);
    if (!was_hit) check_payment(slot.tenant, before, held);
  }

  /// The tenant's program was killed in a kernel that had run for `held` seconds since it was charged
  /// `before`.
  void check_payment(const std::string& tenant, double before, double held) {
    double paid = 0;
    const auto give_up = Clock::now() + kUntilPaid;
    while (paid < kPaidPart * held && Clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (const auto now = tenant_now(tenant)) paid = charged_seconds(now.value()) - before;
    }
    tally_.paid.push_back(paid / held);
    if (paid >= kPaidPart * held) return;
    complain(
        fmt::format("a program of {} was killed in a kernel that ran for {:.3f} s, and has paid {:.3f} s",
                    tenant, held, paid));
  }

  /// Those that are hit say so, hundreds of times: the same process without standard error.
  std::vector<std::string> silent(std::vector<std::string> program) {
    program.insert(program.begin(), {"/bin/sh", "-c", "exec \"$@\" 2>/dev/null", "sh"});
    return program;
  }

  /// Whether the program ended as it should. Those that were hit may end in any way.
  void judge(Slot& slot) {
    const int status = slot.child->wait();
    slot.child.reset();
    if (slot.hit) {
      ++tally_.counts["programs that were hit"];
      return;
    }
    const Trait& trait = trait_of(slot.kind);
    ++tally_.counts[trait.told];
    if (std::find(trait.statuses.begin(), trait.statuses.end(), status) != trait.statuses.end()) return;
    complain(fmt::format("a program of {} ({}) ended with status {}", slot.tenant, trait.told, status));
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
      if (std::any_of(slots_.begin(), slots_.end(),
                      [](const Slot& slot) { return trait_of(slot.kind).harms; })) {
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
    const auto tenant = tenant_now(slot.tenant);
    if (!tenant || !slot.child || tenant.value()["sessions"].empty()) return false;
    slot.hit = true;
    return ::kill(tenant.value()["sessions"][0]["worker_pid"].get<pid_t>(), SIGKILL) == 0;
  }

  Result<nlohmann::json> tenant_now(const std::string& tenant) {
    const auto report = look_at(tenancy_);
    if (!report) return report.error();
    return tenant_in(report.value(), tenant);
  }

  /// What the steady tenants have been charged so far, and what they were entitled to, in seconds.
  struct Charged {
    double light = 0, heavy = 0;
    double entitled = 0;
  };
  Result<Charged> charged() {
    const auto report = look_at(tenancy_);
    if (!report) return report.error();
    const auto light = tenant_in(report.value(), "steady1");
    const auto heavy = tenant_in(report.value(), "steady2");
    if (!light || !heavy) return Error{"a tenant that nobody has touched is gone"};
    Charged charged{charged_seconds(light.value()), charged_seconds(heavy.value())};
    for (const auto& each : {light.value(), heavy.value()}) {
      for (const auto& device : each["use"]) charged.entitled += device["entitled_ns"].get<double>() / 1e9;
    }
    return charged;
  }

  /// No fault any more; what runs comes to its end.
  void calm_down() {
    for (Slot& slot : slots_) {
      if (!slot.child) continue;
      (void)slot.child->read_lines();
      if (trait_of(slot.kind).harms && slot.kind != Kind::crash) {
        slot.hit = true;  // perhaps nobody waits for the device any more, and then nobody would end it
        ::kill(slot.child->pid(), SIGKILL);
      }
      judge(slot);
    }
  }

  void check_steady(std::vector<Child> steady) {
    for (Child& child : steady) {
      ::kill(child.pid(), SIGTERM);
      const auto result = result_of({{beside("workloads/computeLoop")}, {}}, finish(std::move(child)));
      if (!result) complain("a tenant that nobody has touched: " + result.error().message);
    }
  }

  void check_entitlement() {
    const auto all = charged();
    if (!all) return complain(all.error().message);
    tally_.steady = (all->light + all->heavy) / all->entitled;
  }

  /// By the usage store, which also has the tenants that the daemon has forgotten.
  void check_books() {
    const auto usage = harness::run(
        {{beside("fairgv"), "usage", "--since", "1d", "--json", "--socket", tenancy_.socket()}, {}});
    const double passed = Seconds(Clock::now() - began_).count();
    std::string text;
    if (usage && usage->status == 0) {
      for (const std::string& line : usage->lines) text += line;
    }
    const auto answer = nlohmann::json::parse(text, nullptr, false);
    const auto report = look_at(tenancy_);
    if (!answer.is_object() || !report) return complain("the daemon does not tell what was used");
    double charged = 0;
    for (const auto& row : answer["rows"]) charged += row["device_seconds"].get<double>();
    tally_.charged = charged / passed / static_cast<double>(report.value()["devices"].size());
    if (tally_.charged <= 1 + kBooksMayBeOff) return;
    complain(fmt::format("all tenants together were charged {:.1f} s in {:.1f} s", charged, passed));
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
  const Clock::time_point began_;
  bool on_the_host_ = false;  // kernels are code of the worker's process
  std::mt19937_64 random_;
  std::vector<Slot> slots_;
  Tally tally_;
  pid_t daemon_ = 0;
};

/// The daemon's configuration for it.
std::string usage_store(const std::string& file) {
  return "[usage]\nstore = \"" + file + "\"\n";
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  fmt::print("A storm of faults over {} tenants for {} s, --seed {}\n\n", settings.tenants, settings.seconds,
             settings.seed);
  std::fflush(stdout);
  const TemporaryFolder folder;  // outlives the daemon
  const auto began = Clock::now();
  auto tenancy = Tenancy::start(placement, holdings_mark(), kWatchdog + usage_store(folder / "usage.db"));
  if (!tenancy) return tenancy.error();
  auto run = Storm(tenancy.value(), settings, began).run();
  if (!run) return run.error();
  const Tally& tally = run.value();
  Findings found{"what,number", {}};
  const auto row = [&](const std::string& what, const std::string& number) {
    fmt::print("{:<66}{:>10}\n", what, number);
    found.rows.push_back(csv_cell(what) + ',' + number);
  };
  for (const auto& [what, count] : tally.counts) row(what, std::to_string(count));
  row("sessions that the watchdog ended",
      std::to_string(log_lines(tenancy.value(), "held a device for more than").size()));
  if (!tally.shares.empty()) {
    row("share of weight 2 over that of weight 1, over 2", fmt::format("{:.3f}", median(tally.shares)));
    row("the same, the least", fmt::format("{:.3f}", smallest(tally.shares)));
    row("the same, the most", fmt::format("{:.3f}", largest(tally.shares)));
  }
  row("what the steady tenants had of what was charged, over their share",
      fmt::format("{:.3f}", tally.steady / tally.charged));
  if (!tally.paid.empty()) {
    row("paid for kernels killed in their midst, the least", fmt::format("{:.3f}", smallest(tally.paid)));
  }
  row("device time that was charged, of what passed", fmt::format("{:.3f}", tally.charged));
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
