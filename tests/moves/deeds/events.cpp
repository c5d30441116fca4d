#include <algorithm>

#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

constexpr std::size_t kMostEvents = 24;  // that the program holds, of a context

std::vector<Number> held_events(const World& world, Number context) {
  std::vector<Number> held;
  for (std::size_t i = 0; i < world.events.size(); ++i)
    if (world.events[i].held && world.events[i].context == context) held.push_back(static_cast<Number>(i));
  return held;
}

std::vector<Number> some_of(Random& random, std::vector<Number> all, std::size_t most) {
  random.shuffle(all);
  all.resize(std::min(all.size(), random.between(1, most)));
  return all;
}

}  // namespace

void mark(World& world, Number context) {
  const auto queue = world.any_queue(context);
  if (!queue) return;
  std::vector<Number> waits;
  if (const auto held = held_events(world, context); !held.empty() && world.random.one_in(2))
    waits = some_of(world.random, held, 4);
  world.enqueue_marker(*queue, waits, world.random.one_in(2));
}

void flush(World& world, Number context) {
  const auto queue = world.any_queue(context);
  if (!queue) return;
  world.emit(Flush{*queue});
  world.queues[*queue].has_unflushed = false;
}

void finish(World& world, Number context) {
  if (const auto queue = world.any_queue(context)) world.finish(*queue);
}

void wait_for_events(World& world, Number context) {
  const auto held = held_events(world, context);
  if (!held.empty()) world.wait_for(some_of(world.random, held, 4));
}

void make_user_event(World& world, Number context) {
  world.make_user_event(context);
}

void end_user_event(World& world, Number context) {
  std::vector<Number> open = held_events(world, context);
  std::erase_if(open,
                [&](Number each) { return !world.order.is_user_event(each) || world.events[each].armed; });
  if (!open.empty()) world.arm(world.random.of(open));
}

void add_callback(World& world, Number context) {
  const auto event = world.any_event(context);
  if (!event) return;
  world.events[*event].has_callback = true;
  static const std::vector<cl_int> all = {CL_COMPLETE, CL_COMPLETE, CL_RUNNING, CL_SUBMITTED};
  world.emit(AddCallback{*event, world.order.is_user_event(*event) ? CL_COMPLETE : world.random.of(all)});
}

void release_events(World& world, Number context) {
  std::vector<Number> held = held_events(world, context);
  std::erase_if(held, [&](Number each) { return world.events[each].kept; });
  if (held.empty()) return;
  const std::size_t too_many = held.size() > kMostEvents ? held.size() - kMostEvents : 0;
  for (const Number each : some_of(world.random, held, too_many + 3)) world.release_event(each);
}

void look(World& world, Number context) {
  static const std::vector<Kind> kinds = {Kind::kContext, Kind::kQueue,  Kind::kMemory, Kind::kSampler,
                                          Kind::kProgram, Kind::kKernel, Kind::kEvent};
  const Kind kind = world.random.of(kinds);
  const auto look_at = [&](std::optional<Number> number) {
    if (number) world.emit(LookAtObject{kind, *number});
  };
  switch (kind) {
    case Kind::kContext:
      return look_at(context);
    case Kind::kQueue:
      return look_at(world.any_queue(context));
    case Kind::kMemory:
      return look_at(world.any_memory(context, world.random.one_in(3) ? Shape::kImage : Shape::kBuffer, 0));
    case Kind::kProgram: {
      const auto program = any_program(world, context);
      // Drivers do not agree on the source of a program that was linked.
      if (program && world.can.only_portable && world.programs[*program].way == Way::kCompileAndLink) return;
      return look_at(program);
    }
    case Kind::kKernel:
      return look_at(any_kernel(world, context));
    default: {
      std::vector<Number> ended = held_events(world, context);
      std::erase_if(ended, [&](Number each) { return !world.order.has_ended(each); });
      if (ended.empty()) return;
      const Number event = world.random.of(ended);
      world.emit(LookAtEvent{event, world.events[event].profiling});
    }
  }
}

void retain_and_release(World& world, Number context) {
  const auto twice = [&](Kind kind, std::optional<Number> number) {
    if (!number) return;
    world.emit(Retain{kind, *number});
    world.emit(Release{kind, *number});
  };
  twice(Kind::kContext, context);
  twice(Kind::kQueue, world.any_queue(context));
  twice(Kind::kMemory, world.any_memory(context, Shape::kBuffer, 0));
  twice(Kind::kProgram, any_program(world, context));
  twice(Kind::kKernel, any_kernel(world, context));
  twice(Kind::kEvent, world.any_event(context));
}

}  // namespace fairgv::moves
