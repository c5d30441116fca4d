// Which commands of a plan have ended when others begin, by the rules of OpenCL: what queues, wait lists and
// barriers promise, whatever the device does first.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/moves/plan/commands.hpp"

namespace fairgv::moves {

class Order {
 public:
  /// The earlier commands that a command waits for, beside its wait list and the promises of its queue.
  enum class Scope { kCommand, kMarker, kBarrier };

  Number add_queue(bool out_of_order);
  /// A user event: a node without a queue, which ends when the program says so.
  Number add_user_event();
  /// A command in `queue` behind the nodes of `waits`.
  Number add_command(Number queue, const std::vector<Number>& waits, Scope scope);

  /// Whether a command that is enqueued in `queue` with these waits begins when `node` has ended.
  bool is_before(Number node, Number queue, const std::vector<Number>& waits) const;
  /// The node has ended, and so has everything that it waited for.
  void end(Number node);
  bool has_ended(Number node) const { return nodes_[node].ended; }
  /// The queue of a command.
  Number queue_of(Number node) const { return nodes_[node].queue; }
  bool is_user_event(Number node) const { return nodes_[node].queue == kNone; }
  /// The commands in `queue` that may not have ended.
  const std::vector<Number>& pending(Number queue) const { return queues_[queue].pending; }
  /// The user events that have not ended among the nodes and what they wait for.
  std::vector<Number> user_events_before(const std::vector<Number>& nodes) const;

 private:
  struct Node {
    Number queue = kNone;
    std::vector<Number> after;
    bool ended = false;
  };
  struct Queue {
    bool out_of_order = false;
    Number barrier = kNone;  // the latest; in order: the latest command
    std::vector<Number> pending;
  };

  /// The nodes and all that they wait for, without those that have ended.
  std::vector<Number> closure(std::vector<Number> nodes) const;
  std::vector<Number> promised(Number queue) const;

  std::vector<Node> nodes_;
  std::vector<Queue> queues_;
};

}  // namespace fairgv::moves
