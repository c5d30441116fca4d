// fairgv bench slicing: the cost of running one long launch in parts (FairGV, section 5.5.2, table 4).
// matrixMul as the only tenant, with grids of as many work-groups as the paper's: one process cuts its launch
// into parts of a given size, another does not, and they take turns of one launch each. Two processes of one
// program may differ for as long as they live, by the place of their memory, so new processes meet again.
// Last, parts of the planner's own choice, as users get them: the launches of one process, in turns while
// another tenant has the device open and while none has, when nothing is cut.
//
// The paper's work-groups took 54 and 100 us each on its GPU. Ours compute small tiles of the product of a
// narrow matrix and a flat one, so that a launch lasts some seconds on one CPU core and needs some hundred
// MB.
//
// Rows are table 4's, by its numbers of sub-kernels. The blocks per sub-kernel follow from them as in the
// paper (rounded up); only for 4,096 sub-kernels it prints 74 and 166, which would not cover its grids.
// Ours are asked to be of that size, but consist of whole rows of the grid, or of equal parts of one: the
// 1,407 and 1,583 on both sides of the paper's recommendation of 1,500 become 1,800.
#include <fmt/core.h>

#include <array>

#include "slicing/planner.hpp"
#include "tests/bench/support/api.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/sliced.hpp"

namespace fairgv::bench::slicing_experiment {
namespace {

using namespace harness;

constexpr std::uint64_t kTile = 8;  // rows and columns of the product that a work-group computes

struct Settings {
  std::vector<std::uint64_t> grids{600, 900};  // work-groups in each of two dimensions
  std::uint64_t inner = 256;
  std::vector<std::uint64_t> sub_launches{64, 128, 256, 512, 1'024, 2'048, 3'072, 4'096};
  int meetings = 3;  // of two new processes
  int turns = 9;     // of a meeting, a launch of each
  Api api = Api::kOpenCl;
};

/// Table 4 of the paper.
struct Published {
  std::uint64_t sub_kernels;
  double slowdown_600;  // per cent, for the grid of 600 x 600 work-groups
  double slowdown_900;
};
constexpr std::array<Published, 8> kPublished{{{64, 0.0, 0.0},
                                               {128, 1.0, 0.0},
                                               {256, 4.3, 0.0},
                                               {512, 11.8, 0.2},
                                               {1'024, 23.9, 6.2},
                                               {2'048, 47.8, 17.5},
                                               {3'072, 71.1, 30.7},
                                               {4'096, 94.6, 44.5}}};

/// The parts of a launch that is to be cut into parts of so many work-groups.
struct Parts {
  std::uint64_t asked = 0;  // work-groups of a part
  std::uint64_t count = 0;
  double blocks = 0;  // mean work-groups of a part
};

/// One grid, cut in one way, and the cost.
struct Cell {
  std::uint64_t grid = 0;
  std::optional<Parts> parts{};  // none: the planner chooses by time
  Spread slowdown{};             // per cent
  std::optional<double> published{};

  /// The value for FAIRGV_SLICE, unless the planner chooses.
  std::string slicing() const { return parts ? fmt::format("blocks:{}", parts->asked) : "planned"; }
};

std::optional<double> published_for(std::uint64_t grid, std::uint64_t sub_kernels) {
  for (const Published& row : kPublished) {
    if (row.sub_kernels != sub_kernels) continue;
    if (grid == 600) return row.slowdown_600;
    if (grid == 900) return row.slowdown_900;
  }
  return std::nullopt;
}

Parts parts_of(std::uint64_t grid, std::uint64_t asked) {
  slicing::Planner planner({.dimensions = 2, .size = {grid, grid, 1}}, {.floor = asked});
  Parts parts{asked};
  for (; !planner.done(); ++parts.count) planner.next(std::nullopt, {});
  parts.blocks = static_cast<double>(grid * grid) / static_cast<double>(parts.count);
  return parts;
}

std::vector<Cell> cells_of(const Settings& settings) {
  std::vector<Cell> cells;
  for (const std::uint64_t grid : settings.grids) {
    for (const std::uint64_t count : settings.sub_launches) {
      const Parts parts = parts_of(grid, (grid * grid + count - 1) / count);
      if (parts.count > 1) cells.push_back({grid, parts, {}, published_for(grid, count)});
    }
    cells.push_back({grid});
  }
  return cells;
}

/// Its rounds are one launch.
std::vector<std::string> one_launch(Api api, std::uint64_t grid, std::uint64_t inner) {
  return {beside("workloads/" + workload_of(api, "matrixMul")),
          "--size",
          std::to_string(grid * kTile),
          "--inner",
          std::to_string(inner),
          "--tile",
          std::to_string(kTile)};
}

std::string paper_percent(const Cell& cell) {
  return cell.published ? fmt::format("{:.1f}", *cell.published) : "";
}

Findings table_of(const std::vector<Cell>& cells) {
  Findings found{"grid,slicing,sub_launches,blocks,slowdown_percent,lowest,highest,paper_percent", {}};
  for (const Cell& cell : cells) {
    const std::string parts =
        cell.parts ? fmt::format("{},{:.1f}", cell.parts->count, cell.parts->blocks) : ",";
    found.rows.push_back(fmt::format("{},{},{},{:.3f},{:.3f},{:.3f},{}", cell.grid, cell.slicing(), parts,
                                     cell.slowdown.median, cell.slowdown.lowest, cell.slowdown.highest,
                                     paper_percent(cell)));
  }
  return found;
}

/// For each grid a curve of ours and the paper's points over the size of the parts, and the planner's own
/// choice.
Figure figure_of(const Settings& settings, const std::vector<Cell>& cells) {
  std::string script =
      "set logscale x; set grid; set key top right; set yrange [*<-2:*]\n"
      "set xlabel 'work-groups of a sub-launch'; set ylabel 'slowdown (%)'\n";
  std::string plots;
  int color = 0;
  for (const std::uint64_t grid : settings.grids) {
    ++color;
    const auto plot = [&](const std::string& what, const std::string& how, const char* title) {
      plots += fmt::format("{}{} {} lc {} title '{} x {}{}'", plots.empty() ? "" : ", ", what, how, color,
                           grid, grid, title);
    };
    std::string ours, published;
    for (const Cell& cell : cells) {
      if (cell.grid != grid) continue;
      if (!cell.parts) {
        plot(fmt::format("{:.3f}", cell.slowdown.median), "with lines dt 3", ", planned");
        continue;
      }
      ours += fmt::format("{:.1f} {:.3f} {:.3f} {:.3f}\n", cell.parts->blocks, cell.slowdown.median,
                          cell.slowdown.lowest, cell.slowdown.highest);
      if (cell.published) published += fmt::format("{} {}\n", cell.parts->asked, *cell.published);
    }
    const auto plot_points = [&](const std::string& block, const std::string& points, const std::string& how,
                                 const char* title) {
      if (points.empty()) return;
      script += fmt::format("{} << END\n{}END\n", block, points);
      plot(block, how, title);
    };
    plot_points(fmt::format("$ours{}", grid), ours, "with yerrorlines lw 2", "");
    plot_points(fmt::format("$paper{}", grid), published, "with points pt 9 ps 1.5", ", paper");
  }
  return {800, 480, script + "plot " + plots + '\n'};
}

std::string row_of(const Cell& cell) {
  return fmt::format(
      "{:<14}{:>10}{:>14}{:>10}{:>12.2f}{:>20}{:>10}", fmt::format("{} x {}", cell.grid, cell.grid),
      cell.parts ? std::to_string(cell.parts->asked) : "planned",
      cell.parts ? std::to_string(cell.parts->count) : "",
      cell.parts ? fmt::format("{:.0f}", cell.parts->blocks) : "", cell.slowdown.median,
      fmt::format("{:.2f} to {:.2f}", cell.slowdown.lowest, cell.slowdown.highest), paper_percent(cell));
}

/// Throughput in company over that without, in each meeting: here a process is compared with itself.
Result<std::vector<double>> compare_in_company(const Tenancy& tenancy, const CommandLine& launch,
                                               const Settings& settings, ProgressLine& progress,
                                               const std::string& what) {
  std::vector<double> ratios;
  for (int meeting = 0; meeting < settings.meetings; ++meeting) {
    progress.step(what);
    std::optional<Company> company;
    const auto with_company = [&](bool wanted) -> Result<void> {
      company.reset();
      if (!wanted) return {};
      FAIRGV_TRY(idle, start_idle(tenancy, {"company"}));
      company.emplace(std::move(idle).value());
      return {};
    };
    FAIRGV_TRY(taken, alternate_condition(sliced(launch, std::nullopt), 0, settings.turns, with_company));
    std::vector<double> of_turns;
    for (const Turns& turn : taken.value()) of_turns.push_back(turn.second / turn.first);
    ratios.push_back(median(of_turns));
  }
  return ratios;
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(tenancy, Tenancy::start(placement));
  std::vector<Cell> cells = cells_of(settings);
  fmt::print(
      "One launch of matrixMul in sub-launches, over the same launch whole, in {} meetings of {} turns\n"
      "planned: as many work-groups as last a slice, with the usual floor of {}\n\n"
      "{:<14}{:>10}{:>14}{:>10}{:>12}{:>20}{:>10}\n",
      settings.meetings, settings.turns, slicing::kDefaultFloor, "work-groups", "asked for", "sub-launches",
      "of each", "slowdown %", "lowest to highest", "paper's %");
  std::fflush(stdout);
  ProgressLine progress(cells.size() * static_cast<std::size_t>(settings.meetings));
  for (Cell& cell : cells) {
    const auto launch = tenancy->tenant("bench", 1, one_launch(settings.api, cell.grid, settings.inner));
    const std::string what = fmt::format("{} x {}, {}", cell.grid, cell.grid, cell.slicing());
    FAIRGV_TRY(ratios, cell.parts ? Twins(launch, cell.slicing(), launch)
                                        .compare(settings.meetings, 0, settings.turns, progress, what)
                                  : compare_in_company(tenancy.value(), launch, settings, progress, what));
    std::vector<double> slowdowns;
    for (const double ratio : ratios.value()) slowdowns.push_back(100 * (1 / ratio - 1));
    cell.slowdown = spread_of(slowdowns);
    progress.print_row(row_of(cell));
  }
  Findings found = table_of(cells);
  found.figure = figure_of(settings, cells);
  return found;
}

/// Whole tiles of the largest kind: matrixMul takes no other sizes.
std::string known_grid(const std::string& text) {
  const std::string wrong = CLI::Range(std::uint64_t{8}, std::uint64_t{2'048})(text);
  if (!wrong.empty()) return wrong;
  return std::stoull(text) % 4 == 0 ? "" : "a grid has a multiple of 4 work-groups in each dimension";
}

int run(int argc, char** argv) {
  Experiment experiment("slicing", "What it costs to run a long launch in parts, by the size of the parts");
  Settings settings;
  experiment
      .setting("--grids", settings.grids, {80}, "Work-groups in each of two dimensions, multiples of 4")
      ->delimiter(',')
      ->check(known_grid);
  experiment
      .setting("--inner", settings.inner, 32,
               "Columns of the one matrix and rows of the other: a work-group's work")
      ->check(CLI::IsMember({32, 64, 128, 256, 512, 1'024, 2'048, 4'096}));
  experiment.setting("--sub-launches", settings.sub_launches, {4}, "Numbers of parts")
      ->delimiter(',')
      ->check(CLI::Range(2, 1'000'000));
  declare_api(experiment.options(), settings.api);
  experiment.setting("--meetings", settings.meetings, 1, "Of two new processes, for each row")
      ->check(CLI::Range(1, 1'000));
  experiment.setting("--turns", settings.turns, 1, "Of each process in a meeting, a launch each")
      ->check(CLI::Range(1, 10'000));
  experiment.declare_figure();
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"slicing", run};

}  // namespace
}  // namespace fairgv::bench::slicing_experiment
