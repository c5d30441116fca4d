// The program as far as its plan has come: which objects there are, what the program holds, and in which
// order its commands use memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/moves/plan/kernels.hpp"
#include "tests/moves/plan/order.hpp"
#include "tests/moves/plan/plan.hpp"
#include "tests/moves/plan/random.hpp"

namespace fairgv::moves {

/// Bytes that several memory objects may show: of a buffer and its parts, of an image.
struct Storage {
  Number writer = kNone;        // the latest command that may have written
  std::vector<Number> readers;  // the commands since that may have read
  bool mapped = false;
};

/// How a command uses a storage.
struct Use {
  Number storage = kNone;
  bool writes = false;
};

enum class Shape { kBuffer, kImage, kSvm };

struct Memory {
  Number context = kNone, storage = kNone;
  Shape shape = Shape::kBuffer;
  cl_mem_flags flags = 0;
  std::size_t bytes = 0;
  bool is_part = false;         // a sub-buffer
  cl_mem_object_type type = 0;  // of an image
  Triple size{1, 1, 1};         // of an image, as origins and regions count
  std::size_t pixel = 0;        // bytes
  std::size_t format = 0;       // an index of the formats that plans use
  bool normalized = false;
  bool held = true;  // by the program
};

struct ContextModel {
  std::size_t device = 0;
  bool on_part = false;  // PoCL aborts a program that uses images there
  bool held = true;
};
struct QueueModel {
  Number context = kNone;
  bool profiling = false, out_of_order = false, has_unflushed = false, held = true;
  Number last = kNone;  // once it is released: a marker behind all of its commands
};
struct SamplerModel {
  Number context = kNone;
  bool exact = false;  // for coordinates in pixels
  bool held = true;
};
struct ProgramModel {
  Number context = kNone;
  const Module* module = nullptr;
  Way way = Way::kBuild;
  bool held = true;
};
struct ArgumentModel {
  bool set = false;
  bool is_sampler = false;
  Number object = kNone;     // memory or sampler
  std::size_t elements = 0;  // of local memory; the value of Parameter::kCount
};
struct KernelModel {
  Number program = kNone, context = kNone;
  const KernelKind* kind = nullptr;
  std::vector<ArgumentModel> arguments;
  bool held = true;
  bool recorded = false;  // a recording needs it as it is
};
struct EventModel {
  Number context = kNone;
  bool held = false, profiling = false;
  bool armed = false;  // a user event that will end by itself
  bool kept = false;   // the program must not release it
  bool has_callback = false;
};
struct MappingModel {
  Number memory = kNone, command = kNone;
  cl_map_flags flags = 0;
  bool open = true;
};
struct RecordingModel {
  Number queue = kNone, latest = kNone;  // the latest replay
  bool simultaneous = false, held = true;
  std::vector<Use> uses;
  std::vector<Number> memories, kernels;
};

class World {
 public:
  World(std::uint64_t seed, const Capabilities& capabilities) : random(seed), can(capabilities) {}

  Random random;
  const Capabilities can;
  Plan plan;
  Order order;
  std::vector<ContextModel> contexts;
  std::vector<QueueModel> queues;
  std::vector<Storage> storages;
  std::vector<Memory> memories;  // shared virtual memory, too
  std::vector<SamplerModel> samplers;
  std::vector<ProgramModel> programs;
  std::vector<KernelModel> kernels;
  std::vector<EventModel> events;  // of each node of `order`
  std::vector<MappingModel> mappings;
  std::vector<RecordingModel> recordings;
  Number arrays = 0;

  void emit(Step step) { plan.steps.push_back(std::move(step)); }
  Array new_array(std::size_t bytes) { return {arrays++, bytes}; }
  Data new_data(std::size_t bytes) { return {random.next(), bytes}; }

  /// Enqueues a command that begins when everything has ended that used its memory before, and perhaps more.
  /// Returns its node.
  Number enqueue(Number queue, Action action, const std::vector<Use>& uses, bool blocking = false);
  /// A marker or barrier behind these events; without them behind the whole queue. The program has its event.
  Number enqueue_marker(Number queue, const std::vector<Number>& waits, bool barrier);
  /// An open user event of the context.
  Number make_user_event(Number context);
  /// Lets the user events before these nodes end soon, so that the program may wait for the nodes.
  void arm_before(const std::vector<Number>& nodes);
  void arm(Number user_event);
  void finish(Number queue);
  /// Waits until every command of the program, or of the context, has ended.
  void finish_all(std::optional<Number> of = {});
  void wait_for(const std::vector<Number>& held_events);
  /// The program no longer holds the event. Commands yet to come may have to wait for its command all the
  /// same.
  void release_event(Number event);
  void release_queue(Number queue);

  // Random objects that the program holds; none if there are none.
  std::optional<Number> any_context();
  std::optional<Number> any_queue(Number context);
  /// Memory that is not mapped, has these flags not, and can hold at least `bytes`.
  std::optional<Number> any_memory(Number context, Shape shape, cl_mem_flags without, std::size_t bytes = 1);
  /// A buffer that is no part of another. PoCL 3.1 does not survive parts in copies of boxes.
  std::optional<Number> any_whole_buffer(Number context, std::size_t bytes);
  std::optional<Number> any_event(Number context);

  /// The event by which others may wait for the command: its own, or that of a new marker behind it.
  Number event_of(Number node);

 private:
  /// From now on memory that waits for `node` waits for `by`, which ends no sooner.
  void replace(Number node, Number by);
  std::vector<Number> hazards(const std::vector<Use>& uses) const;
  void flush_queues_of(const std::vector<Number>& waits, Number queue);
  void note(Number node, Number context, bool held, bool profiling);
};

}  // namespace fairgv::moves
