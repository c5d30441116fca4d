#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "tests/cuda/moves/random/deeds.hpp"

namespace fairgv::moves::cuda {
namespace {

/// Steps that follow each other without sleep, so that commands queue up.
constexpr std::size_t kBurst = 16;
constexpr std::size_t kCells = 3;

struct Deed {
  void (*does)(World& world);
  std::size_t weight;
  const char* name;
};

#define FAIRGV_DEED(name, weight) \
  { name, weight, #name }
const std::vector<Deed> kDeeds{
    FAIRGV_DEED(enqueue_commands, 60), FAIRGV_DEED(launch_graph, 12),  FAIRGV_DEED(make_buffer, 8),
    FAIRGV_DEED(free_buffer, 6),       FAIRGV_DEED(make_module, 2),    FAIRGV_DEED(unload_module, 2),
    FAIRGV_DEED(make_image, 2),        FAIRGV_DEED(destroy_image, 1),  FAIRGV_DEED(make_gate, 4),
    FAIRGV_DEED(remember_address, 4),  FAIRGV_DEED(set_constant, 3),   FAIRGV_DEED(write_from_host, 5),
    FAIRGV_DEED(make_stream, 3),       FAIRGV_DEED(destroy_stream, 2), FAIRGV_DEED(keep_event, 4),
    FAIRGV_DEED(wait_for_event, 4),    FAIRGV_DEED(drop_event, 2),     FAIRGV_DEED(synchronize, 3),
    FAIRGV_DEED(capture_graph, 4),     FAIRGV_DEED(build_graph, 3),    FAIRGV_DEED(change_graph, 3),
    FAIRGV_DEED(destroy_graph, 2),     FAIRGV_DEED(look, 8),           FAIRGV_DEED(look_at_all, 2)};
#undef FAIRGV_DEED

const Deed& any_deed(Random& random) {
  std::size_t all = 0;
  for (const Deed& each : kDeeds) all += each.weight;
  std::size_t at = random.below(all);
  for (const Deed& each : kDeeds) {
    if (at < each.weight) return each;
    at -= each.weight;
  }
  return kDeeds.front();
}

}  // namespace

void run(std::uint64_t seed, std::size_t steps, std::uint64_t stretch_ms, bool details) {
  World world(seed, details);
  for (std::size_t i = 0; i < kCells; ++i) world.cells.push_back(std::make_shared<Cell>());
  for (void (*const does)(World&) :
       {make_module, make_stream, make_buffer, make_buffer, make_buffer, make_image})
    does(world);
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds each =
      std::chrono::milliseconds(stretch_ms) / std::max<std::size_t>(steps, 1);
  for (std::size_t i = 0; i < steps; ++i) {
    if (i % kBurst == 0) std::this_thread::sleep_until(start + i * each);
    const Deed& deed = any_deed(world.random);
    if (details) std::fprintf(stderr, "step %zu: %s\n", i, deed.name);
    try {
      deed.does(world);
    } catch (const std::exception& problem) {
      throw std::runtime_error("step " + std::to_string(i) + ", " + deed.name + ": " + problem.what());
    }
  }
  look_at_all(world);
  release_everything(world);
  world.results.print_total();
}

}  // namespace fairgv::moves::cuda
