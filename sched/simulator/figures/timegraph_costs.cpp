// TimeGraph, figures 14 to 16: how well costs are predicted, and what scheduling costs.
//
// The paper gives no times of its scheduler. Chosen here: a decision with its interrupt takes 40 us, a
// prediction 10 us more; ticks come every millisecond, as in the paper.
#include <algorithm>
#include <cmath>

#include "sched/simulator/figures/timegraph.hpp"
#include "sched/simulator/figures/timegraph_programs.hpp"

namespace fairgv::sched::timegraph_figure {
namespace {

using namespace std::chrono_literals;

constexpr SchedulerCosts kEventDriven{.decision = 40us, .prediction = 10us};
constexpr SchedulerCosts kTickDriven{.decision = 40us, .tick = 1ms};

/// The part of the commands 5000 to 10000 whose predicted cost is within so much of the actual one.
double predicted_within(const TenantSpec& spec, const FigureRun& how, double margin) {
  Program program(spec, how.seed);
  CostPredictor predictor;
  int within = 0;
  int counted = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (program.ready() == 0) program.sleep(0ns);
    const auto prediction = predictor.predict(program.next().shape, false);
    const Command command = program.issue();
    predictor.completed(command.shape, prediction, command.cost, false);
    if (i < 5'000) continue;
    const auto actual = static_cast<double>(command.cost.count());
    ++counted;
    if (std::abs(static_cast<double>(prediction.cost.count()) - actual) <= margin * actual) ++within;
  }
  return static_cast<double>(within) / counted;
}

std::string percent(double part) {
  return number(100 * part) + "%";
}

void add_figure_14(const FigureRun& how, std::vector<FigureRow>& rows) {
  const double widget = predicted_within(engine_widget(), how, 0.15);
  const double bomb = predicted_within(clearspd_bomb(), how, 0.07);
  const double game = predicted_within(games()[0].program, how, 0.2);
  rows.push_back({"TimeGraph 14", "(a) commands of the widget predicted within 15%", "all", percent(widget),
                  widget > 0.99});
  rows.push_back(
      {"TimeGraph 14", "(b) commands of the bomb predicted within 7%", "all", percent(bomb), bomb > 0.99});
  rows.push_back({"TimeGraph 14", "(c) commands of OpenArena predicted within 20%: fewer", "about 65%",
                  percent(game), game < std::min(widget, bomb)});
}

/// Frames per second of a game beside the X server, with the costs of the driver.
double standalone(const FigureRun& how, Driver driver, const TenantSpec& game, const TenantSpec& server) {
  Experiment experiment;
  experiment.driver = driver;
  experiment.programs = {game, server};
  experiment.how = how;
  experiment.length = 10s;
  if (driver == Driver::timegraph) experiment.costs = kEventDriven;
  return rate(experiment, run(experiment)[0]);
}

void add_figure_15(const FigureRun& how, std::vector<FigureRow>& rows) {
  constexpr Reservation kAlmostAll{24ms, 25ms};
  const TenantSpec server = x_server();
  std::vector<double> both_ht, ht_game, both_prt, apriori;
  for (const Game& game : games()) {
    const double vanilla = standalone(how, Driver::vanilla, game.program, server);
    const auto relative = [&](const TenantSpec& program, const TenantSpec& x) {
      return standalone(how, Driver::timegraph, program, x) / vanilla;
    };
    both_ht.push_back(relative(ht(game.program, kHigh), ht(server, kHighest)));
    ht_game.push_back(relative(ht(game.program, kHigh), prt(server, kHighest)));
    const TenantSpec one_at_a_time = prt(game.program, kHigh);
    both_prt.push_back(relative(one_at_a_time, prt(server, kHighest)));
    apriori.push_back(
        relative(with_reserve(one_at_a_time, Enforcement::apriori, kAlmostAll), prt(server, kHighest)));
  }
  rows.push_back({"TimeGraph 15", "games alone: HT for game and X server over no support", "-4%",
                  change(mean(both_ht)), mean(both_ht) < 1});
  rows.push_back({"TimeGraph 15", "the same: PRT for the X server costs more", "up to -10%",
                  change(mean(ht_game)), mean(ht_game) < mean(both_ht)});
  rows.push_back({"TimeGraph 15", "the same: PRT for both costs more still", "-17 to -28%",
                  change(mean(both_prt)), mean(both_prt) < mean(ht_game)});
  rows.push_back({"TimeGraph 15", "the same: predictions for an AE reserve cost more still", "not printed",
                  change(mean(apriori)), mean(apriori) < mean(both_prt)});
}

/// A scene of a viewer: a frame is thousands of short commands.
double viewer(const FigureRun& how, Duration command, const SchedulerCosts& costs) {
  TenantSpec program;
  program.commands = {{{1, 1}, command, 0.2, 1}};
  program.burst = 6'000;
  program.host = 20ms;
  Experiment experiment;
  experiment.programs = {prt(program, kHigh)};
  experiment.how = how;
  experiment.length = 120s;
  experiment.costs = costs;
  return rate(experiment, run(experiment)[0]);
}

void add_figure_16(const FigureRun& how, std::vector<FigureRow>& rows) {
  std::vector<double> ratios;
  for (const Duration command : {5us, 10us, 25us}) {
    ratios.push_back(viewer(how, command, kEventDriven) / viewer(how, command, kTickDriven));
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  rows.push_back({"TimeGraph 16", "viewers, PRT: event-driven over tick-driven scheduling",
                  "about 15 to 30 times", number(*least) + " to " + number(*most) + " times", *least > 1});
}

}  // namespace

std::vector<FigureRow> cost_rows(const FigureRun& how) {
  std::vector<FigureRow> rows;
  add_figure_14(how, rows);
  add_figure_15(how, rows);
  add_figure_16(how, rows);
  return rows;
}

}  // namespace fairgv::sched::timegraph_figure
