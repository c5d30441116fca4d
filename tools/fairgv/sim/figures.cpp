#include "tools/fairgv/sim/figures.hpp"

#include <fmt/core.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/base/near_word.hpp"
#include "sched/simulator/figures/fairgv.hpp"
#include "sched/simulator/figures/gover.hpp"
#include "sched/simulator/figures/pegasus.hpp"
#include "sched/simulator/figures/timegraph.hpp"
#include "tools/fairgv/command.hpp"

namespace fairgv::tools {
namespace {

using Rows = std::vector<sched::FigureRow>;

struct Paper {
  const char* name;
  Rows (*figures)(const sched::FigureRun& run);
};

/// gOver's customers come by themselves: a draw of random programs is a device.
Rows gover_figures(const sched::FigureRun& run) {
  return run.devices == 1 ? sched::gover_figures(run.seed) : sched::gover_figures(run.seed, run.devices);
}

constexpr std::array<Paper, 4> kPapers{{
    {"fairgv", sched::fairgv_figures},
    {"timegraph", sched::timegraph_figures},
    {"pegasus", sched::pegasus_figures},
    {"gover", gover_figures},
}};

void print_table(const Rows& rows) {
  std::size_t figure = 6;
  std::size_t effect = 6;
  std::size_t published = 9;
  for (const sched::FigureRow& row : rows) {
    figure = std::max(figure, row.figure.size());
    effect = std::max(effect, row.effect.size());
    published = std::max(published, row.published.size());
  }
  fmt::print("{:<{}}  {:<{}}  {:<{}}  {:<4}  {}\n", "figure", figure, "effect", effect, "published",
             published, "same", "ours");
  for (const sched::FigureRow& row : rows) {
    fmt::print("{:<{}}  {:<{}}  {:<{}}  {:<4}  {}\n", row.figure, figure, row.effect, effect, row.published,
               published, row.same ? "yes" : "NO", row.ours);
  }
}

}  // namespace

std::string figure_papers() {
  std::string names;
  for (const Paper& paper : kPapers) names += (names.empty() ? "" : ", ") + std::string(paper.name);
  return names;
}

int print_figures(const std::string& paper, const sched::FigureRun& run, bool json) {
  std::array<Rows, kPapers.size()> of_papers;
  bool known = false;
  {
    tbb::task_group group;  // as in sim.cpp
    for (std::size_t i = 0; i < kPapers.size(); ++i) {
      if (paper != kPapers[i].name && paper != "all") continue;
      known = true;
      group.run([&, i] { of_papers[i] = kPapers[i].figures(run); });
    }
    group.wait();
  }
  if (!known) {
    return fail(
        "sim", "there are no figures of '" + paper + "': " + guess_and_list(paper, figure_papers() + ", all"),
        kMisused);
  }
  Rows rows;
  for (const Rows& each : of_papers) std::ranges::copy(each, std::back_inserter(rows));
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const sched::FigureRow& row : rows) {
      list.push_back({{"figure", row.figure},
                      {"effect", row.effect},
                      {"published", row.published},
                      {"ours", row.ours},
                      {"same", row.same}});
    }
    fmt::print("{}\n", list.dump(2));
  } else {
    print_table(rows);
  }
  return std::ranges::all_of(rows, &sched::FigureRow::same) ? 0 : 1;
}

}  // namespace fairgv::tools
