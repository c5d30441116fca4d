#include "sched/simulator/figures/timegraph.hpp"

namespace fairgv::sched {

std::vector<FigureRow> timegraph_figures(const FigureRun& how) {
  std::vector<FigureRow> all;
  for (const auto& part : {timegraph_figure::isolation_rows(how), timegraph_figure::steadiness_rows(how),
                           timegraph_figure::cost_rows(how)}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace fairgv::sched
