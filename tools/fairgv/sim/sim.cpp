// fairgv sim: the scheduling policies under a simulated clock, with synthetic tenants. Needs no device.
#include <fmt/core.h>
#include <oneapi/tbb/task_group.h>

#include <memory>
#include <vector>

#include "runtime/base/near_word.hpp"
#include "sched/choice/device_profile.hpp"
#include "sched/policies/registry.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/sim/figures.hpp"
#include "tools/fairgv/sim/sim_place.hpp"
#include "tools/fairgv/sim/sim_report.hpp"
#include "tools/fairgv/sim/sim_tenant.hpp"

namespace fairgv::tools {
namespace {

constexpr std::string_view kAdaptive = "adaptive";

struct SimOptions {
  std::vector<std::string> policies{std::string(sched::kDefaultPolicy)};
  std::vector<std::string> tenants{"weight=1", "weight=2", "weight=3"};
  std::string slice{kAdaptive};
  double seconds = 10;
  std::size_t devices = 1;
  std::uint64_t seed = 1;
  std::string csv;
  bool json = false;
  std::string figures;
  std::size_t figure_tenants = 0;
  std::vector<std::string> placements;
  std::vector<std::uint64_t> speeds;
};

Result<sched::SimulationSettings> settings_from(const SimOptions& options) {
  sched::SimulationSettings settings;
  for (const std::string& text : options.tenants) {
    FAIRGV_TRY(kind, parse_tenant(text));
    settings.kinds.push_back(kind.value());
  }
  if (options.slice != kAdaptive) {
    FAIRGV_TRY(slice, parse_duration(options.slice));
    settings.slices = sched::SliceRule::constant(slice.value());
  }
  settings.length = std::chrono::round<sched::Duration>(std::chrono::duration<double>(options.seconds));
  settings.devices = options.devices;
  settings.seed = options.seed;
  return settings;
}

/// One run for each policy, on as many processors as this process may use: a run depends on its settings
/// alone.
std::vector<sched::SimulationResult> run_all(const std::vector<sched::SimulationSettings>& settings) {
  std::vector<sched::SimulationResult> results(settings.size());
  {
    // ThreadSanitizer sees that a group has ended, in its destructor; oneTBB's loops end in its library.
    tbb::task_group group;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      group.run([&, i] { results[i] = simulate(settings[i]); });
    }
    group.wait();
  }
  return results;
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

int sim(const SimOptions& options) {
  if (!options.figures.empty()) {
    return print_figures(
        options.figures,
        {.seed = options.seed, .devices = options.devices, .tenants = options.figure_tenants}, options.json);
  }
  auto settings = settings_from(options);
  if (!settings) return fail("sim", settings.error().message, kMisused);
  std::vector<std::string> policies = options.policies;
  if (policies == std::vector<std::string>{"all"}) {
    policies.clear();
    for (const sched::PolicyInfo& info : sched::all_policies()) policies.emplace_back(info.name);
  }
  for (const std::string& policy : policies) {
    if (sched::find_policy(policy) != nullptr) continue;
    return fail(
        "sim",
        "there is no policy '" + policy + "': " + guess_and_list(policy, sched::policy_names() + ", all"),
        kMisused);
  }
  if (!options.placements.empty())
    return place(settings.value(), policies, {options.placements, options.speeds, options.json});
  File csv(options.csv.empty() ? nullptr : std::fopen(options.csv.c_str(), "we"), &std::fclose);
  if (!options.csv.empty() && !csv) return fail("sim", system_error("cannot write " + options.csv).message);
  if (csv) write_csv_header(csv.get());
  nlohmann::json runs = nlohmann::json::array();
  std::vector<sched::SimulationSettings> each(policies.size(), settings.value());
  for (std::size_t i = 0; i < policies.size(); ++i) each[i].policy = policies[i];
  const std::vector<sched::SimulationResult> results = run_all(each);
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (csv) write_csv(csv.get(), each[i], results[i]);
    if (options.json) {
      runs.push_back(to_json(each[i], results[i]));
    } else {
      print_simulation(each[i], results[i]);
    }
  }
  if (options.json) fmt::print("{}\n", runs.dump(2));
  if (csv && std::ferror(csv.get()) != 0)
    return fail("sim", system_error("cannot write " + options.csv).message);
  return 0;
}

}  // namespace

void add_sim(CLI::App& app, Action& action) {
  static SimOptions options;
  CLI::App* command = app.add_subcommand("sim", "Simulate the scheduling policies with synthetic tenants");
  command
      ->add_option("--policy", options.policies,
                   sched::policy_names() + ", or all; may be given several times")
      ->type_name("POLICY")
      ->capture_default_str()
      ->allow_extra_args(false);
  command
      ->add_option(
          "--tenant", options.tenants,
          "A kind of tenant, as in weight=2,kernel=200us,jitter=0.1,sleep=0.5,burst=10,sessions=1,"
          "count=10,min=20%,max=50%,class=latency,spec=HT:none:60:-:-,period=40ms; may be given several "
          "times")
      ->type_name("KEY=VALUE,...")
      ->capture_default_str()
      ->allow_extra_args(false);
  command
      ->add_option("--slice", options.slice,
                   "The devices' time slice; adaptive: 1.5 to 15 ms, by how many tenants want it")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--seconds", options.seconds, "Simulated time")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6));
  command
      ->add_option("--devices", options.devices,
                   "Every tenant runs on each, or with --place on one of them; of figures, each on one")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000));
  command->add_option("--seed", options.seed, "The same seed repeats a run exactly")->capture_default_str();
  auto* const csv =
      command->add_option("--csv", options.csv, "Write a file with a line per device and tenant");
  csv->type_name("FILE");
  auto* const placements =
      command->add_option("--place", options.placements,
                          "Put each tenant on one device, as a placement says: " + placement_names() +
                              "; may be given several times");
  placements->type_name("PLACEMENT")->allow_extra_args(false)->excludes(csv);
  command->add_option("--speed", options.speeds, "How fast each device is beside the others, with --place")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(CLI::Range(std::uint64_t{1}, sched::DeviceProfile::kMostSpeed))
      ->needs(placements);
  command->add_flag("--json", options.json, "Everything as JSON instead of the table");
  CLI::Option* const figures =
      command
          ->add_option("--figures", options.figures,
                       "Rebuild the figures of a paper instead: " + figure_papers() + ", or all")
          ->type_name("PAPER");
  command
      ->add_option("--tenants", options.figure_tenants,
                   "Of the figures, on all devices: copies of the experiment's, or sleepers beside them")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(figures);
  command->callback([&action] { action = [] { return sim(options); }; });
}

}  // namespace fairgv::tools
