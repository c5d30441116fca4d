// All that an executor has to do and to tell, as another worker's goes on with it.
//
// Nodes are known by their places in one list: first the external ones (user events), then the others in the
// order in which they were queued.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/vgpu/graph/event_table.hpp"
#include "runtime/wire/calls/notices.hpp"
#include "runtime/wire/ids.hpp"
#include "sched/command_history.hpp"
#include "slicing/launch.hpp"

namespace fairgv::vgpu {

struct Standing {
  std::vector<EventTable::State> events;
  std::vector<NodePtr> user_events;           // that were not set
  std::vector<CommandGraph::Standing> nodes;  // these user events first
  std::vector<wire::EventReached> notices;    // that the front end has had no room for
  /// The time that commands take, by device.
  std::vector<std::vector<sched::CommandHistory::Known>> histories;
};

/// The beginning of the same in another worker.
struct RestoredEvents {
  std::vector<EventTable::State> events;  // without nodes
  std::vector<wire::EventId> user_events;
  std::vector<wire::EventReached> notices;
  std::vector<std::pair<wire::DeviceIndex, sched::CommandHistory::Known>> histories;  // of any device
};

/// A command that is queued again.
struct RestoredCommand {
  wire::EventId event;  // or none
  std::uint32_t part = 0;
  std::int32_t error = 0;
  std::int32_t failed_wait = 0;
  std::vector<std::uint32_t> waits{};  // places
  /// A launch of so many work-groups, of which the first have been run in parts; 0: none.
  std::uint64_t begun = 0;
  slicing::Extent groups{};
};

}  // namespace fairgv::vgpu
