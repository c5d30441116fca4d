#include "tests/bench/storm/storm_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "tests/bench/storm/storm_programs.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/holdings.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench::storm_experiment {
namespace {

using namespace harness;

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Now and then nothing happens for a while: a second after the last fault the shares of the tenants that go
// on must be right again. Shares are measured from there on.
constexpr std::uint64_t kStepsBetweenRests = 40;
constexpr double kSettling = 1;               // seconds
constexpr double kRest = 3;                   // with that
constexpr const char* kUntilAsked = "86400";  // seconds
constexpr std::chrono::milliseconds kLook{250};
/// For programs that do harm and come to an end. Longer than the watchdog and the look at processors take.
constexpr std::chrono::seconds kLongestHarm{15};
/// How long a kernel is seen to run before its program is killed: until the watchdog is near.
constexpr std::uint64_t kShortestHold = 200, kLongestHold = 1'000;  // milliseconds
/// The least that such a program has paid of that time.
constexpr double kPaidPart = 0.9;
constexpr std::chrono::seconds kUntilPaid{10};
/// Turns are measured at both ends, and processors' time is counted in ticks.
constexpr double kBooksMayBeOff = 0.01;

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

class Storm {
 public:
  Storm(const Tenancy& tenancy, StormDaemon& daemon, const Settings& settings)
      : tenancy_(tenancy), daemon_(daemon), settings_(settings), random_(settings.seed) {
    for (const std::string& tenant : numbered("tenant", settings.tenants - 2)) slots_.push_back({tenant, {}});
  }

  Result<Tally> run() {
    FAIRGV_TRY(before, idle_daemon());
    FAIRGV_TRY(steady, start_steady());
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(settings_.seconds));
    for (std::uint64_t step = 1; Clock::now() < end; ++step) {
      for (Slot& slot : slots_) look_after(slot, true);
      raise_a_fault();
      std::this_thread::sleep_for(std::chrono::milliseconds(draw(20, 300)));
      if (step % kStepsBetweenRests != 0) continue;
      FAIRGV_CHECK(rest());
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

  /// The daemon's holdings when no program runs, after it has had a program and has been replaced.
  Result<Holdings> idle_daemon() {
    FAIRGV_TRY(once, run_measured(
                         tenancy_.tenant("first", 1, {beside("workloads/matrixMul"), "--repetitions", "1"})));
    FAIRGV_TRY(probe, harness::run(tenancy_.tenant("first", 1, silent(probe_of_the_host()))));
    if (probe->status != 0 && probe->status != kNotOnTheHost) {
      return Error{fmt::format("rogue does not run: status {}", probe->status)};
    }
    on_the_host_ = probe->status == 0;
    return daemon_.replaced_and_idle();
  }

  /// Two tenants that no fault hits, the second of twice the weight.
  Result<std::vector<Child>> start_steady() {
    std::vector<Child> steady;
    for (const std::uint32_t weight : {1U, 2U}) {
      FAIRGV_TRY(child, Child::start(tenancy_.tenant(fmt::format("steady{}", weight), weight,
                                                     {beside("workloads/computeLoop"), "--iterations", "200",
                                                      "--seconds", kUntilAsked})));
      steady.push_back(std::move(child).value());
    }
    return steady;
  }

  /// Reaps a program that has ended, and starts the next.
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
    slot.log_before = daemon_.log_bytes();
    slot.give_up = Clock::now() + kLongestHarm;
    slot.kernel.reset();
    CommandLine command = tenancy_.tenant(slot.tenant, static_cast<std::uint32_t>(draw(1, 3)),
                                          silent(program_of(slot.kind, draw)));
    if (slot.kind == Kind::refused) command.environment.emplace_back("FAIRGV_MEM", "16KiB");
    command.environment.emplace_back("FAIRGV_LOG", "off");  // intended losses are no news
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
    const auto tenant = daemon_.tenant(slot.tenant);
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
      if (const auto now = daemon_.tenant(tenant)) paid = charged_seconds(now.value()) - before;
    }
    tally_.paid.push_back(paid / held);
    if (paid >= kPaidPart * held) return;
    complain(
        fmt::format("a program of {} was killed in a kernel that ran for {:.3f} s, and has paid {:.3f} s",
                    tenant, held, paid));
  }

  /// Programs that are hit say so, hundreds of times: this is the same command without standard error.
  std::vector<std::string> silent(std::vector<std::string> program) {
    program.insert(program.begin(), {"/bin/sh", "-c", "exec \"$@\" 2>/dev/null", "sh"});
    return program;
  }

  /// Checks that the program ended as it should. A program that was hit may end in any way.
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
    for (const std::string& line : daemon_.log_lines("tenant " + slot.tenant, slot.log_before)) {
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
        daemon_.replace();
        ++tally_.counts["daemons replaced"];
        break;
      default:
        return;
    }
  }

  /// Waits until no program has done harm for a while: the remaining ones do theirs, or come to their end.
  Result<void> rest() {
    auto quiet_since = Clock::now();
    std::optional<StormDaemon::Charged> settled;
    while (Clock::now() - quiet_since < Seconds(kRest)) {
      for (Slot& slot : slots_) look_after(slot, false);
      std::this_thread::sleep_for(kLook);
      if (std::any_of(slots_.begin(), slots_.end(),
                      [](const Slot& slot) { return trait_of(slot.kind).harms; })) {
        quiet_since = Clock::now();
        settled.reset();
      } else if (!settled && Clock::now() - quiet_since >= Seconds(kSettling)) {
        FAIRGV_TRY(now, daemon_.charged_to_steady());
        settled = now.value();
      }
    }
    FAIRGV_TRY(end, daemon_.charged_to_steady());
    if (settled && end->light > settled->light) {
      tally_.shares.push_back((end->heavy - settled->heavy) / (end->light - settled->light) / 2);
    }
    return {};
  }

  bool kill_worker_of(Slot& slot) {
    const auto tenant = daemon_.tenant(slot.tenant);
    if (!tenant || !slot.child || tenant.value()["sessions"].empty()) return false;
    slot.hit = true;
    return ::kill(tenant.value()["sessions"][0]["worker_pid"].get<pid_t>(), SIGKILL) == 0;
  }

  /// No faults any more; running programs come to their end.
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
    const auto all = daemon_.charged_to_steady();
    if (!all) return complain(all.error().message);
    tally_.steady = (all->light + all->heavy) / all->entitled;
  }

  void check_books() {
    const auto books = daemon_.books();
    if (!books) return complain(books.error().message);
    tally_.charged = books->part;
    if (tally_.charged <= 1 + kBooksMayBeOff) return;
    complain(
        fmt::format("all tenants together were charged {:.1f} s in {:.1f} s", books->charged, books->passed));
  }

  void check_holdings(const Holdings& before) {
    if (const auto after = daemon_.settle([&](const Holdings& now) { return now == before; }); !after) {
      complain(fmt::format("something is left: {} before, {} after", shown(before), after.error().message));
    }
    const auto charged = daemon_.memory_that_is_charged();
    if (!charged) return complain(charged.error().message);
    for (const std::string& sentence : charged.value()) complain(sentence);
  }

  const Tenancy& tenancy_;
  StormDaemon& daemon_;
  const Settings settings_;
  bool on_the_host_ = false;  // kernels are code of the worker's process
  std::mt19937_64 random_;
  std::vector<Slot> slots_;
  Tally tally_;
};

}  // namespace

Result<Tally> storm(const Tenancy& tenancy, StormDaemon& daemon, const Settings& settings) {
  return Storm(tenancy, daemon, settings).run();
}

}  // namespace fairgv::bench::storm_experiment
