// fairgv bench share: the main job. Tenants with weights run real programs side by side on one device;
// each program counts its own work, over the same seconds, and the shares that come out are put beside the
// weights.
#include <fmt/core.h>
#include <poll.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "tests/bench/support/api.hpp"
#include "tests/bench/support/load/alternation.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/bench/support/text/share_view.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench::share_experiment {
namespace {

using namespace harness;

struct Settings {
  std::vector<std::uint32_t> weights{1, 2, 3};
  // One program for all, as in section 5.4.1 of the paper: then no tenant's share hangs on another program's
  // baseline.
  std::vector<std::string> programs{"matrixMul"};
  Api api = Api::kOpenCl;
  std::string policy;  // the daemon's default when empty
  double seconds = 12;
  double baseline_seconds = 8;
  unsigned device_cores = 0;
  int kernel_us = 0;  // 0: as long as the programs' own
  std::string json_file;
  Output output;
};

/// Machines have faster and slower seconds: in turns this short every program meets both of them.
constexpr double kTurnSeconds = 0.25;

/// The speed of one program on the driver alone, before the shared window and after it.
struct Alone {
  std::vector<double> throughputs;  // of its turns
  std::string unit;
  double rounds_per_s = 0;
  /// The amount of work that it has chosen for itself. Beside others it would choose another.
  std::vector<std::string> work;
};

using ByProgram = std::map<std::string, Alone>;

/// A program that always has the next batch queued. A program that lets the device rest between its batches
/// shows, beside others, how much they fill its pauses, and by how much less its own API pauses: not its
/// share.
std::vector<std::string> saturating(const std::string& program, const Settings& settings,
                                    const ByProgram& known) {
  std::vector<std::string> command{beside("workloads/" + program), "--sync", "stream"};
  if (const auto alone = known.find(program); alone != known.end()) {
    command.insert(command.end(), alone->second.work.begin(), alone->second.work.end());
  } else if (settings.kernel_us != 0) {
    command.insert(command.end(), {"--kernel-us", std::to_string(settings.kernel_us)});
  }
  return command;
}

/// The options with which a workload repeats the work that it has reported.
std::vector<std::string> same_work(const nlohmann::json& result) {
  std::vector<std::string> options;
  for (const char* const amount : {"size", "iterations", "batch"}) {
    if (!result.contains(amount)) continue;
    options.push_back(fmt::format("--{}", amount));
    options.push_back(std::to_string(result[amount].get<std::uint64_t>()));
  }
  return options;
}

/// Every program alone, in turns; tenants that run the same one share the figure.
Result<void> measure_alone(const std::vector<Tenant>& tenants, const Settings& settings,
                           const Placement& placement, ByProgram& into) {
  std::set<std::string> programs;
  for (const Tenant& tenant : tenants) programs.insert(tenant.program);
  std::vector<CommandLine> commands;
  for (const std::string& program : programs)
    commands.push_back(bare(saturating(program, settings, into), placement));
  const int turns = static_cast<int>(std::ceil(settings.baseline_seconds / kTurnSeconds));
  FAIRGV_TRY(all, run_in_turns(commands, Waits::kAtTheEnd, kTurnSeconds, turns));
  auto each = all.value().begin();
  for (const std::string& program : programs) {
    const nlohmann::json& result = each->result;
    Alone& alone = into[program];
    alone.throughputs.insert(alone.throughputs.end(), each->throughputs.begin(), each->throughputs.end());
    alone.unit = result["unit"];
    alone.rounds_per_s = result["rounds"].get<double>() / result["seconds"].get<double>();
    alone.work = same_work(result);
    ++each;
  }
  return {};
}

/// One tenant's running program and its figures so far.
struct Running {
  explicit Running(Child started) : child(std::move(started)) {}

  Child child;
  double rounds = 0;         // completed
  double elapsed = 0;        // of its window
  double before_rounds = 0;  // at the look before
  double before_elapsed = 0;
  double speed = 0;  // lately, as a fraction of the program's speed alone
  std::string last_line;

  void listen() {
    for (std::string& line : child.read_lines()) {
      const nlohmann::json object = parse_line(line);
      if (object.is_object() && object.value("progress", false)) {
        rounds = object.value("rounds", 0.0);
        elapsed = object.value("elapsed_s", 0.0);
      } else {
        last_line = std::move(line);
      }
    }
  }
};

/// Live shares. Rounds of different programs are not comparable: each is counted in proportion to the rounds
/// per second that its program does alone.
void update_live(std::vector<Tenant>& tenants, std::vector<Running>& running, const ByProgram& alone) {
  double sum = 0;
  for (std::size_t i = 0; i < running.size(); ++i) {
    Running& each = running[i];
    // A window of about a second: short enough to be live, long enough to hold many turns.
    const double time = each.elapsed - each.before_elapsed;
    if (time >= 1) {
      each.speed = (each.rounds - each.before_rounds) / time / alone.at(tenants[i].program).rounds_per_s;
      each.before_rounds = each.rounds;
      each.before_elapsed = each.elapsed;
    }
    sum += each.speed;
  }
  for (std::size_t i = 0; i < running.size(); ++i)
    tenants[i].live_share = sum > 0 ? running[i].speed / sum : 0;
}

Result<void> run_together(std::vector<Tenant>& tenants, const Tenancy& tenancy, const Settings& settings,
                          const ByProgram& alone) {
  // Long enough for every program to start, compile, verify and warm up beside the others.
  const double start = monotonic_seconds() + 6;
  std::vector<Running> running;
  for (const Tenant& tenant : tenants) {
    std::vector<std::string> program = saturating(tenant.program, settings, alone);
    program.insert(program.end(), {"--seconds", fmt::format("{}", settings.seconds), "--start-at",
                                   fmt::format("{:.3f}", start), "--progress-ms", "200"});
    FAIRGV_TRY(child, Child::start(tenancy.tenant(tenant.name, tenant.weight, std::move(program))));
    running.push_back(Running(std::move(child).value()));
  }
  ShareView view;
  const auto somebody_runs = [&] {
    return std::any_of(running.begin(), running.end(),
                       [](const Running& each) { return !each.child.ended(); });
  };
  while (somebody_runs()) {
    std::vector<pollfd> outputs;
    for (const Running& each : running) {
      outputs.push_back({each.child.ended() ? -1 : each.child.output(), POLLIN, 0});
    }
    ::poll(outputs.data(), outputs.size(), 1'000);
    for (Running& each : running) each.listen();
    update_live(tenants, running, alone);
    const double elapsed = monotonic_seconds() - start;
    if (elapsed > 0 && elapsed < settings.seconds) view.show(tenants, elapsed, settings.seconds);
  }
  view.finish();
  for (std::size_t i = 0; i < running.size(); ++i) {
    const int status = running[i].child.wait();
    const nlohmann::json result = parse_line(running[i].last_line);
    if (status != 0 || !result.is_object() || !result.value("verified", false)) {
      return Error{
          fmt::format("tenant {}: {} failed with status {}", tenants[i].name, tenants[i].program, status)};
    }
    tenants[i].together = result["throughput"];
  }
  return {};
}

/// On a daemon that lives no longer than the window: one without tenants would end by itself meanwhile.
Result<void> share(std::vector<Tenant>& tenants, const Placement& placement, const Settings& settings,
                   const ByProgram& alone) {
  FAIRGV_TRY(tenancy, Tenancy::start(placement));
  if (!settings.policy.empty()) {
    if (auto set = tenancy->set_policy(settings.policy); !set) return set;
  }
  return run_together(tenants, tenancy.value(), settings, alone);
}

void write_json(const std::string& file, const std::vector<Tenant>& tenants, const Fairness& fairness) {
  nlohmann::json result{{"min_max_ratio", fairness.min_max_ratio}, {"overhead", fairness.overhead}};
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    result["tenants"].push_back({{"tenant", tenants[i].name},
                                 {"program", tenants[i].program},
                                 {"weight", tenants[i].weight},
                                 {"ideal_share", fairness.ideal[i]},
                                 {"measured_share", fairness.measured[i]},
                                 {"throughput", tenants[i].together},
                                 {"alone", tenants[i].alone},
                                 {"unit", tenants[i].unit}});
  }
  std::ofstream(file) << result.dump(2) << '\n';
}

Result<void> write_table(const Settings& settings, const std::vector<Tenant>& tenants,
                         const Fairness& fairness) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    const Tenant& tenant = tenants[i];
    rows.push_back(fmt::format("{},{},{},{:.4f},{:.4f},{:.4g},{:.4g},{},{:.4f},{:.4f}", tenant.name,
                               tenant.program, tenant.weight, fairness.ideal[i], fairness.measured[i],
                               tenant.together, tenant.alone, tenant.unit, fairness.min_max_ratio,
                               fairness.overhead));
  }
  return write_csv(
      settings.output, settings.device_cores,
      "tenant,program,weight,ideal_share,measured_share,throughput,alone,unit,min_max_ratio,overhead", rows);
}

Result<void> run_benchmark(const Settings& settings) {
  std::vector<Tenant> tenants;
  for (std::size_t i = 0; i < settings.weights.size(); ++i) {
    Tenant tenant;
    tenant.name = fmt::format("tenant{}", i + 1);
    tenant.weight = settings.weights[i];
    tenant.program = workload_of(settings.api, settings.programs[i % settings.programs.size()], i);
    tenants.push_back(tenant);
  }
  FAIRGV_TRY(placement, placement_of(settings.device_cores));
  fmt::print("Each program alone on the driver, without FairGV ...\n");
  std::fflush(stdout);
  ByProgram alone;
  if (auto done = measure_alone(tenants, settings, placement.value(), alone); !done) return done;

  fmt::print("{} tenants side by side through FairGV, {} s ...\n\n", tenants.size(), settings.seconds);
  std::fflush(stdout);
  if (auto done = share(tenants, placement.value(), settings, alone); !done) return done;

  fmt::print("Each program alone once more ...\n");
  std::fflush(stdout);
  if (auto done = measure_alone(tenants, settings, placement.value(), alone); !done) return done;
  for (Tenant& tenant : tenants) {
    tenant.alone = estimate_of(alone[tenant.program].throughputs).mean;
    tenant.unit = alone[tenant.program].unit;
  }
  const Fairness fairness = fairness_of(tenants);
  print_table(tenants, fairness);
  if (!settings.json_file.empty()) write_json(settings.json_file, tenants, fairness);
  return write_table(settings, tenants, fairness);
}

int run(int argc, char** argv) {
  CLI::App app{"Tenants with weights share one device, measured by their own throughput",
               "fairgv bench share"};
  Settings settings;
  app.add_option("--weights", settings.weights, "One tenant per weight")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000));
  app.add_option("--programs", settings.programs, "Workloads, in turn for the tenants")
      ->delimiter(',')
      ->check(known_workload);
  declare_api(app, settings.api, {.direct = true, .mixed = true});
  app.add_option("--policy", settings.policy, "Scheduling policy (default: fair)")->check(known_policy);
  app.add_option("--seconds", settings.seconds, "Length of the shared window")
      ->check(CLI::Range(1.0, 3'600.0));
  app.add_option("--baseline-seconds", settings.baseline_seconds,
                 "Of each program alone, before the shared window and again after it")
      ->check(CLI::Range(0.2, 600.0));
  app.add_option("--kernel-us", settings.kernel_us,
                 "How long the programs' launches shall take alone, in microseconds (default: their own)")
      ->check(CLI::Range(1, 1'000'000));
  declare_device_cores(app, settings.device_cores);
  declare_csv(app, settings.output);
  app.add_option("--json", settings.json_file, "Also write the result to this file");
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  return exit_code(app, run_benchmark(settings));
}

const Registration registration{"share", run};

}  // namespace
}  // namespace fairgv::bench::share_experiment
