#include "sched/simulator/figures/timegraph_programs.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

namespace fairgv::sched::timegraph_figure {
namespace {

using namespace std::chrono_literals;

/// Seconds that are not counted, until all programs are in step.
constexpr Duration kWarmUp = 1s;

/// Commands of so many shapes, from a part to a multiple of the mean.
std::vector<CommandMix> shapes(std::uint64_t count, Duration mean, double jitter) {
  std::vector<CommandMix> commands;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double place = count == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1);
    const double cost = static_cast<double>(mean.count()) * (0.5 + place);
    commands.push_back({{i + 1, 64 * (i + 1)}, Duration(std::llround(cost)), jitter, 1});
  }
  return commands;
}

/// A game whose frames have so many bursts of eight commands; the host computes after each.
Game game(const char* name, double bursts, Duration command, Duration host) {
  TenantSpec program;
  program.commands = shapes(12, command, 0.3);
  program.scene = 0.3;
  program.burst = 8;
  program.host = host;
  return {name, program, bursts};
}

std::string printed(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

std::vector<Game> games() {
  return {game("OpenArena", 5, 250us, 1'400us), game("World of Padman", 6, 250us, 1'200us),
          game("Urban Terror", 6, 300us, 1'600us), game("UT2004", 3, 250us, 8ms)};
}

TenantSpec engine_widget() {
  TenantSpec program;
  program.commands = shapes(4, 500us, 0.12);
  program.burst = 4;
  program.host = 2ms;
  return program;
}

TenantSpec clearspd_bomb() {
  TenantSpec program;
  program.commands = shapes(1, 2ms, 0.06);
  return program;
}

std::vector<TenantSpec> five_bombs(const TenantSpec& bomb) {
  std::vector<TenantSpec> bombs(5, bomb);
  for (std::size_t i = 0; i < bombs.size(); ++i)
    bombs[i].arrives = static_cast<Duration::rep>(i + 1) * 3700us;
  return bombs;
}

TenantSpec film() {
  TenantSpec program;
  program.commands = shapes(3, 500us, 0.1);
  program.burst = 12;
  program.period = Duration(1s) / 24;
  return program;
}

TenantSpec x_server() {
  TenantSpec program;
  program.commands = shapes(2, 100us, 0.1);
  program.burst = 4;
  program.host = 4ms;
  return program;
}

TenantSpec prt(TenantSpec program, std::int32_t priority) {
  program.attributes.timegraph.priority = priority;
  program.attributes.timegraph.scheduling = TimeGraphTask::Scheduling::predictable;
  return program;
}

TenantSpec ht(TenantSpec program, std::int32_t priority) {
  program.attributes.timegraph.priority = priority;
  program.attributes.timegraph.scheduling = TimeGraphTask::Scheduling::high_throughput;
  return program;
}

TenantSpec with_reserve(TenantSpec program, Enforcement enforcement, const Reservation& reservation,
                        std::uint32_t shared) {
  program.attributes.min = reservation;
  program.attributes.timegraph.enforcement = enforcement;
  program.attributes.timegraph.shared_reserve = shared;
  return program;
}

std::vector<TenantSpec> beside(TenantSpec program, const std::vector<TenantSpec>& others) {
  std::vector<TenantSpec> all{std::move(program)};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::vector<TenantOutcome> run(const Experiment& experiment) {
  SimulationSettings settings;
  settings.policy = experiment.driver == Driver::vanilla ? "fifo" : "timegraph";
  settings.kinds = experiment.programs;
  settings.length = kWarmUp + experiment.length;
  settings.seed = experiment.how.seed;
  settings.costs = experiment.costs;
  return simulate_among_sleepers(settings, prt({}, kLow), experiment.how);
}

double rate(const Experiment& experiment, const TenantOutcome& program) {
  return mean(rates(experiment, program, experiment.length));
}

std::vector<double> rates(const Experiment& experiment, const TenantOutcome& program, Duration window) {
  std::vector<double> bursts(static_cast<std::size_t>(experiment.length / window));
  const double seconds =
      std::chrono::duration<double>(window).count() * static_cast<double>(experiment.how.devices);
  for (const Time end : program.finished) {
    const Duration since = end - (kSimulationStart + kWarmUp);
    if (since < Duration(0)) continue;
    const auto index = static_cast<std::size_t>(since / window);
    if (index < bursts.size()) bursts[index] += 1 / seconds;
  }
  return bursts;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variation(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size())) / middle;
}

std::string number(double value) {
  return printed("%.1f", value);
}

std::string change(double ratio) {
  return printed("%+.1f%%", (ratio - 1) * 100);
}

std::string listed(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + number(value);
  return text;
}

}  // namespace fairgv::sched::timegraph_figure
