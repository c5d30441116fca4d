#include "sched/simulator/figures/timegraph.hpp"

namespace fairgv::sched {

std::vector<FigureRow> timegraph_figures(std::uint64_t seed) {
  std::vector<FigureRow> all;
  for (const auto& part : {timegraph_figure::isolation_rows(seed), timegraph_figure::steadiness_rows(seed),
                           timegraph_figure::cost_rows(seed)}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace fairgv::sched
