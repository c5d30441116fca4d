#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {

void make_mistake(World& world, Number context) {
  const auto queue = world.any_queue(context);
  const auto program = any_program(world, context);
  if (!queue) return;
  // Drivers answer the others differently.
  std::size_t kind = world.random.below(world.can.only_portable ? 2 : 4);
  if (world.can.failing_events && world.random.one_in(2)) kind = 3;
  switch (kind) {
    case 0: {
      if (!program) return;
      const Number kernel = add_kernel(world, *program, world.programs[*program].module->kernels.front());
      world.emit(LaunchWithoutArguments{*queue, kernel});
      world.emit(Release{Kind::kKernel, kernel});
      world.kernels[kernel].held = false;
      return;
    }
    case 1:
      world.emit(BuildWithError{context, world.random.below(4)});
      return;
    case 2: {
      const auto memory = world.any_memory(context, Shape::kBuffer, 0);
      const auto kernel = any_kernel(world, context);
      if (memory && kernel) world.emit(WrongCalls{*queue, *memory, *kernel});
      return;
    }
    default:
      world.emit(FailUserEvent{
          context, world.random.between(1, 3), -static_cast<cl_int>(world.random.between(1, 50)),
          world.random.one_in(2) ? 0 : static_cast<std::uint32_t>(world.random.between(100, 3000))});
  }
}

}  // namespace fairgv::moves
