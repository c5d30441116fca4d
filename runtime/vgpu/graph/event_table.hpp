// The session's events: the node that an EventId stands for, and the front end's view of it (its completion
// slot, its watches).
//
// The worker writes the slots of commands and builds, and reads none, but for the time since which a call
// waits, which may be anything; user events' slots are the front end's own. An event lives from the call that
// names it first until ReleaseEvent; its node may end earlier or later. Externally synchronised, by the
// executor's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/vgpu/graph/notices.hpp"
#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu {

class EventTable {
 public:
  /// `most_watches`: the most notices that are to be posted or were not taken. `keep_waits`: ended_waits()
  /// are wanted.
  EventTable(const ring::Segment& segment, Notices& notices, std::uint64_t most_watches, bool keep_waits)
      : slots_(segment.slots()), most_watches_(most_watches), keep_waits_(keep_waits), notices_(notices) {}

  /// Makes `event` stand for `node`, which `made_by` has made. An Error (the front end broke the protocol) if
  /// the id is no slot's, or still in use.
  Result<void> add(wire::EventId event, const NodePtr& node, wire::Opcode made_by);

  /// Looks up the events of a wait list: appends the nodes that have not ended to `nodes`; `failure` becomes
  /// the error of an event that has ended in one. An Error if an event is unknown.
  Result<void> resolve(std::span<const wire::EventId> wait_list, std::vector<NodePtr>& nodes,
                       std::int32_t& failure);

  /// The user event that has not been set yet; an Error if the id is none.
  Result<NodePtr> unset_user_event(wire::EventId event);
  /// The node of an access that was granted and has not ended.
  Result<NodePtr> granted_access(wire::EventId event);

  /// Posts one notice when the event's status is `status` or lower: now or later. An Error also if the front
  /// end has asked for too many that it has not taken.
  Result<void> watch(wire::EventId event, std::int32_t status);

  /// The front end no longer looks: from now on neither its slot is written nor a notice posted.
  Result<void> release(wire::EventId event);

  /// The node has come as far as `status`, not yet ended.
  void progressed(const Node& node, std::int32_t status);

  /// The node has ended. `times` may be null.
  void ended(const Node& node, const CommandTimes* times);

  /// Whether a slot was written since the last call that a thread may wait for: then the caller rings the
  /// completion bell.
  bool take_awaited() { return std::exchange(awaited_, false); }

  /// An event, for a worker that takes the session over.
  struct State {
    wire::EventId event;
    std::int32_t status = kQueued;
    wire::Opcode made_by = 0;
    NodePtr node;  // until it has ended
    std::vector<std::int32_t> watched;
  };
  /// All that the front end has not released.
  std::vector<State> states() const;
  /// An event of another worker's, in an empty table; its node comes by attach(), if it has not ended. An
  /// Error if there is no such event, or too much is watched.
  Result<void> restore(const State& state);
  /// Makes the event stand for this node. False, and nothing is done, if it was not restored, or has ended.
  bool attach(wire::EventId event, const NodePtr& node);

  /// A wait that is over. The front end has told when it began, because somebody traces.
  struct EndedWait {
    std::uint64_t from_ns;  // anything: the front end wrote it
    std::uint32_t as;       // the same; see wire/call_names.hpp
    wire::Opcode made_by;   // the call that made the awaited event
    bool ended_by_program;  // it was an access
  };
  /// The caller takes them out.
  std::vector<EndedWait>& ended_waits() { return ended_waits_; }

 private:
  struct Entry {
    std::uint32_t generation = 0;  // 0: free
    std::int32_t status = kQueued;
    NodePtr node;  // until it has ended
    wire::Opcode made_by = 0;
    std::uint32_t awaited_as = 0;  // from the slot: by the end of an access it may be another event's
    std::uint64_t awaited_from = 0;
    std::vector<std::int32_t> watched;
  };

  Result<Entry*> new_entry(wire::EventId event);
  Entry* find(wire::EventId event);
  static bool write(std::atomic<std::uint64_t>& state, std::uint32_t generation, std::int32_t status);
  void set_status(Entry& entry, const Node& node, std::int32_t status);
  void note_wait(Entry& entry, const ring::CompletionSlot& slot) const;
  void note_end(Entry& entry, const Node& node);

  std::vector<Entry> entries_;  // by slot; as many as were ever used
  /// How often the front end may have changed a slot's state between two looks at it: it takes kQuiet back,
  /// or gives the slot to another event.
  static constexpr int kMostChanges = 8;

  std::span<ring::CompletionSlot> slots_;
  const std::uint64_t most_watches_;
  const bool keep_waits_;
  std::vector<EndedWait> ended_waits_;
  std::size_t watches_ = 0;  // of all entries
  Notices& notices_;
  bool awaited_ = false;
};

}  // namespace fairgv::vgpu
