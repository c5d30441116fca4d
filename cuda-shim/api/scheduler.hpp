// Streams and their commands (CUDA Driver API, "Stream Management", "Event Management", "Stream
// synchronization behavior"). The engine decides which stream waits for which. The facts of a stream that
// never change are data here, and cost no virtual call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

class Function;
class Signal;
struct Allocation;
struct Extent;
struct Fill;
struct LaunchShape;
struct Place;
struct Word;
struct WordTest;

using Clock = std::chrono::steady_clock;

/// A place in a stream, behind all commands that it held when the operation was made.
class Operation {
 public:
  Operation() = default;
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  virtual bool done() const = 0;
  virtual void wait() const = 0;
  /// The answer of a call that has seen its end. Like the time, valid only once the operation is done.
  virtual CUresult result() const = 0;
  virtual Clock::time_point finished_at() const = 0;
};

/// The streams of one context, and the fault that sticks to it.
class StreamGroup {
 public:
  virtual ~StreamGroup() = default;
  StreamGroup(const StreamGroup&) = delete;
  StreamGroup& operator=(const StreamGroup&) = delete;

  /// The context's handle: a name only, never followed.
  CUcontext owner() const { return owner_; }
  /// Priorities as the API numbers them: lower runs first (cuCtxGetStreamPriorityRange).
  int least_priority() const { return least_priority_; }
  int greatest_priority() const { return greatest_priority_; }
  /// The answer of every call on the context, if it is not CUDA_SUCCESS.
  virtual CUresult fault() const = 0;

 protected:
  StreamGroup(CUcontext owner, int least_priority, int greatest_priority)
      : owner_(owner), least_priority_(least_priority), greatest_priority_(greatest_priority) {}

 private:
  const CUcontext owner_;
  const int least_priority_, greatest_priority_;
};

enum class StreamKind { legacy, blocking, independent };

/// One in-order queue.
class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const std::shared_ptr<StreamGroup>& group() const { return group_; }
  StreamKind kind() const { return kind_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  std::uint64_t id() const { return id_; }

 protected:
  Stream(std::shared_ptr<StreamGroup> group, StreamKind kind, unsigned flags, int priority, std::uint64_t id)
      : group_(std::move(group)), kind_(kind), flags_(flags), priority_(priority), id_(id) {}

 private:
  const std::shared_ptr<StreamGroup> group_;
  const StreamKind kind_;
  const unsigned flags_;
  const int priority_;
  const std::uint64_t id_;  // unique in this process
};

/// The interface of an engine's streams. Any thread may call; no lock of the engine is held during a wait.
class Scheduler {
 public:
  Scheduler() = default;
  virtual ~Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// The group's legacy stream, the same at every call. Null: the group has been closed before it had one.
  virtual std::shared_ptr<Stream> legacy(const std::shared_ptr<StreamGroup>& group) = 0;
  virtual std::shared_ptr<Stream> make_stream(const std::shared_ptr<StreamGroup>& group, StreamKind kind,
                                              unsigned flags, int priority) = 0;
  /// The group's context is gone, and all its work has ended.
  virtual void dissolve(StreamGroup& group) = 0;
  /// The stream's work goes on (cuStreamDestroy).
  virtual void forget(const std::shared_ptr<Stream>& stream) = 0;

  /// A marker, also behind `behind` if that is not null.
  virtual std::shared_ptr<Operation> mark(const std::shared_ptr<Stream>& stream,
                                          const std::shared_ptr<Operation>& behind) = 0;
  /// Runs a program's function when all commands before it have ended. The function gets the group's fault.
  /// `despite_fault`: it is called after a fault, too.
  virtual CUresult run_on_host(const std::shared_ptr<Stream>& stream, std::function<void(CUresult)> function,
                               bool despite_fault) = 0;

  /// Waits for all commands that the stream holds now; on the legacy stream also for commands of the streams
  /// that block it. Returns the answer of the call.
  virtual CUresult synchronize(const std::shared_ptr<Stream>& stream) = 0;
  virtual CUresult synchronize(StreamGroup& group) = 0;
  /// A call of the program that has synchronised returns: its tenant may count such calls.
  virtual void count_call() {}
  /// A command that a call has promised cannot be put into a stream of the group: that is its fault from now
  /// on.
  virtual void fail(StreamGroup& group, CUresult code) = 0;
  /// How many errors of commands there have been that are no faults.
  virtual std::uint64_t late_errors() const { return 0; }
  /// CUDA_ERROR_NOT_READY, CUDA_SUCCESS, or the fault.
  virtual CUresult query(const std::shared_ptr<Stream>& stream) = 0;

  /// Queues a launch that has been checked.
  virtual CUresult launch(const std::shared_ptr<Stream>& stream, std::shared_ptr<Function> function,
                          const LaunchShape& shape, std::vector<std::uint64_t> parameters) = 0;
  /// Runs or queues a copy, as its sides and the call ask for: a call that is not asynchronous returns when
  /// the copy is done, between device memories when it is queued; an asynchronous one returns when pageable
  /// memory is no longer needed. An empty extent is nothing to do.
  virtual CUresult copy(const std::shared_ptr<Stream>& stream, const Place& to, const Place& from,
                        const Extent& extent, bool async) = 0;
  /// Queues a fill that has been checked and is not empty, of memory in that allocation.
  virtual CUresult fill(const std::shared_ptr<Stream>& stream, const Fill& fill,
                        const Allocation& allocation) = 0;
  /// Frees memory of the device once the commands in the stream by now have ended; `forget` takes it out of
  /// the books, then or before.
  virtual void free_in_order(const std::shared_ptr<Stream>& stream,
                             const std::shared_ptr<Allocation>& allocation, std::function<void()> forget) = 0;

  /// Queues a write of a word that has been checked.
  virtual CUresult write_word(const std::shared_ptr<Stream>& stream, const Word& word,
                              std::uint64_t value) = 0;
  /// Holds the stream up until the word, which has been checked, passes the test.
  virtual CUresult wait_for_word(const std::shared_ptr<Stream>& stream, const Word& word,
                                 const WordTest& test) = 0;
  /// Holds the stream up until the signal is set.
  virtual CUresult hold(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Signal>& until) = 0;
  /// The group's context ends: waits for words that are not over end now, and later ones at once. The work
  /// behind them is not run.
  virtual void give_up_waits(StreamGroup& group) = 0;
};

}  // namespace fairgv::cuda
