#include "tests/moves/deeds/generator.hpp"

#include <algorithm>
#include <numeric>

#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

constexpr std::size_t kMostContexts = 3;

struct Deed {
  void (*does)(World& world, Number context);
  std::size_t weight;
};

constexpr Deed kDeeds[] = {{make_buffer, 6},
                           {make_sub_buffer, 4},
                           {make_image, 4},
                           {make_image_of_buffer, 2},
                           {make_sampler, 1},
                           {make_svm, 2},
                           {release_memory, 8},
                           {release_sampler, 1},
                           {make_program, 1},
                           {rebuild_program, 1},
                           {release_program, 1},
                           {make_kernel, 6},
                           {clone_kernel, 2},
                           {release_kernel, 4},
                           {launch, 50},
                           {read_buffer, 8},
                           {write_buffer, 6},
                           {fill_buffer, 4},
                           {copy_buffer, 6},
                           {transfer_rect, 5},
                           {copy_rect, 3},
                           {migrate_memory, 1},
                           {transfer_svm, 4},
                           {transfer_image, 6},
                           {copy_image, 3},
                           {copy_between_image_and_buffer, 4},
                           {open_mapping, 4},
                           {close_mapping, 6},
                           {mark, 4},
                           {flush, 2},
                           {finish, 2},
                           {wait_for_events, 4},
                           {make_user_event, 3},
                           {end_user_event, 4},
                           {add_callback, 6},
                           {release_events, 8},
                           {look, 6},
                           {retain_and_release, 2},
                           {record, 2},
                           {replay, 6},
                           {release_recording, 1},
                           {make_mistake, 3},
                           {make_queue, 1},
                           {release_queue, 1},
                           {release_context, 2}};

std::size_t held_contexts(const World& world) {
  return static_cast<std::size_t>(std::count_if(world.contexts.begin(), world.contexts.end(),
                                                [](const ContextModel& each) { return each.held; }));
}

const Deed& any_deed(Random& random) {
  static const std::size_t all =
      std::accumulate(std::begin(kDeeds), std::end(kDeeds), std::size_t{0},
                      [](std::size_t sum, const Deed& each) { return sum + each.weight; });
  std::size_t at = random.below(all);
  for (const Deed& each : kDeeds) {
    if (at < each.weight) return each;
    at -= each.weight;
  }
  return kDeeds[0];
}

}  // namespace

Plan make_plan(std::uint64_t seed, std::size_t deeds, const Capabilities& can) {
  World world(seed, can);
  for (std::uint64_t more = world.random.between(1, 2); more > 0; --more) make_context(world);
  for (std::size_t i = 0; i < deeds; ++i) {
    if (world.random.one_in(40)) check(world);
    if (held_contexts(world) < kMostContexts && world.random.one_in(120)) make_context(world);
    if (const auto context = world.any_context()) any_deed(world.random).does(world, *context);
  }
  release_all(world);
  return std::move(world.plan);
}

}  // namespace fairgv::moves
