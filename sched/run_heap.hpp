// The runnable tenants in the order in which they run: a four-way heap in one array, with the position of
// each member kept beside it, so that any member can be moved or taken out without a search.
//
// Why not std::set: a decision takes the front and puts it back further behind, and a balanced tree pays for
// that with an erase, an insert and a cache miss per level. Here four children share two cache lines, keys
// lie in the array itself, and nothing is allocated on the way (docs: tests/bench/micro/sched_decision.cpp
// measures it).
//
// Not thread-safe; used by FairQueue only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairgv::sched {

class RunHeap {
 public:
  // A small number that names a member; positions are kept in an array indexed by it.
  using Slot = std::uint32_t;

  // Smallest start tag first; among equals, the smallest arrival. Arrivals are unique, so the order is total
  // and the front does not depend on the heap's history.
  struct Key {
    std::uint64_t start_tag = 0;
    std::uint64_t arrival = 0;
  };

  // Makes room for slots 0..slots-1, so that push() does not allocate.
  void reserve(std::size_t slots);

  bool contains(Slot slot) const { return slot < position_.size() && position_[slot] != kAbsent; }
  bool empty() const { return nodes_.empty(); }
  std::size_t size() const { return nodes_.size(); }

  // The front. Precondition: not empty.
  Slot front_slot() const { return nodes_.front().slot; }
  Key front_key() const { return nodes_.front().key; }
  // The front if the front were not there. Precondition: two members or more.
  Slot second_slot() const;

  void push(Slot slot, Key key);   // precondition: absent, and room was made for the slot
  void erase(Slot slot);           // precondition: present
  void rekey(Slot slot, Key key);  // precondition: present

 private:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;
  static constexpr std::size_t kChildren = 4;

  struct Node {
    Key key;
    Slot slot = 0;
  };

  void place(std::size_t index, const Node& node);
  void settle(std::size_t hole,
              const Node& node);  // puts node where it belongs, starting from an unused index
  void sift_up(std::size_t hole, const Node& node);    // towards the front
  void sift_down(std::size_t hole, const Node& node);  // towards the back

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> position_;  // slot -> index in nodes_, or kAbsent
};

}  // namespace fairgv::sched
