// The programs of TimeGraph's evaluation (section 6), as far as the paper describes them, and how they are
// run together. Part of timegraph_figures().
//
// The paper names games, a widget, a command bomb and a film, and gives no costs of their commands. Chosen
// here: games run at 30 to 60 frames a second when they are alone. A frame goes to the device in several
// bursts, between which the game computes on the host. Bombs send commands of 2 ms without end.
#pragma once

#include <string>
#include <vector>

#include "sched/simulator/figures/figure.hpp"

namespace fairgv::sched::timegraph_figure {

struct Game {
  std::string name;
  TenantSpec program;
  double bursts_per_frame = 1;
};

/// OpenArena, World of Padman, Urban Terror, UT2004.
std::vector<Game> games();
TenantSpec engine_widget();
TenantSpec clearspd_bomb();
/// Each arrives a while after the one before it: their reserves' periods do not begin together.
std::vector<TenantSpec> five_bombs(const TenantSpec& bomb);
/// 24 frames a second.
TenantSpec film();
/// Copies the frames of others to the screen.
TenantSpec x_server();

// -- a program as a task of TimeGraph

inline constexpr std::int32_t kHighest = 90;
inline constexpr std::int32_t kHigh = 70;
inline constexpr std::int32_t kMedium = 50;
inline constexpr std::int32_t kLow = 10;
/// Of the widget and the bombs, most often.
inline constexpr Reservation kTenth{std::chrono::microseconds(2'500), std::chrono::milliseconds(25)};
/// Of each of five bombs: as much together.
inline constexpr Reservation kFifthOfATenth{std::chrono::microseconds(500), std::chrono::milliseconds(25)};

TenantSpec prt(TenantSpec program, std::int32_t priority);
TenantSpec ht(TenantSpec program, std::int32_t priority);
TenantSpec with_reserve(TenantSpec program, Enforcement enforcement, const Reservation& reservation,
                        std::uint32_t shared = 0);

// -- running

/// "No TimeGraph support" is `fifo`; priorities and reserves do not matter there.
enum class Driver { vanilla, timegraph };

struct Experiment {
  Driver driver = Driver::timegraph;
  std::vector<TenantSpec> programs{};
  FigureRun how{};
  Duration length = std::chrono::seconds(6);
  SchedulerCosts costs{};
};

/// The program and those that run beside it.
std::vector<TenantSpec> beside(TenantSpec program, const std::vector<TenantSpec>& others);
/// The outcomes of the programs: with many devices, of the same program on all of them. Further tenants
/// sleep.
std::vector<TenantOutcome> run(const Experiment& experiment);
/// Bursts of the program in a second, on one device.
double rate(const Experiment& experiment, const TenantOutcome& program);
/// The same in each of the windows that the length divides into.
std::vector<double> rates(const Experiment& experiment, const TenantOutcome& program, Duration window);

// -- rows

double mean(const std::vector<double>& values);
/// The standard deviation relative to the mean.
double variation(const std::vector<double>& values);
/// "12.3"
std::string number(double value);
/// "+12%" for 1.12
std::string change(double ratio);
/// "a, b, c"
std::string listed(const std::vector<double>& values);

}  // namespace fairgv::sched::timegraph_figure
