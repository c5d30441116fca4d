// The command graph: which commands of a session may be handed to the driver, and when the others end.
//
// Every command is a Node in the Lane of its queue. The graph knows nothing of drivers, devices' turns or
// time; it is told what happened (added, issued, completed) and answers with two lists: nodes that became
// ready to be issued, and nodes that ended.
//
// A device node is ready when everything it depends on has been issued to the same device or has ended: the
// driver itself then waits for nodes that are issued but have not ended, through Node::driver_waits() or the
// order of its own in-order queue. Markers, barriers, accesses and external nodes (user events, builds) never
// reach a driver; they count only once they have ended, so nothing that waits for a user event is ever in a
// driver's hands and the worker can never be blocked by something that only the client can provide (design,
// invariant 3).
//
// Errors follow the OpenCL 3.0 specification, section 5.11: a node whose explicit wait list contains a failed
// event ends with an error (FailedWaits) without being issued, and so on down. The order of an in-order queue
// passes no errors on.
//
// Pure logic, not thread-safe: the executor calls it with its lock held. Costs are O(1) per node and edge;
// nothing recurses, whatever the depth of the graph.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "runtime/vgpu/graph/pending_call.hpp"
#include "runtime/wire/execution.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu {

using wire::CommandTimes;
using wire::kComplete;
using wire::kOutOfResources;
using wire::kQueued;
using wire::kRunning;
using wire::kSubmitted;
using wire::kWaitListFailed;

/// How commands end that have a failed event in their wait list. They end with an error, says OpenCL 3.0
/// (5.11); the driver decides with which, and some drivers run such commands all the same (Intel's for CPUs).
/// Written by the loop thread, read with the executor's lock held; relaxed: a command that ends meanwhile may
/// go by either rule.
class FailedWaits {
 public:
  /// An error, or kPassedOn: that of the event, or kIgnored: as if it had not failed.
  using Rule = std::int32_t;
  static constexpr Rule kPassedOn = 1;
  static constexpr Rule kIgnored = 0;

  void set(Rule rule) { rule_.store(rule, std::memory_order_relaxed); }
  Rule rule() const { return rule_.load(std::memory_order_relaxed); }
  /// 0 with kIgnored.
  std::int32_t after(std::int32_t failure) const {
    const Rule now = rule();
    return now == kPassedOn ? failure : now;
  }

 private:
  std::atomic<Rule> rule_{kWaitListFailed};
};

class Lane;
class Node;
using NodePtr = std::shared_ptr<Node>;

enum class Work : std::uint8_t {
  device,   // runs on the device
  marker,   // ends when its wait list (or, without one, every earlier node of its lane) has ended
  barrier,  // a marker that later nodes of its lane wait for
  nothing,  // takes a command's place and has nothing to do: a map, a launch of no work-items
  access,   // the front end's own: granted when all it depends on has ended; ends when the front end says so
  user,     // a user event: ends when the front end says so; has no lane
  host,     // something the worker does itself, a build: ends when the worker says so; has no lane
};

class Node : public std::enable_shared_from_this<Node> {
 public:
  /// `error`, if negative: the node ends with it instead of being issued (it uses a poisoned object).
  explicit Node(Work work, std::shared_ptr<Lane> lane = nullptr, std::int32_t error = 0)
      : lane_(std::move(lane)), error_(error), work_(work) {}
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Work work() const { return work_; }
  Lane* lane() const { return lane_.get(); }
  bool ready() const { return stage_ == Stage::ready; }
  bool ended() const { return stage_ == Stage::ended; }
  bool external() const { return work_ == Work::user || work_ == Work::host; }
  /// An access whose turn it was, so that the front end may end it.
  bool granted() const { return granted_; }
  /// Whether it was issued before it ended.
  bool was_issued() const { return was_issued_; }
  /// An access was granted. With the executor's lock held.
  virtual void was_granted() {}
  /// Of a mark of the program: the number of its label (session/service_unit.hpp); else 0.
  virtual std::uint64_t mark() const { return 0; }
  /// Makes a node that was not added yet end with an error instead of being issued.
  void fail(std::int32_t error) { error_ = error; }
  /// The same as if a node of its wait list had ended with an error that is this node's, too.
  void fail_by_wait(std::int32_t error) { failed_wait_ = error; }
  /// CL_COMPLETE or an error, once ended.
  std::int32_t status() const { return error_; }

  /// Explicit dependencies that were issued to the same device and may not have ended when this node became
  /// ready: the driver's wait list. Constant from issued() until the node ends.
  std::span<const NodePtr> driver_waits() const { return waits_; }

  /// The event that shows the node's status, or none. The executor's (and its lock's).
  wire::EventId event;
  /// The call that has made it, as the other: none of external nodes, and of the worker's own.
  PendingCall made_by;
  /// Of a call that has made several nodes: which of them this is, from 1 on; else 0.
  std::uint32_t place_in_call = 0;
  /// Of an access: the program's own code ends it, and that code may itself wait for anything.
  bool program_ends = false;
  /// The worker's own, for which no other waits: a session that moves goes without it.
  bool stays_behind = false;
  /// Whether the driver will report this node's end. In an in-order lane the report of a later node tells as
  /// much. To be set before issued().
  bool observed = true;

 private:
  friend class CommandGraph;
  enum class Stage : std::uint8_t { waiting, ready, issued, ended };

  struct Edge {
    NodePtr to;
    bool is_explicit;  // named in the wait list: an error is passed on
    bool passed;       // no longer counted in to->unissued_
  };

  bool doomed() const { return failed_wait_ != 0 || error_ != 0; }
  /// Ends without the device, as soon as nothing before it is left.
  bool ends_by_itself() const {
    return !was_issued_ && (work_ == Work::marker || work_ == Work::barrier || work_ == Work::nothing ||
                            ((work_ == Work::device || work_ == Work::access) && doomed() && !granted_));
  }
  /// The driver may tell the end of a node before it tells that of another that it has waited for: its
  /// threads overtake each other. A program that sees this node's end must see the other's.
  bool is_over() const { return unended_ == 0 && (reported_ || ends_by_itself()); }
  bool may_still_fail() const { return !was_issued_ && unended_ != 0; }
  bool may_be_granted() const { return work_ == Work::access && !granted_ && !doomed() && unended_ == 0; }
  std::int32_t result() const { return failed_wait_ != 0 && !was_issued_ ? failed_wait_ : error_; }
  /// An event of the wait list has ended with `failure`; whether that keeps the node from running.
  bool note_failed_wait(std::int32_t failure);

  std::shared_ptr<Lane> lane_;
  std::vector<Edge> dependents_;
  std::vector<NodePtr> waits_;
  std::uint32_t unissued_ = 0;  // dependencies that keep it from being issued
  std::uint32_t unended_ = 0;   // dependencies that have not ended
  std::int32_t error_;          // as constructed, then as reported
  const Work work_;
  Stage stage_ = Stage::waiting;
  std::int32_t failed_wait_ = 0;  // the error because a node of the wait list has failed
  bool was_issued_ = false;
  bool granted_ = false;
  bool reported_ = false;  // the driver is done with it; in-order lanes end it in turn

  // Keeps the node alive while it is pending: the driver knows it by its address. In the graph's list.
  NodePtr self_;
  Node* previous_ = nullptr;
  Node* next_ = nullptr;
};

/// The clock of the times that the front end gets for a lane's commands.
enum class Clock : std::uint8_t {
  none,
  device,  // the driver's times of each command
  host,    // when a marker ended, by the worker's steady clock
};

/// The order that a command queue gives its commands. Shared by the queue and its unfinished nodes.
class Lane {
 public:
  Lane(bool in_order, wire::DeviceIndex device, Clock clock = Clock::none)
      : device_(device), in_order_(in_order), clock_(clock) {}

  wire::DeviceIndex device() const { return device_; }
  bool in_order() const { return in_order_; }
  Clock clock() const { return clock_; }

  /// The rule of the driver's; before the first node.
  void set_failed_waits(std::shared_ptr<const FailedWaits> rule) { failed_waits_ = std::move(rule); }
  /// The status with which a node of the lane ends after an event of its wait list has ended with `failure`;
  /// 0: the node runs.
  std::int32_t after_failed_wait(std::int32_t failure) const {
    return failed_waits_ ? failed_waits_->after(failure) : kWaitListFailed;
  }

  /// When the latest command ended, by the device's clock. The executor's (and its lock's).
  std::uint64_t last_ended = 0;

 private:
  friend class CommandGraph;

  const wire::DeviceIndex device_;
  const bool in_order_;
  const Clock clock_;
  std::shared_ptr<const FailedWaits> failed_waits_;

  // In order: the nodes that have not ended, oldest first. Those before `next_` are ready, issued, or wait
  // only for the nodes before them. Completions are taken in this order, so a lane needs no edges.
  std::deque<NodePtr> line_;
  std::size_t next_ = 0;

  // Out of order: the latest barrier, and what a marker without a wait list has to wait for: the nodes since
  // the latest such marker, and that marker. Weak: ended nodes must not be kept. Swept now and then.
  std::weak_ptr<Node> barrier_;
  std::vector<std::weak_ptr<Node>> open_;
  std::size_t sweep_at_ = 64;
};

class CommandGraph {
 public:
  CommandGraph() = default;
  /// Lets go of all pending nodes. No driver may still report one.
  ~CommandGraph();
  CommandGraph(const CommandGraph&) = delete;
  CommandGraph& operator=(const CommandGraph&) = delete;

  /// Adds a new node that waits for `waits`, which have not ended. `named_waits`: whether its wait list named
  /// any event at all. `failed_wait`: the error of an event in it that has already failed, or 0.
  void add(const NodePtr& node, std::span<const NodePtr> waits, bool named_waits, std::int32_t failed_wait);

  /// The executor hands a ready node to its driver now. Nodes are issued to a lane in the order in which they
  /// became ready.
  void issued(Node& node);

  /// The driver has reported the end of an issued node that is observed. In an in-order lane this also ends
  /// the unobserved nodes before it. Nodes end after those that they wait for, in whatever order they are
  /// reported.
  void completed(Node& node, std::int32_t status);

  /// The driver did not take an issued node. Says nothing about the nodes before it: if one of those was
  /// waiting to be covered by this node's report, it is returned, now marked as observed, and the caller must
  /// see to it that its end is reported.
  NodePtr refused(Node& node, std::int32_t error);

  /// Ends an access that was granted.
  void end_access(Node& node);
  /// Ends an access that was granted with an error, and so the nodes behind it in its in-order lane, which
  /// all wait for it and have not been issued.
  void give_up_access(Node& node, std::int32_t error);

  /// Ends an external node.
  void end_external(Node& node, std::int32_t status);

  /// Nodes that became ready, in order; the caller takes them. A node may stop being ready() before it is
  /// issued, when an error reaches it: it must then be dropped.
  std::vector<NodePtr>& newly_ready() { return newly_ready_; }
  /// Accesses that were granted; the caller takes them.
  std::vector<NodePtr>& newly_granted() { return newly_granted_; }
  /// Nodes that ended, in order; the caller takes them.
  std::vector<NodePtr>& newly_ended() { return newly_ended_; }

  /// Nodes that ended earlier and that nothing here needs any more; the caller takes them. It may have the
  /// last reference to one, and destroying a command calls into the driver, and back into the caller.
  std::vector<NodePtr>& let_go_of() { return let_go_of_; }

  /// Appends the nodes that end without the program's doing: neither they nor the nodes before them wait for
  /// an external node, or for an access that code of the program ends. Looks at all nodes.
  void collect_moving(std::vector<NodePtr>& moving) const;

  /// A node that has not ended, for a worker that takes the session over.
  struct Standing {
    NodePtr node;
    std::int32_t error = 0;        // with which it ends instead of being issued, by itself
    std::int32_t failed_wait = 0;  // the same because of its wait list
    /// The nodes of its wait list that have not ended: places in the list of these nodes, external ones
    /// first; kNever: an external node that nobody can end any more.
    std::vector<std::uint32_t> waits{};
  };
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};
  /// The nodes that have not ended, in the order in which they were added, behind these external ones. None
  /// is in a driver's hands. Looks at all nodes.
  std::vector<Standing> standing(std::span<const NodePtr> external) const;
  /// The nodes that are in a driver's hands. Looks at all nodes.
  std::vector<NodePtr> under_way() const;

  /// Nodes that have not ended, external ones left out.
  std::uint64_t pending() const { return pending_; }
  /// How often a node waits for another that has not ended.
  std::uint64_t waits() const { return waits_; }

 private:
  void keep(Node& node);
  NodePtr let_go(Node& node);
  void depend(Node& node, Node& on, bool is_explicit);
  void order_out_of_order(Node& node, bool named_waits);
  void finish(Node& node, std::int32_t status);
  void make_ready(Node& node);
  void grant(Node& node);
  void advance(Lane& lane);
  void look_at(Node& node);
  void run();

  std::vector<NodePtr> newly_ready_;
  std::vector<NodePtr> newly_granted_;
  std::vector<NodePtr> newly_ended_;
  std::vector<NodePtr> let_go_of_;
  std::vector<NodePtr> agenda_;  // nodes to look at, because something that they wait for has moved
  Node* first_pending_ = nullptr;
  std::uint64_t pending_ = 0;
  std::uint64_t waits_ = 0;
};

}  // namespace fairgv::vgpu
