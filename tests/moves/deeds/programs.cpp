#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

constexpr std::size_t kMostPrograms = 3;  // of a context
constexpr std::size_t kMostKernels = 12;

/// Few, so that drivers find most builds in their caches.
const std::vector<std::string>& all_options() {
  static const std::vector<std::string> all = {"", "-D SALT=3", "-D SALT=5 -cl-std=CL1.2", "-DSALT=7 -w"};
  return all;
}

std::vector<Number> held_programs(const World& world, Number context) {
  std::vector<Number> held;
  for (std::size_t i = 0; i < world.programs.size(); ++i)
    if (world.programs[i].held && world.programs[i].context == context)
      held.push_back(static_cast<Number>(i));
  return held;
}

std::vector<Number> held_kernels(const World& world, Number context) {
  std::vector<Number> held;
  for (std::size_t i = 0; i < world.kernels.size(); ++i)
    if (world.kernels[i].held && world.kernels[i].context == context) held.push_back(static_cast<Number>(i));
  return held;
}

std::vector<Number> free_kernels(const World& world, Number context) {
  std::vector<Number> kernels = held_kernels(world, context);
  std::erase_if(kernels, [&](Number each) { return world.kernels[each].recorded; });
  return kernels;
}

bool may_make(const World& world, const KernelKind& kind) {
  return !world.can.only_portable || !kind.rounds;
}

void release(World& world, Number kernel) {
  world.emit(Release{Kind::kKernel, kernel});
  world.kernels[kernel].held = false;
}

}  // namespace

Number add_kernel(World& world, Number program, const KernelKind& kind) {
  const auto number = static_cast<Number>(world.kernels.size());
  world.kernels.push_back({program, world.programs[program].context, &kind,
                           std::vector<ArgumentModel>(kind.parameters.size()), true});
  world.emit(MakeKernel{number, program, kind.name});
  return number;
}

void make_program(World& world, Number context) {
  if (held_programs(world, context).size() >= kMostPrograms) return;
  const Module& module = world.random.of(modules());
  if (module.uses_images && !world.can.images) return;
  ProgramModel program{context, &module, Way::kBuild, true};
  if (!module.header_name.empty() || world.random.one_in(4)) {
    program.way = Way::kCompileAndLink;
  } else if (world.random.one_in(4) && !world.can.only_portable) {
    program.way = Way::kBinary;
  }
  const auto number = static_cast<Number>(world.programs.size());
  world.programs.push_back(program);
  world.emit(MakeProgram{number, context, program.way, module.sources, module.header_name, module.header,
                         world.random.of(all_options())});
  for (const KernelKind& kind : module.kernels)
    if ((world.random.one_in(3) || &kind == &module.kernels.front()) && may_make(world, kind))
      add_kernel(world, number, kind);
}

void rebuild_program(World& world, Number context) {
  std::vector<Number> programs = held_programs(world, context);
  std::erase_if(programs, [&](Number each) { return world.programs[each].way != Way::kBuild; });
  if (programs.empty()) return;
  const Number program = world.random.of(programs);
  std::vector<Number> kernels = held_kernels(world, context);
  std::erase_if(kernels, [&](Number each) { return world.kernels[each].program != program; });
  for (const Number each : kernels)
    if (world.kernels[each].recorded) return;
  // A launch that has not ended may hold its kernel.
  world.finish_all();
  for (const Number each : kernels) release(world, each);
  world.emit(Rebuild{program, world.random.of(all_options())});
  for (const KernelKind& kind : world.programs[program].module->kernels)
    if (world.random.one_in(2) && may_make(world, kind)) add_kernel(world, program, kind);
}

void release_program(World& world, Number context) {
  const std::vector<Number> programs = held_programs(world, context);
  if (programs.size() < 2) return;
  const Number program = world.random.of(programs);
  world.emit(Release{Kind::kProgram, program});
  world.programs[program].held = false;
}

void make_kernel(World& world, Number context) {
  const std::vector<Number> programs = held_programs(world, context);
  if (programs.empty() || held_kernels(world, context).size() >= kMostKernels) return;
  const Number program = world.random.of(programs);
  const KernelKind& kind = world.random.of(world.programs[program].module->kernels);
  if (may_make(world, kind)) add_kernel(world, program, kind);
}

void clone_kernel(World& world, Number context) {
  const std::vector<Number> kernels = held_kernels(world, context);
  if (kernels.empty() || kernels.size() >= kMostKernels) return;
  const Number from = world.random.of(kernels);
  for (const ArgumentModel& each : world.kernels[from].arguments)
    if (each.object != kNone && !argument_is_held(world, each)) return;
  const auto number = static_cast<Number>(world.kernels.size());
  world.kernels.push_back(KernelModel(world.kernels[from]));
  world.kernels.back().recorded = false;
  world.emit(CloneKernel{number, from});
}

void release_kernel(World& world, Number context) {
  const std::vector<Number> kernels = free_kernels(world, context);
  if (!kernels.empty()) release(world, world.random.of(kernels));
}

std::optional<Number> any_program(World& world, Number context) {
  const std::vector<Number> programs = held_programs(world, context);
  if (programs.empty()) return std::nullopt;
  return world.random.of(programs);
}

std::optional<Number> any_kernel(World& world, Number context) {
  const std::vector<Number> kernels = free_kernels(world, context);
  if (kernels.empty()) return std::nullopt;
  return world.random.of(kernels);
}

}  // namespace fairgv::moves
