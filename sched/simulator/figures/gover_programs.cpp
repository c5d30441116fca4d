#include "sched/simulator/figures/gover_programs.hpp"

#include <cmath>
#include <numbers>

namespace fairgv::sched::gover {
namespace {

using namespace std::chrono_literals;

/// Not a standard distribution: those differ between libraries.
double uniform(double low, double high, std::mt19937_64& random) {
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

TenantSpec frames(Duration command, std::uint32_t commands, Duration period, double target, Share cap) {
  TenantSpec spec{.kernel = command, .burst = commands, .period = period};
  spec.attributes.max = cap;
  spec.attributes.units_per_second = target;
  return spec;
}

TenantSpec glmark2_of(const std::vector<LoadPhase>& scenes, Share cap) {
  TenantSpec spec =
      frames(500us, 2 * kGlmark2Burst, 3'300us * kGlmark2Burst, kGlmark2Target / kGlmark2Burst, cap);
  spec.phases = scenes;
  return spec;
}

}  // namespace

TenantSpec glxgears(Share cap) {
  return frames(710us, 2, 16'700us, 50, cap);
}

TenantSpec glmark2(Share cap, std::mt19937_64& random) {
  std::vector<LoadPhase> scenes;
  for (int scene = 0; scene < 40; ++scene) {
    const bool heavy = uniform(0, 1, random) < 0.2;
    const double factor = heavy ? uniform(1.5, 2.2, random) : uniform(0.5, 1.3, random);
    scenes.push_back({Duration(std::llround(uniform(8e9, 12e9, random))), factor});
  }
  return glmark2_of(scenes, cap);
}

TenantSpec glmark2_with_a_heavy_part(Share cap) {
  return glmark2_of({{110s, 0.9}, {120s, 1.9}, {1h, 0.9}}, cap);
}

TenantSpec plot3d(Share cap) {
  TenantSpec spec = frames(875us, 16, 18ms, 30, cap);
  for (int step = 0; step < 10; ++step) {
    spec.phases.push_back({2s, 0.98 + 0.12 * std::sin(step * 2 * std::numbers::pi / 10)});
  }
  return spec;
}

std::vector<TenantSpec> random_programs(std::size_t count, const Caps& caps, std::uint64_t seed,
                                        std::size_t draw) {
  std::mt19937_64 kinds(seed + draw / 3);  // the same for all three draws
  std::mt19937_64 scenes(seed + draw);
  std::vector<TenantSpec> programs;
  while (programs.size() < count) {
    const std::uint64_t random = kinds() >> 8;
    const std::uint64_t step = 1 + random % 2;  // either way round
    switch ((random / 2 + step * (draw % 3)) % 3) {
      case 0:
        programs.push_back(glxgears(caps.glxgears));
        break;
      case 1:
        programs.push_back(glmark2(caps.glmark2, scenes));
        break;
      default:
        programs.push_back(plot3d(caps.plot3d));
    }
  }
  return programs;
}

}  // namespace fairgv::sched::gover
