// TimeGraph, figures 11 to 13: frame rates over time.
#include <algorithm>

#include "sched/simulator/figures/timegraph.hpp"
#include "sched/simulator/figures/timegraph_programs.hpp"

namespace fairgv::sched::timegraph_figure {
namespace {

using namespace std::chrono_literals;

/// A program's rate in each window, beside others.
std::vector<double> over_time(const FigureRun& how, Driver driver, const std::vector<TenantSpec>& programs,
                              Duration window, std::size_t which = 0) {
  Experiment experiment;
  experiment.driver = driver;
  experiment.programs = programs;
  experiment.how = how;
  experiment.length = 20s;
  return rates(experiment, run(experiment)[which], window);
}

std::string steadiness(const std::vector<double>& values) {
  return number(mean(values)) + " fps, deviation " + number(100 * variation(values)) + "%";
}

void add_figure_11(const FigureRun& how, std::vector<FigureRow>& rows) {
  const TenantSpec widget = prt(engine_widget(), kHigh);
  const TenantSpec bomb = prt(clearspd_bomb(), kLow);
  const auto vanilla = over_time(how, Driver::vanilla, beside(widget, five_bombs(bomb)), 200ms);
  const auto priorities = over_time(how, Driver::timegraph, beside(widget, five_bombs(bomb)), 200ms);
  const auto reserved =
      over_time(how, Driver::timegraph,
                beside(widget, five_bombs(with_reserve(bomb, Enforcement::posterior, kTenth, 1))), 200ms);
  rows.push_back({"TimeGraph 11", "a widget beside five bombs: priorities over none", "faster",
                  number(mean(vanilla)) + " to " + number(mean(priorities)) + " fps",
                  mean(priorities) > mean(vanilla)});
  rows.push_back({"TimeGraph 11", "the same: a reserve for the bombs over priorities alone", "faster",
                  number(mean(priorities)) + " to " + number(mean(reserved)) + " fps",
                  mean(reserved) > mean(priorities)});
  rows.push_back({"TimeGraph 11", "the same over time: none, and with a reserve", "stable with a reserve",
                  steadiness(vanilla) + "; " + steadiness(reserved),
                  variation(reserved) < variation(vanilla)});
}

/// The rates of three widgets with high, medium and low priority.
struct ThreeWidgets {
  ThreeWidgets(const FigureRun& how, Driver driver, const std::vector<Reservation>& reserves = {}) {
    const std::vector<std::int32_t> priorities{kHigh, kMedium, kLow};
    std::vector<TenantSpec> widgets;
    for (std::size_t i = 0; i < priorities.size(); ++i) {
      widgets.push_back(prt(engine_widget(), priorities[i]));
      if (!reserves.empty()) widgets[i] = with_reserve(widgets[i], Enforcement::posterior, reserves[i]);
    }
    for (std::size_t i = 0; i < widgets.size(); ++i) {
      windows.push_back(over_time(how, driver, widgets, 100ms, i));
      means.push_back(mean(windows[i]));
    }
  }
  bool ordered() const { return means[0] > means[1] && means[1] > means[2]; }

  std::vector<std::vector<double>> windows;
  std::vector<double> means;
};

void add_figure_12(const FigureRun& how, std::vector<FigureRow>& rows) {
  const ThreeWidgets vanilla(how, Driver::vanilla);
  const ThreeWidgets priorities(how, Driver::timegraph);
  const ThreeWidgets reserves(how, Driver::timegraph, {{15ms, 25ms}, {5ms, 50ms}, {5ms, 100ms}});
  rows.push_back({"TimeGraph 12", "the first of three widgets over time: none (a), and PRT (b)",
                  "chaotic, predictable",
                  steadiness(vanilla.windows[0]) + "; " + steadiness(priorities.windows[0]),
                  variation(priorities.windows[0]) < variation(vanilla.windows[0])});
  rows.push_back({"TimeGraph 12", "(b) rates follow the priorities", "yes", listed(priorities.means) + " fps",
                  priorities.ordered()});
  rows.push_back({"TimeGraph 12", "(c) rates follow reserves of 60, 10 and 5%", "yes",
                  listed(reserves.means) + " fps", reserves.ordered()});
  const bool further = reserves.means[1] < priorities.means[1] && reserves.means[0] >= priorities.means[0];
  rows.push_back({"TimeGraph 12", "(c) capped widgets leave more to the first than in (b)",
                  "isolated further",
                  number(priorities.means[0]) + " to " + number(reserves.means[0]) + " fps", further});
}

void add_figure_13(const FigureRun& how, std::vector<FigureRow>& rows) {
  const TenantSpec bomb = prt(clearspd_bomb(), kLow);
  const auto vanilla = over_time(how, Driver::vanilla, beside(film(), five_bombs(bomb)), 1s);
  const auto reserved =
      over_time(how, Driver::timegraph,
                beside(with_reserve(prt(film(), kHigh), Enforcement::posterior, {10ms, 40ms}),
                       five_bombs(with_reserve(bomb, Enforcement::posterior, {5ms, 40ms}, 1))),
                1s);
  rows.push_back({"TimeGraph 13", "a film of 24 fps beside five bombs, no support", "significantly disturbed",
                  number(mean(vanilla)) + " fps", mean(vanilla) < 20});
  rows.push_back({"TimeGraph 13", "the same with reserves", "closely follows 24 fps",
                  number(mean(reserved)) + " fps", mean(reserved) > 23});
}

}  // namespace

std::vector<FigureRow> steadiness_rows(const FigureRun& how) {
  std::vector<FigureRow> rows;
  add_figure_11(how, rows);
  add_figure_12(how, rows);
  add_figure_13(how, rows);
  return rows;
}

}  // namespace fairgv::sched::timegraph_figure
