#include "tests/moves/plan/world.hpp"

#include <algorithm>

namespace fairgv::moves {
namespace {

/// The numbers from 0 of all for which the condition holds.
template <class T, class Condition>
std::vector<Number> numbers_of(const std::vector<T>& all, const Condition& condition) {
  std::vector<Number> found;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (condition(all[i])) found.push_back(static_cast<Number>(i));
  return found;
}

std::optional<Number> one_of(Random& random, const std::vector<Number>& all) {
  if (all.empty()) return std::nullopt;
  return random.of(all);
}

/// The shortest and longest time until a user event ends.
constexpr std::uint32_t kSoonest = 100, kLatest = 5000;

}  // namespace

void World::note(Number node, Number context, bool held, bool profiling) {
  events.resize(node + 1);
  events[node] = {context, held, profiling};
}

std::vector<Number> World::hazards(const std::vector<Use>& uses) const {
  std::vector<Number> nodes;
  for (const Use& use : uses) {
    const Storage& storage = storages[use.storage];
    if (storage.writer != kNone) nodes.push_back(storage.writer);
    if (use.writes) nodes.insert(nodes.end(), storage.readers.begin(), storage.readers.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::erase_if(nodes, [&](Number node) { return order.has_ended(node); });
  return nodes;
}

void World::replace(Number node, Number by) {
  for (Storage& storage : storages) {
    if (storage.writer == node) storage.writer = by;
    std::replace(storage.readers.begin(), storage.readers.end(), node, by);
  }
}

Number World::event_of(Number node) {
  if (events[node].held) return node;
  if (const QueueModel& queue = queues[order.queue_of(node)]; !queue.held) return queue.last;
  const Number marker = enqueue_marker(order.queue_of(node), {}, false);
  replace(node, marker);
  return marker;
}

void World::flush_queues_of(const std::vector<Number>& waits, Number queue) {
  for (const Number each : waits) {
    if (order.is_user_event(each)) continue;
    const Number of = order.queue_of(each);
    if (of == queue || !queues[of].held || !queues[of].has_unflushed) continue;
    emit(Flush{of});
    queues[of].has_unflushed = false;
  }
}

Number World::enqueue(Number queue, Action action, const std::vector<Use>& uses, bool blocking) {
  const Number context = queues[queue].context;
  std::vector<Number> waits;
  for (const Number node : hazards(uses)) {
    const bool is_before = order.is_before(node, queue, waits);
    if (is_before && !(events[node].held && random.one_in(4))) continue;
    waits.push_back(is_before ? node : event_of(node));
  }
  // More than there must be: commands that have ended, too.
  for (std::uint64_t more = random.one_in(3) ? random.between(1, 2) : 0; more > 0; --more) {
    if (const auto event = any_event(context)) waits.push_back(*event);
  }
  if (!blocking && random.one_in(12)) waits.push_back(make_user_event(context));
  std::sort(waits.begin(), waits.end());
  waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  random.shuffle(waits);
  flush_queues_of(waits, queue);
  const bool held = !random.one_in(queues[queue].out_of_order ? 8 : 3);
  const Number node = order.add_command(queue, waits, Order::Scope::kCommand);
  note(node, context, held, queues[queue].profiling);
  if (blocking) {
    // Drivers may wait for the whole queue.
    arm_before(order.pending(queue));
  }
  emit(Enqueue{queue, std::move(action), waits, held ? node : kNone, blocking});
  queues[queue].has_unflushed = !blocking;
  if (blocking) order.end(node);
  for (const Use& use : uses) {
    Storage& storage = storages[use.storage];
    if (use.writes) {
      storage.writer = node;
      storage.readers.clear();
    } else {
      storage.readers.push_back(node);
    }
  }
  return node;
}

Number World::enqueue_marker(Number queue, const std::vector<Number>& waits, bool barrier) {
  flush_queues_of(waits, queue);
  const Number node =
      order.add_command(queue, waits, barrier ? Order::Scope::kBarrier : Order::Scope::kMarker);
  note(node, queues[queue].context, true, queues[queue].profiling);
  emit(Enqueue{queue, barrier ? Action(Barrier{}) : Action(Marker{}), waits, node, false});
  queues[queue].has_unflushed = true;
  return node;
}

Number World::make_user_event(Number context) {
  const Number node = order.add_user_event();
  note(node, context, true, false);
  emit(MakeUserEvent{node, context});
  return node;
}

void World::arm(Number user_event) {
  if (events[user_event].armed) return;
  events[user_event].armed = true;
  const bool now = random.one_in(3);
  emit(EndUserEvent{user_event, now ? 0 : static_cast<std::uint32_t>(random.between(kSoonest, kLatest))});
  if (now) order.end(user_event);
}

void World::arm_before(const std::vector<Number>& nodes) {
  for (const Number each : order.user_events_before(nodes)) arm(each);
}

void World::finish(Number queue) {
  arm_before(order.pending(queue));
  emit(Finish{queue});
  queues[queue].has_unflushed = false;
  const std::vector<Number> ended = order.pending(queue);
  for (const Number each : ended) order.end(each);
}

void World::wait_for(const std::vector<Number>& held_events) {
  arm_before(held_events);
  flush_queues_of(held_events, kNone);
  emit(WaitForEvents{held_events});
  for (const Number each : held_events) order.end(each);
}

void World::finish_all(std::optional<Number> of) {
  std::vector<Number> all = numbers_of(queues, [&](const QueueModel& each) {
    return contexts[each.context].held && (!of || each.context == *of);
  });
  random.shuffle(all);
  for (const Number each : all) arm_before(order.pending(each));
  for (const Number each : all) {
    if (queues[each].held) {
      finish(each);
    } else if (!order.has_ended(queues[each].last)) {
      wait_for({queues[each].last});
    }
  }
}

void World::release_event(Number event) {
  if (order.is_user_event(event)) {
    arm(event);
  } else if (const QueueModel& queue = queues[order.queue_of(event)]; !queue.held) {
    // Nothing more can be enqueued in that queue to wait for the command by.
    replace(event, queue.last);
  }
  emit(Release{Kind::kEvent, event});
  events[event].held = false;
}

void World::release_queue(Number queue) {
  const std::vector<Number> before = order.pending(queue);
  const Number last = enqueue_marker(queue, {}, false);
  for (const Number node : before)
    if (!events[node].held) replace(node, last);
  events[last].kept = true;
  queues[queue].last = last;
  emit(Release{Kind::kQueue, queue});
  queues[queue].held = false;
  queues[queue].has_unflushed = false;
}

std::optional<Number> World::any_context() {
  return one_of(random, numbers_of(contexts, [](const ContextModel& each) { return each.held; }));
}

std::optional<Number> World::any_queue(Number context) {
  return one_of(random, numbers_of(queues, [&](const QueueModel& each) {
                  return each.held && each.context == context;
                }));
}

std::optional<Number> World::any_memory(Number context, Shape shape, cl_mem_flags without,
                                        std::size_t bytes) {
  return one_of(random, numbers_of(memories, [&](const Memory& each) {
                  return each.held && each.context == context && each.shape == shape &&
                         (each.flags & without) == 0 && each.bytes >= bytes && !storages[each.storage].mapped;
                }));
}

std::optional<Number> World::any_whole_buffer(Number context, std::size_t bytes) {
  return one_of(random, numbers_of(memories, [&](const Memory& each) {
                  return each.held && each.context == context && each.shape == Shape::kBuffer &&
                         !each.is_part && each.bytes >= bytes && !storages[each.storage].mapped;
                }));
}

std::optional<Number> World::any_event(Number context) {
  return one_of(random, numbers_of(events, [&](const EventModel& each) {
                  return each.held && each.context == context;
                }));
}

}  // namespace fairgv::moves
