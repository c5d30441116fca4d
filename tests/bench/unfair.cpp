// fairgv bench unfair: a picture of a fair and an unfair run. Three tenants count the same work; one of them,
// with the least weight, launches kernels that are ten times as long. First come, first served, as a driver
// does it by itself, gives the device to the tenant that asks for most of it at a time; fair queuing gives
// each tenant its share by weight. With --devices each device has the three, and the results are those of the
// single devices.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/devices.hpp"
#include "tests/bench/support/pairs.hpp"
#include "tests/bench/support/registration.hpp"

namespace fairgv::bench::unfair_experiment {
namespace {

using namespace harness;

struct Player {
  const char* name;
  std::uint32_t weight;
  int kernel_us;
};
constexpr std::array<Player, 3> kPlayers{{{"alice", 3, 300}, {"bob", 2, 300}, {"greedy", 1, 3'000}}};
constexpr double kWeights = 6;

struct Settings {
  std::vector<std::string> policies{"fifo", "fair"};
  PairSettings pairs{.seconds = 5, .pairs = 3};
};

/// The part of all the work that each tenant did, and how even that is by weight.
struct Cell {
  std::string policy;
  std::array<Spread, kPlayers.size()> shares;
  Spread min_max_ratio;
};

double due(const Player& player) {
  return player.weight / kWeights;
}

Result<Cell> measure(const Tenancy& tenancy, Rivals& rivals, const std::string& policy,
                     const std::vector<double>& iterations, const PairSettings& settings) {
  FAIRGV_CHECK(tenancy.set_policy(policy));
  std::array<std::vector<double>, kPlayers.size()> shares;
  std::vector<double> ratios;
  for (int run = 0; run < settings.pairs; ++run) {
    FAIRGV_TRY(rounds, rivals.together(settings.seconds));
    for (std::size_t device = 0; device < settings.devices; ++device) {
      std::vector<double> work = of_device(rounds.value(), device, settings.devices);
      for (std::size_t i = 0; i < iterations.size(); ++i) work[i] *= iterations[i];
      const double sum = std::accumulate(work.begin(), work.end(), 0.0);
      std::vector<double> relative;
      for (std::size_t i = 0; i < kPlayers.size(); ++i) {
        shares[i].push_back(work[i] / sum);
        relative.push_back(shares[i].back() / due(kPlayers[i]));
      }
      ratios.push_back(min_max_ratio(relative));
    }
  }
  Cell cell{policy, {}, spread_of(ratios)};
  std::transform(shares.begin(), shares.end(), cell.shares.begin(), spread_of);
  return cell;
}

Findings table_of(const std::vector<Cell>& cells) {
  Findings found{"policy,tenant,weight,kernel_us,due,share,lowest,highest,min_max_ratio", {}};
  for (const Cell& cell : cells) {
    for (std::size_t i = 0; i < kPlayers.size(); ++i) {
      const Player& player = kPlayers[i];
      const Spread& share = cell.shares[i];
      found.rows.push_back(fmt::format("{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f}", cell.policy,
                                       player.name, player.weight, player.kernel_us, due(player),
                                       share.median, share.lowest, share.highest, cell.min_max_ratio.median));
    }
  }
  return found;
}

/// A panel for each policy: a bar for each tenant, and a line over it where its due is.
Figure figure_of(const std::vector<Cell>& cells) {
  std::string script = fmt::format(
      "set multiplot layout 1,{}; set style fill solid 0.85 noborder; set boxwidth 0.6; unset key\n"
      "set yrange [0:100]; set xrange [-0.5:2.5]; set grid ytics lc rgb '#cccccc'; set border 3\n"
      "set tics nomirror; set format y '%g %%'; set bmargin 4\n",
      cells.size());
  for (const Cell& cell : cells) {
    const std::string name = cell.policy == "fifo"   ? "first come, first served"
                             : cell.policy == "fair" ? "FairGV, fair queuing"
                                                     : cell.policy;
    const std::string block = fmt::format("$bars{}", script.size());
    script += block + " << END\n";
    for (std::size_t i = 0; i < kPlayers.size(); ++i) {
      script += fmt::format("{} {:.2f} {:.2f} \"{}\\nweight {}\" \"{:.0f} %\"\n", i,
                            100 * cell.shares[i].median, 100 * due(kPlayers[i]), kPlayers[i].name,
                            kPlayers[i].weight, 100 * cell.shares[i].median);
    }
    script += fmt::format(
        "END\nset title '{0}'\n"
        "plot {1} using 1:2:xtic(4) with boxes lc rgb '#2f6fb3', "
        "{1} using ($1-0.38):3:(0.76):(0) with vectors nohead lw 3 dt 2 lc rgb '#c2410c', "
        "{1} using 1:($2+4):5 with labels, "
        "'+' using (-0.4):(96):('dashes: what the weight entitles to') every ::::0 with labels left "
        "textcolor rgb '#c2410c' font ',10'\n",
        name, block);
  }
  return {860, 360, script + "unset multiplot\n"};
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  std::vector<double> iterations;  // of a round
  std::vector<Program> programs;
  std::vector<std::uint32_t> weights;  // of all devices' tenants
  for (const Player& player : kPlayers) {
    FAIRGV_TRY(loop, calibrate_loop(player.kernel_us, "0.3", placement));
    programs.push_back({beside("workloads/computeLoop"), "--iterations", std::to_string(loop->iterations),
                        "--batch", std::to_string(loop->batch), "--sync", "stream"});
    iterations.push_back(static_cast<double>(loop->iterations));
  }
  const std::size_t devices = settings.pairs.devices;
  for (std::size_t device = 0; device < devices; ++device) {
    for (const Player& player : kPlayers) weights.push_back(player.weight);
  }
  FAIRGV_TRY(tenancy,
             start_on(devices, {}, placement, {numbered("tenant", static_cast<unsigned>(weights.size()))}));
  FAIRGV_TRY(rivals, Rivals::start(tenancy.value(), placement, programs, {}, {}, devices));
  FAIRGV_CHECK(rivals->weigh(tenancy.value(), weights));
  fmt::print("Shares of the work done, {} runs of {} s; the due share in parentheses\n\n{:<16}",
             settings.pairs.pairs, settings.pairs.seconds, "policy");
  for (const Player& player : kPlayers) {
    fmt::print("{:>28}", fmt::format("{} ({:.3f})", player.name, due(player)));
  }
  fmt::print("{:>22}\n", "Min-Max Ratio");
  ProgressLine progress(settings.policies.size());
  std::vector<Cell> cells;
  for (const std::string& policy : settings.policies) {
    progress.step(policy);
    FAIRGV_TRY(cell, measure(tenancy.value(), rivals.value(), policy, iterations, settings.pairs));
    cells.push_back(cell.value());
    std::string row = fmt::format("{:<16}", policy);
    for (const Spread& share : cell->shares) row += fmt::format("{:>28}", shown(share));
    progress.print_row(row + fmt::format("{:>22}", shown(cell->min_max_ratio)));
  }
  FAIRGV_CHECK(rivals->end());
  Findings found = table_of(cells);
  found.figure = figure_of(cells);
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("unfair", "Three tenants, one of them greedy: first come, first served, and fair");
  Settings settings;
  declare_policies(experiment, settings.policies);
  declare_pairs(experiment, settings.pairs);
  declare_devices(experiment, settings.pairs.devices);
  experiment.declare_figure();
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"unfair", run};

}  // namespace
}  // namespace fairgv::bench::unfair_experiment
