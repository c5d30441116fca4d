// Runs conditional nodes of launched graphs: waits until the node's turn comes in its stream, reads the
// condition, puts a body into a stream of its own, waits for its end, and so on, while the launch's stream is
// held up (CUDA programming guide, "Conditional Graph Nodes"). The launch itself waits for nothing.
//
// Nodes in one stream are conducted by one thread, one after the other; nodes of different streams by
// different threads, because a body of one may be what another one's stream waits for. Bodies run in a stream
// that waits for no other: the legacy stream may be waiting for the launch's.
//
// The threads belong to this object. They end when there is nothing to do and others are idle, or by stop().
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda-shim/api/graph/conditional/condition.hpp"

namespace fairgv::cuda {

class Driver;
class Signal;
struct BodyStep;

/// A conditional node as a launch has found it. Later changes of the executable graph do not touch it.
struct ConditionalPlan {
  std::shared_ptr<Condition> condition;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::vector<std::vector<BodyStep>> bodies;
};

class Conductor {
 public:
  explicit Conductor(Driver& driver) : driver_(driver) {}
  Conductor(const Conductor&) = delete;
  Conductor& operator=(const Conductor&) = delete;

  /// Puts a conditional node into the stream. Any thread may call.
  CUresult enqueue(const std::shared_ptr<Stream>& stream, ConditionalPlan plan);
  /// The context ends: its loops end behind the bodies that run now, which are waited for, and no body begins
  /// any more.
  void give_up(CUcontext context);
  /// At the process' end: no body begins any more. Waits a while for those that run.
  void stop();

 private:
  /// A node in a stream.
  struct Run;
  /// The nodes of one stream, in its order.
  using Lane = std::deque<std::shared_ptr<Run>>;

  bool has_thread_for_one_more();
  void serve();
  void serve_lane(std::unique_lock<std::mutex>& guard, std::uint64_t stream);
  bool is_over(const Run& run) const;
  void conduct(Run& run);
  void perform(Run& run, const ConditionalPlan& plan);
  void settle(Run& run);

  Driver& driver_;
  std::mutex lock_;  // guards the members below
  std::condition_variable wanted_, changed_;
  std::map<std::uint64_t, Lane> lanes_;  // by the stream's id; none is empty
  std::deque<std::uint64_t> unserved_;   // lanes that no thread has
  std::size_t threads_ = 0, idle_ = 0;
  bool stopping_ = false;
};

}  // namespace fairgv::cuda
