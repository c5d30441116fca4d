// fairgv bench share: the main job. Tenants with weights run real programs side by side on one device;
// each program counts its own work, over the same seconds, and the shares that come out are put beside the
// weights.
#include <fmt/core.h>
#include <poll.h>

#include <fstream>
#include <map>
#include <set>

#include "tests/bench/support/api.hpp"
#include "tests/bench/support/command_line.hpp"
#include "tests/bench/support/output.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/share_view.hpp"
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
  double baseline_seconds = 0.7;
  unsigned device_cores = 0;
  int kernel_us = 0;  // 0: as long as the programs' own
  std::string json_file;
  Output output;
};

/// Before the shared window and after it. Machines have faster and slower seconds: many short runs in which
/// the programs take turns show both of them to every program.
constexpr int kBaselineRuns = 6;

/// What one program does on the driver alone.
struct Alone {
  std::vector<double> throughputs;  // of its runs
  std::string unit;
  double rounds_per_s = 0;
};

/// One that always has the next batch queued. A program that lets the device rest between its batches shows,
/// beside others, how much they fill its pauses, and by how much less its own API pauses: not its share.
std::vector<std::string> saturating(const std::string& program, double seconds, const Settings& settings) {
  std::vector<std::string> command{beside("workloads/" + program), "--seconds", fmt::format("{}", seconds),
                                   "--sync", "stream"};
  if (settings.kernel_us != 0)
    command.insert(command.end(), {"--kernel-us", std::to_string(settings.kernel_us)});
  return command;
}

/// Runs every program once alone; tenants that run the same one share the figure.
Result<void> measure_alone(const std::vector<Tenant>& tenants, const Settings& settings,
                           const Placement& placement, std::map<std::string, Alone>& into) {
  std::set<std::string> done;
  for (const Tenant& tenant : tenants) {
    if (!done.insert(tenant.program).second) continue;
    const auto result =
        run_measured(bare(saturating(tenant.program, settings.baseline_seconds, settings), placement));
    if (!result) return result.error();
    Alone& alone = into[tenant.program];
    alone.throughputs.push_back(result.value()["throughput"]);
    alone.unit = result.value()["unit"];
    alone.rounds_per_s = result.value()["rounds"].get<double>() / result.value()["seconds"].get<double>();
  }
  return {};
}

/// One tenant's running program and what it has said so far.
struct Running {
  explicit Running(Child started) : child(std::move(started)) {}

  Child child;
  double rounds = 0;         // completed
  double elapsed = 0;        // of its window
  double before_rounds = 0;  // at the look before
  double before_elapsed = 0;
  double speed = 0;  // lately, as a fraction of what the program does alone
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
void update_live(std::vector<Tenant>& tenants, std::vector<Running>& running,
                 const std::map<std::string, Alone>& alone) {
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
                          const std::map<std::string, Alone>& alone) {
  // Long enough for every program to start, compile, verify and warm up beside the others.
  const double start = monotonic_seconds() + 6;
  std::vector<Running> running;
  for (const Tenant& tenant : tenants) {
    std::vector<std::string> program = saturating(tenant.program, settings.seconds, settings);
    program.insert(program.end(), {"--start-at", fmt::format("{:.3f}", start), "--progress-ms", "200"});
    auto child = Child::start(tenancy.tenant(tenant.name, tenant.weight, std::move(program)));
    if (!child) return child.error();
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
  const auto placement = placement_of(settings.device_cores);
  if (!placement) return placement.error();
  auto tenancy = Tenancy::start(placement.value());
  if (!tenancy) return tenancy.error();
  if (!settings.policy.empty()) {
    if (auto set = tenancy->set_policy(settings.policy); !set) return set;
  }

  fmt::print("Each program alone on the driver, without FairGV ...\n");
  std::fflush(stdout);
  std::map<std::string, Alone> alone;
  for (int run = 0; run < kBaselineRuns; ++run) {
    if (auto done = measure_alone(tenants, settings, placement.value(), alone); !done) return done;
  }

  fmt::print("{} tenants side by side through FairGV, {} s ...\n\n", tenants.size(), settings.seconds);
  std::fflush(stdout);
  if (auto done = run_together(tenants, tenancy.value(), settings, alone); !done) return done;

  fmt::print("Each program alone once more ...\n");
  std::fflush(stdout);
  for (int run = 0; run < kBaselineRuns; ++run) {
    if (auto done = measure_alone(tenants, settings, placement.value(), alone); !done) return done;
  }
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
  declare_api(app, settings.api, true);
  app.add_option("--policy", settings.policy, "Scheduling policy (default: fair)")->check(known_policy);
  app.add_option("--seconds", settings.seconds, "Length of the shared window")
      ->check(CLI::Range(1.0, 3'600.0));
  app.add_option("--baseline-seconds", settings.baseline_seconds, "Length of each run alone")
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
