#include "tools/fairgv/sim/figures.hpp"

#include <fmt/core.h>

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
  Rows (*figures)(std::uint64_t seed);
};

constexpr std::array<Paper, 4> kPapers{{
    {"fairgv", sched::fairgv_figures},
    {"timegraph", sched::timegraph_figures},
    {"pegasus", sched::pegasus_figures},
    {"gover", [](std::uint64_t seed) { return sched::gover_figures(seed); }},
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

int print_figures(const std::string& paper, std::uint64_t seed, bool json) {
  Rows rows;
  bool known = false;
  for (const Paper& each : kPapers) {
    if (paper != each.name && paper != "all") continue;
    known = true;
    std::ranges::copy(each.figures(seed), std::back_inserter(rows));
  }
  if (!known) {
    return fail(
        "sim", "there are no figures of '" + paper + "': " + guess_and_list(paper, figure_papers() + ", all"),
        kMisused);
  }
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
