#include "sched/run_heap.hpp"

#include <algorithm>

namespace fairgv::sched {
namespace {

// The pair as one number, compared without a jump. The smallest child is random, and a mispredicted jump per
// child costs more than the comparison.
__extension__ using Rank = unsigned __int128;

Rank rank(const RunHeap::Key& key) {
  return Rank{key.start_tag} << 64 | key.arrival;
}

bool before(const RunHeap::Key& a, const RunHeap::Key& b) {
  return rank(a) < rank(b);
}

// The index of the smallest of up to four children, the first of which is at index `first`. Precondition:
// there is a child.
template <typename Node>
inline std::size_t smallest_child(const Node* nodes, std::size_t size, std::size_t first) {
  const auto smaller = [nodes](std::size_t a, std::size_t b) {
    return a + (b - a) * std::size_t{before(nodes[b].key, nodes[a].key)};
  };
  if (first + 4 <= size) return smaller(smaller(first, first + 1), smaller(first + 2, first + 3));
  std::size_t best = first;
  for (std::size_t child = first + 1; child < size; ++child) best = smaller(best, child);
  return best;
}

}  // namespace

void RunHeap::reserve(std::size_t slots) {
  if (slots > nodes_.capacity()) nodes_.reserve(std::max(slots, 2 * nodes_.capacity()));
  if (slots > position_.size()) position_.resize(slots, kAbsent);
}

RunHeap::Slot RunHeap::second_slot() const {
  return nodes_[smallest_child(nodes_.data(), nodes_.size(), 1)].slot;
}

void RunHeap::push(Slot slot, Key key) {
  const Node node{key, slot};
  nodes_.push_back(node);
  sift_up(nodes_.size() - 1, node);
}

void RunHeap::erase(Slot slot) {
  const std::size_t hole = position_[slot];
  position_[slot] = kAbsent;
  const Node last = nodes_.back();
  nodes_.pop_back();
  if (hole < nodes_.size()) settle(hole, last);
}

void RunHeap::rekey(Slot slot, Key key) {
  settle(position_[slot], Node{key, slot});
}

void RunHeap::place(std::size_t index, const Node& node) {
  nodes_[index] = node;
  position_[node.slot] = static_cast<std::uint32_t>(index);
}

void RunHeap::settle(std::size_t hole, const Node& node) {
  if (hole > 0 && before(node.key, nodes_[(hole - 1) / kChildren].key)) {
    sift_up(hole, node);
  } else {
    sift_down(hole, node);
  }
}

void RunHeap::sift_up(std::size_t hole, const Node& node) {
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kChildren;
    if (!before(node.key, nodes_[parent].key)) break;
    place(hole, nodes_[parent]);
    hole = parent;
  }
  place(hole, node);
}

void RunHeap::sift_down(std::size_t hole, const Node& node) {
  static_assert(kChildren == 4, "smallest_child() is written for four");
  // Looked up once: the compiler cannot know that placing a node moves neither array.
  Node* const nodes = nodes_.data();
  std::uint32_t* const positions = position_.data();
  const std::size_t size = nodes_.size();
  const Rank own = rank(node.key);
  for (;;) {
    const std::size_t first = hole * kChildren + 1;
    if (first >= size) break;
    const std::size_t best = smallest_child(nodes, size, first);
    if (rank(nodes[best].key) >= own) break;
    nodes[hole] = nodes[best];
    positions[nodes[hole].slot] = static_cast<std::uint32_t>(hole);
    hole = best;
  }
  place(hole, node);
}

}  // namespace fairgv::sched
