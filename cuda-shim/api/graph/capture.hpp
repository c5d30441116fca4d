// Captures under way: streams whose commands become nodes of a graph (CUDA Driver API, "Stream Management",
// cuStreamBeginCapture; CUDA programming guide, "Stream Capture").
//
// A capture begins in one stream. Other streams join when they wait for an event that was recorded in the
// capture, and stay part of it until it ends. Each stream has tips: the nodes that its next node depends on.
// A forbidden call invalidates the capture: every call on its streams then returns that error until
// cuStreamEndCapture.
//
// A stream that is not being captured pays only one load of a counter.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

class Driver;
class Executable;
class Graph;
class Graphs;
class Stream;
class StreamGroup;
struct AllocateNode;
struct CopyCommand;
struct Event;
struct FillCommand;
struct FreeNode;
struct GraphNode;
struct HostCommand;
struct LaunchCommand;
struct RecordCommand;
struct WaitCommand;

struct CaptureBranch {
  std::shared_ptr<Stream> stream;
  std::vector<GraphNode*> tips;
  /// The tips that cuStreamGetCaptureInfo has handed out.
  std::vector<CUgraphNode> told_tips;
  std::vector<CUgraphEdgeData> told_edges;
};

struct CaptureSequence {
  std::uint64_t id = 0;
  std::shared_ptr<Graph> graph;
  bool is_graph_given = false;  // by the program, which keeps it
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;  // that began it
  bool is_invalid = false;
  bool is_over = false;
  std::vector<CaptureBranch> branches;  // the first is where it began
};

/// The meaning of an event that was recorded in a capture.
struct CapturedRecord {
  std::shared_ptr<CaptureSequence> sequence;
  std::vector<GraphNode*> tips;  // of no meaning once the sequence is over
};

class Captures {
 public:
  explicit Captures(Graphs& graphs) : graphs_(graphs) {}

  /// Whether captures are under way. Pairs with begin(): a thread that has been told of a capture sees it.
  bool any() const { return count_.load(std::memory_order_acquire) != 0; }

  /// Makes the command a node if its stream is being captured (for an event: if its record was captured).
  /// False: the command is to be enqueued. Otherwise `code` is the answer.
  bool take(Driver& driver, const std::shared_ptr<Stream>& stream, LaunchCommand& command, CUresult& code);
  bool take(Driver& driver, const std::shared_ptr<Stream>& stream, const CopyCommand& command,
            CUresult& code);
  bool take(Driver& driver, const std::shared_ptr<Stream>& stream, const FillCommand& command,
            CUresult& code);
  bool take(Driver& driver, const std::shared_ptr<Stream>& stream, const HostCommand& command,
            CUresult& code);
  bool take(Driver& driver, const std::shared_ptr<Stream>& stream, const RecordCommand& command,
            CUresult& code);
  bool take(Driver& driver, const std::shared_ptr<Stream>& stream, const WaitCommand& command,
            CUresult& code);
  bool take(Driver& driver, const std::shared_ptr<Stream>& stream, Executable& launched, CUresult& code);
  bool take(Driver& driver, const std::shared_ptr<Stream>& stream, const AllocateNode& node, CUresult& code);
  bool take(Driver& driver, const std::shared_ptr<Stream>& stream, const FreeNode& node, CUresult& code);

  /// The answer of a call that waits for a stream, or that puts into it something that no graph can hold.
  CUresult refuse(const std::shared_ptr<Stream>& stream);
  /// The same for all streams of a context, and for an event.
  CUresult refuse(const StreamGroup& group);
  CUresult refuse(const Event& event);
  /// The answer of a call that is unsafe during a capture (cuThreadExchangeStreamCaptureMode).
  CUresult refuse_unsafe();

  /// `graph`: the graph to add to, behind the tips; null: a new graph.
  CUresult begin(const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode,
                 const std::shared_ptr<Graph>& graph, std::vector<GraphNode*> tips);
  /// `graph`: where to put the graph; may be null if begin() was given one.
  CUresult end(const std::shared_ptr<Stream>& stream, CUgraph* graph);

  struct Info {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    std::uint64_t id = 0;
    CUgraph graph = nullptr;
    const CUgraphNode* tips = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    std::size_t count = 0;
  };
  CUresult info(const std::shared_ptr<Stream>& stream, Info& info);
  CUresult update_tips(const std::shared_ptr<Stream>& stream, const CUgraphNode* nodes, std::size_t count,
                       bool replace);

  /// Ends captures that were begun in the stream, or in a stream of the context.
  void forget(const Stream& stream);
  void forget(const StreamGroup& group);

 private:
  struct Found {
    CaptureSequence* sequence = nullptr;
    CaptureBranch* branch = nullptr;
  };
  using Sequences = std::vector<std::shared_ptr<CaptureSequence>>;

  /// The body of take(): acts on the stream's capture if it is valid and `code` is CUDA_SUCCESS so far. Takes
  /// the lock of the graphs.
  template <typename Act>
  bool in_capture(const Stream& stream, CUresult& code, Act act);

  // With the lock of the graphs:
  Found find(const Stream& stream) const;
  bool is_implicit(const Stream& stream) const;
  bool enter(const Stream& stream, Found& found, CUresult& code);
  bool join(const std::shared_ptr<Stream>& stream, const WaitCommand& command, CUresult& code);
  CUresult wait(const Found& found, const WaitCommand& command);
  /// The node behind the branch's tips. An error: the graph cannot hold it, and the capture is lost.
  template <typename Work>
  CUresult add(const Found& found, Work&& work);
  /// The former contents of a sequence, to be released without the lock.
  struct Remains {
    std::shared_ptr<Graph> graph;
    std::vector<CaptureBranch> branches;
  };
  Remains finish(CaptureSequence& sequence, bool keeps_graph);

  Graphs& graphs_;
  Sequences sequences_;  // guarded by the lock of the graphs
  std::atomic<int> count_{0};
};

/// The calling thread's mode (cuThreadExchangeStreamCaptureMode).
CUstreamCaptureMode& thread_capture_mode();

}  // namespace fairgv::cuda
