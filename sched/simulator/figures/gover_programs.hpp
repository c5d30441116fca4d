// Programs in the manner of gOver's benchmarks (sections 4.1 and 4.2), for the simulator. A frame is a burst
// of commands; its period is the time in which the host prepares the next one.
//
// Chosen here from what the paper says of them: on the whole device glxgears renders 500 frames per second
// and uses 8.5 % of the device ("its utilization even cannot reach 20 %" under a cap of 50 %); glmark2
// renders some 300, uses 15 to 66 % depending on its scene, and wants 200; plot3D uses all of a cap of 50 %,
// wants 30 frames per second, and needs 36 to 48 % of the device for them, about seven times as much as
// glxgears.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "sched/simulator/program.hpp"

namespace fairgv::sched::gover {

inline constexpr std::uint32_t kGlmark2Burst = 3;  // frames
inline constexpr double kGlmark2Target = 200;      // frames per second

/// Each under so large a cap.
TenantSpec glxgears(Share cap);
/// Scenes of 8 to 12 s, chosen at random; one in five is heavy.
TenantSpec glmark2(Share cap, std::mt19937_64& random);
/// One heavy scene from second 110 to 230, light ones before and after (figure 9).
TenantSpec glmark2_with_a_heavy_part(Share cap);
/// The load rises and falls once in 20 s.
TenantSpec plot3d(Share cap);

/// The caps with which customers of the three come.
struct Caps {
  Share glxgears;
  Share glmark2;
  Share plot3d;

  static Caps all(Share cap) { return {cap, cap, cap}; }
};

/// The need of the targets in the heaviest scenes, and some more.
inline constexpr Caps kPessimistic{{150'000}, {500'000}, {500'000}};

/// The same arguments give the same programs. Of draws 3n, 3n + 1 and 3n + 2, each has another of the three
/// programs in the same place: so a few draws have all programs equally often, and means depend less on luck.
std::vector<TenantSpec> random_programs(std::size_t count, const Caps& caps, std::uint64_t seed,
                                        std::size_t draw);

}  // namespace fairgv::sched::gover
