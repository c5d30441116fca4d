#include "tests/moves/plan/order.hpp"

#include <algorithm>
#include <set>

namespace fairgv::moves {

Number Order::add_queue(bool out_of_order) {
  queues_.push_back({out_of_order, kNone, {}});
  return static_cast<Number>(queues_.size() - 1);
}

Number Order::add_user_event() {
  nodes_.push_back({});
  return static_cast<Number>(nodes_.size() - 1);
}

Number Order::add_command(Number queue, const std::vector<Number>& waits, Scope scope) {
  Queue& in = queues_[queue];
  Node node{queue, promised(queue), false};
  node.after.insert(node.after.end(), waits.begin(), waits.end());
  // With a wait list, markers and barriers wait for nothing else.
  if (scope != Scope::kCommand && waits.empty())
    node.after.insert(node.after.end(), in.pending.begin(), in.pending.end());
  std::erase_if(node.after, [&](Number each) { return nodes_[each].ended; });
  nodes_.push_back(std::move(node));
  const auto number = static_cast<Number>(nodes_.size() - 1);
  in.pending.push_back(number);
  if (!in.out_of_order || scope == Scope::kBarrier) in.barrier = number;
  return number;
}

std::vector<Number> Order::promised(Number queue) const {
  const Number barrier = queues_[queue].barrier;
  if (barrier == kNone || nodes_[barrier].ended) return {};
  return {barrier};
}

std::vector<Number> Order::closure(std::vector<Number> nodes) const {
  std::set<Number> seen;
  while (!nodes.empty()) {
    const Number node = nodes.back();
    nodes.pop_back();
    if (nodes_[node].ended || !seen.insert(node).second) continue;
    nodes.insert(nodes.end(), nodes_[node].after.begin(), nodes_[node].after.end());
  }
  return {seen.begin(), seen.end()};
}

bool Order::is_before(Number node, Number queue, const std::vector<Number>& waits) const {
  if (nodes_[node].ended) return true;
  std::vector<Number> from = promised(queue);
  from.insert(from.end(), waits.begin(), waits.end());
  const auto all = closure(std::move(from));
  return std::binary_search(all.begin(), all.end(), node);
}

void Order::end(Number node) {
  for (const Number each : closure({node})) {
    nodes_[each].ended = true;
    if (nodes_[each].queue != kNone) std::erase(queues_[nodes_[each].queue].pending, each);
  }
}

std::vector<Number> Order::user_events_before(const std::vector<Number>& nodes) const {
  auto all = closure(nodes);
  std::erase_if(all, [&](Number each) { return nodes_[each].queue != kNone; });
  return all;
}

}  // namespace fairgv::moves
