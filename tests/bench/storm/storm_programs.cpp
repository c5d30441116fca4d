#include "tests/bench/storm/storm_programs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "tests/harness/tenancy.hpp"

namespace fairgv::bench::storm_experiment {
namespace {

using harness::beside;

/// Of rogue, when its session is lost.
constexpr int kLost = 3;
constexpr int kKilled = 128 + SIGKILL;

const std::array kTraits{
    Trait{Kind::compute, "programs that computed"},
    Trait{Kind::refused, "programs whose memory was refused", false, End::by_itself, {1}},
    Trait{Kind::crash, "programs whose kernel crashed, and that went on", true},
    Trait{Kind::never_end, "programs whose kernel never ended, and that went on", true},
    Trait{Kind::hold, "programs killed in a long kernel", true, End::killed_under_way, {kKilled, kLost}},
    Trait{Kind::forge, "programs that took turns by themselves", true, End::by_itself, {0, kLost}},
    Trait{Kind::sleep, "programs that slept through turns of theirs", true, End::by_itself, {0, kLost}},
    Trait{Kind::outside, "programs that computed without a turn", true, End::by_itself, {0, kLost}},
    Trait{Kind::freeze, "programs that read their worker's knocks away", true, End::by_itself, {0, kLost}},
    Trait{Kind::daemonize, "programs that left a process behind", true, End::killed_under_way, {kKilled}},
    Trait{Kind::flood, "programs that flooded what they print", true, End::killed_under_way, {kKilled}}};

/// Parts of 32; the rest computes.
struct Chance {
  Kind kind;
  unsigned parts;
};
constexpr Chance kChances[] = {
    {Kind::crash, 1}, {Kind::never_end, 1}, {Kind::refused, 2}, {Kind::hold, 2},      {Kind::forge, 1},
    {Kind::sleep, 1}, {Kind::outside, 1},   {Kind::freeze, 1},  {Kind::daemonize, 1}, {Kind::flood, 1}};
constexpr std::uint64_t kAllChances = 32;

std::vector<std::string> rogue(const std::string& deed, const std::string& milliseconds,
                               const std::string& rounds) {
  return {beside("rogue"), deed, "--milliseconds", milliseconds, "--rounds", rounds};
}

}  // namespace

const Trait& trait_of(Kind kind) {
  return *std::find_if(kTraits.begin(), kTraits.end(), [&](const Trait& each) { return each.kind == kind; });
}

Kind draw_kind(const Draw& draw, bool on_the_host) {
  std::uint64_t dice = draw(0, kAllChances - 1);
  for (const auto& [kind, parts] : kChances) {
    if (dice < parts) return kind < Kind::hold || on_the_host ? kind : Kind::compute;
    dice -= parts;
  }
  return Kind::compute;
}

std::vector<std::string> program_of(Kind kind, const Draw& draw) {
  switch (kind) {
    case Kind::crash:
      return {beside("opencl_loss"), "fault"};
    case Kind::never_end:
      return {beside("opencl_loss"), "never-ends"};
    case Kind::refused:
      return {beside("workloads/matrixMul"), "--repetitions", "1"};
    case Kind::hold:
      return rogue("hold", "60000", "1");
    case Kind::forge:
      return rogue("forge", "300", "3");
    case Kind::sleep:
      return rogue("sleep", "300", "3");
    case Kind::outside:
      return rogue("outside", "500", "20");
    case Kind::freeze:
      return rogue("freeze", "300", "3");
    case Kind::daemonize:
      return {beside("opencl_breakout"), "daemonize"};
    case Kind::flood:
      return {beside("opencl_breakout"), "print", "flood\n", "100000"};
    case Kind::compute:
      break;
  }
  const char* const workloads[] = {"matrixMul", "hotspot", "scan", "BlackScholes", "srad"};
  return {beside(std::string("workloads/") + workloads[draw(0, 4)]), "--seconds",
          fmt::format("0.{}", draw(1, 9))};
}

std::vector<std::string> probe_of_the_host() {
  return rogue("hold", "1", "1");
}

}  // namespace fairgv::bench::storm_experiment
