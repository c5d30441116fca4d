#include "runtime/vgpu/graph/command_graph.hpp"

#include <algorithm>
#include <iterator>

namespace fairgv::vgpu {
namespace {

bool has_ended(const std::weak_ptr<Node>& node) {
  const NodePtr alive = node.lock();
  return !alive || alive->ended();
}

}  // namespace

bool Node::note_failed_wait(std::int32_t failure) {
  failed_wait_ = lane_->after_failed_wait(failure);
  return failed_wait_ != 0;
}

CommandGraph::~CommandGraph() {
  while (first_pending_ != nullptr) {
    const NodePtr node = let_go(*first_pending_);
    node->dependents_.clear();
    node->waits_.clear();
    node->lane_->line_.clear();
  }
}

void CommandGraph::add(const NodePtr& node, std::span<const NodePtr> waits, bool named_waits,
                       std::int32_t failed_wait) {
  if (failed_wait != 0) node->note_failed_wait(failed_wait);
  for (const NodePtr& wait : waits) depend(*node, *wait, true);
  if (node->external()) return;
  keep(*node);
  if (node->lane_->in_order_) {
    node->lane_->line_.push_back(node);
  } else {
    order_out_of_order(*node, named_waits);
  }
  look_at(*node);
  run();
}

void CommandGraph::issued(Node& node) {
  node.stage_ = Node::Stage::issued;
  node.was_issued_ = true;
  for (Node::Edge& edge : node.dependents_) {
    // Another device has its own turn: a wait across devices is for the end.
    const bool same_driver =
        edge.is_explicit && edge.to->work_ == Work::device && edge.to->lane_->device_ == node.lane_->device_;
    if (edge.passed || !same_driver) continue;
    edge.passed = true;
    edge.to->unissued_ -= 1;
    agenda_.push_back(edge.to);
  }
  look_at(node);
  run();
}

void CommandGraph::completed(Node& node, std::int32_t status) {
  if (node.lane_->in_order_) {
    for (const NodePtr& earlier : node.lane_->line_) {
      if (earlier.get() == &node) break;
      if (earlier->stage_ == Node::Stage::issued && !earlier->observed) earlier->reported_ = true;
    }
  }
  node.error_ = status;
  node.reported_ = true;
  look_at(node);
  run();
}

NodePtr CommandGraph::refused(Node& node, std::int32_t error) {
  NodePtr uncovered;
  for (const NodePtr& earlier : node.lane_->line_) {
    if (earlier.get() == &node) break;
    const bool open = earlier->stage_ == Node::Stage::issued && !earlier->reported_;
    if (open) uncovered = earlier->observed ? nullptr : earlier;
  }
  if (uncovered) uncovered->observed = true;
  node.error_ = error;
  node.reported_ = true;
  look_at(node);
  run();
  return uncovered;
}

void CommandGraph::end_access(Node& node) {
  node.reported_ = true;
  look_at(node);
  run();
}

void CommandGraph::give_up_access(Node& node, std::int32_t error) {
  for (const NodePtr& behind : node.lane_->line_) {
    if (behind->error_ == 0) behind->error_ = error;
  }
  node.error_ = error;
  end_access(node);
}

void CommandGraph::end_external(Node& node, std::int32_t status) {
  finish(node, status);
  run();
}

void CommandGraph::keep(Node& node) {
  node.self_ = node.shared_from_this();
  node.next_ = first_pending_;
  if (first_pending_ != nullptr) first_pending_->previous_ = &node;
  first_pending_ = &node;
  ++pending_;
}

NodePtr CommandGraph::let_go(Node& node) {
  (node.previous_ != nullptr ? node.previous_->next_ : first_pending_) = node.next_;
  if (node.next_ != nullptr) node.next_->previous_ = node.previous_;
  --pending_;
  return std::move(node.self_);
}

void CommandGraph::depend(Node& node, Node& on, bool is_explicit) {
  const bool driver_can_wait = is_explicit && node.work_ == Work::device && on.work_ == Work::device &&
                               node.lane_->device_ == on.lane_->device_;
  const bool passed = driver_can_wait && on.stage_ == Node::Stage::issued;
  on.dependents_.push_back({node.shared_from_this(), is_explicit, passed});
  node.unended_ += 1;
  waits_ += 1;
  if (!passed) node.unissued_ += 1;
  if (driver_can_wait) node.waits_.push_back(on.shared_from_this());
}

void CommandGraph::order_out_of_order(Node& node, bool named_waits) {
  Lane& lane = *node.lane_;
  if (const NodePtr barrier = lane.barrier_.lock(); barrier && !barrier->ended()) {
    depend(node, *barrier, false);
  }
  const bool waits_for_all = (node.work_ == Work::marker || node.work_ == Work::barrier) && !named_waits;
  if (waits_for_all) {
    for (const auto& open : lane.open_) {
      if (const NodePtr earlier = open.lock(); earlier && !earlier->ended()) depend(node, *earlier, false);
    }
    lane.open_.clear();
  } else if (lane.open_.size() >= lane.sweep_at_) {
    std::erase_if(lane.open_, has_ended);
    lane.sweep_at_ = std::max<std::size_t>(64, 2 * lane.open_.size());
  }
  lane.open_.push_back(node.weak_from_this());
  if (node.work_ == Work::barrier) lane.barrier_ = node.weak_from_this();
}

void CommandGraph::finish(Node& node, std::int32_t status) {
  node.stage_ = Node::Stage::ended;
  node.error_ = status;
  newly_ended_.push_back(node.external() ? node.shared_from_this() : let_go(node));
  for (Node::Edge& edge : node.dependents_) {
    Node& to = *edge.to;
    if (!edge.passed) to.unissued_ -= 1;
    to.unended_ -= 1;
    if (edge.is_explicit && status < 0 && !to.was_issued_ && to.note_failed_wait(status)) {
      to.stage_ = Node::Stage::waiting;  // no longer ready, if it was
    }
    agenda_.push_back(std::move(edge.to));
  }
  waits_ -= node.dependents_.size();
  node.dependents_.clear();
  // Or a chain of waits would keep every command of the past. Not destroyed here: see let_go_of().
  std::move(node.waits_.begin(), node.waits_.end(), std::back_inserter(let_go_of_));
  node.waits_.clear();
}

void CommandGraph::make_ready(Node& node) {
  node.stage_ = Node::Stage::ready;
  newly_ready_.push_back(node.shared_from_this());
}

void CommandGraph::grant(Node& node) {
  node.granted_ = true;
  newly_granted_.push_back(node.shared_from_this());
}

void CommandGraph::advance(Lane& lane) {
  while (!lane.line_.empty()) {
    const NodePtr oldest = lane.line_.front();
    if (!oldest->is_over()) {
      if (oldest->may_be_granted()) grant(*oldest);
      break;
    }
    lane.line_.pop_front();
    if (lane.next_ > 0) --lane.next_;
    finish(*oldest, oldest->result());
  }
  for (; lane.next_ < lane.line_.size(); ++lane.next_) {
    // An error may still reach a node that waits and is not in the driver's hands; then it ends here, and the
    // nodes behind it must not have overtaken it.
    if (lane.next_ > 0 && lane.line_[lane.next_ - 1]->may_still_fail()) break;
    Node& node = *lane.line_[lane.next_];
    // A node that waits for nothing but the nodes before it holds up no node behind it: the driver keeps the
    // order.
    if (node.ends_by_itself() && node.unended_ == 0) continue;
    if (node.work_ != Work::device || node.doomed() || node.unissued_ != 0) break;
    make_ready(node);
  }
}

void CommandGraph::look_at(Node& node) {
  if (node.ended() || node.external()) return;
  if (node.lane_->in_order_) {
    advance(*node.lane_);
  } else if (node.is_over()) {
    finish(node, node.result());
  } else if (node.stage_ == Node::Stage::waiting && node.work_ == Work::device && !node.doomed() &&
             node.unissued_ == 0) {
    make_ready(node);
  } else if (node.may_be_granted()) {
    grant(node);
  }
}

void CommandGraph::run() {
  while (!agenda_.empty()) {
    const NodePtr node = std::move(agenda_.back());
    agenda_.pop_back();
    look_at(*node);
  }
}

}  // namespace fairgv::vgpu
