// Streams as the front end sees them: it names them, counts what it puts into them, and waits for markers in
// them. Their order is the worker's (CUDA Driver API, "Stream synchronization behavior").
//
// A stream's tail is a marker behind all that it holds. It is made when somebody asks, and kept as long as
// nothing comes after it, so that asking again costs a look at a completion slot.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/driver/connection.hpp"
#include "cuda-shim/driver/storage.hpp"

namespace fairgv::cuda {

class Stream;
class StreamGroup;

using Clock = std::chrono::steady_clock;

/// A marker in a stream: of an event's record, or of a stream's tail.
class Operation {
 public:
  Operation(Connection& connection, wire::EventId event) : connection_(connection), event_(event) {}
  ~Operation() { connection_.session().release_event(event_); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  wire::EventId event() const { return event_; }
  bool done() const;
  void wait() const;
  /// Only once it is done.
  bool ended_well() const { return connection_.session().status(event_) == session::kComplete; }
  /// What a call answers that has seen its end.
  CUresult result() const { return connection_.outcome(); }
  /// Only once it is done. Of the host's clock.
  Clock::time_point finished_at() const;

 private:
  Connection& connection_;
  const wire::EventId event_;
  /// It has been seen to be done: then the slot is not looked at. Release after settling, acquire by done().
  mutable std::atomic<bool> done_{false};
};

enum class StreamKind { legacy, blocking, independent };

/// One in-order queue of the worker's.
class Stream {
 public:
  Stream(std::shared_ptr<StreamGroup> group, StreamKind kind, unsigned flags, int priority, std::uint64_t id);
  ~Stream() { release(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const std::shared_ptr<StreamGroup>& group() const { return group_; }
  StreamKind kind() const { return kind_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  std::uint64_t id() const { return id_; }

  /// To be put into a command of it. `event`: its end, or none.
  wire::Command command(wire::EventId event = {}) const { return {queue_, event, {}}; }
  /// A command has been sent: what was its tail is not any more.
  void note_command();
  /// How many commands its tail is behind: its own, and of the legacy stream those of the blocking ones, too.
  std::uint64_t held() const;
  /// A command has been sent whose end is `ended`, when the stream held `held_before`: it is the tail, unless
  /// others have sent something meanwhile.
  void note_command(std::shared_ptr<Operation> ended, std::uint64_t held_before);

 private:
  friend class Scheduler;
  friend class StreamGroup;
  void release();

  const std::shared_ptr<StreamGroup> group_;
  const StreamKind kind_;
  const unsigned flags_;
  const int priority_;
  const std::uint64_t id_;
  const wire::ObjectId queue_;
  std::atomic<bool> released_{false};  // relaxed: whoever exchanges it releases
  /// Relaxed: a thread that is to see another's command has been told of it by other means.
  std::atomic<std::uint64_t> commands_{0};
  std::mutex lock_;  // guards what follows
  std::shared_ptr<Operation> tail_;
  std::uint64_t tail_is_behind_ = 0;
};

/// A context of the worker's and its streams.
class StreamGroup : public std::enable_shared_from_this<StreamGroup> {
 public:
  StreamGroup(Connection& connection, CUcontext owner, wire::ObjectId context,
              const wire::cuda::ContextReply& facts)
      : connection_(connection),
        owner_(owner),
        context_(context),
        least_priority_(facts.least_priority),
        greatest_priority_(facts.greatest_priority) {}
  ~StreamGroup() { close(); }

  Connection& connection() const { return connection_; }
  wire::ObjectId context() const { return context_; }
  /// The context's handle: a name only, never followed.
  CUcontext owner() const { return owner_; }
  int least_priority() const { return least_priority_; }
  int greatest_priority() const { return greatest_priority_; }
  /// It is the whole session's: what a kernel has broken stays broken for the process, as on NVIDIA's driver.
  CUresult fault() const { return connection_.fault(); }
  /// Lets go of the worker's context and of its legacy stream. Nothing is put into its streams any more.
  void close();

 private:
  friend class Scheduler;
  friend class Stream;

  Connection& connection_;
  const CUcontext owner_;
  const wire::ObjectId context_;
  const int least_priority_, greatest_priority_;
  /// Of its blocking streams, for held() of the legacy one. Relaxed, as Stream::commands_.
  std::atomic<std::uint64_t> blocking_commands_{0};

  std::mutex lock_;  // guards what follows
  bool closed_ = false;
  std::shared_ptr<Stream> legacy_;                     // made when first used
  std::vector<std::weak_ptr<Stream>> streams_;         // all others
  std::vector<std::shared_ptr<Operation>> forgotten_;  // tails of streams that are gone
};

/// Any thread may call. None of its locks is held while it waits.
class Scheduler {
 public:
  explicit Scheduler(Connection& connection) : connection_(connection) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  std::shared_ptr<Stream> legacy(const std::shared_ptr<StreamGroup>& group);
  std::shared_ptr<Stream> make_stream(const std::shared_ptr<StreamGroup>& group, StreamKind kind,
                                      unsigned flags, int priority);
  void dissolve(StreamGroup& group) { group.close(); }
  /// The stream's work goes on (cuStreamDestroy).
  void forget(const std::shared_ptr<Stream>& stream);

  /// A marker, also behind `behind` if that is not null.
  std::shared_ptr<Operation> mark(const std::shared_ptr<Stream>& stream,
                                  const std::shared_ptr<Operation>& behind = nullptr);
  /// Runs a program's function on the session's notice thread, when all before it has ended. It gets the
  /// fault; `despite_fault`: it is called after one, too.
  CUresult run_on_host(const std::shared_ptr<Stream>& stream, std::function<void(CUresult)> function,
                       bool despite_fault);

  /// Waits for all that the stream holds now. What a call answers that has.
  CUresult synchronize(const std::shared_ptr<Stream>& stream);
  CUresult synchronize(StreamGroup& group);
  /// CUDA_ERROR_NOT_READY, CUDA_SUCCESS, or the fault.
  CUresult query(const std::shared_ptr<Stream>& stream);

 private:
  /// Null: the stream holds nothing that has not been seen to end.
  std::shared_ptr<Operation> tail(Stream& stream);
  std::shared_ptr<Operation> send_marker(Stream& stream, const std::shared_ptr<Operation>& behind);

  Connection& connection_;
  std::atomic<std::uint64_t> next_stream_id_{1};  // relaxed: only uniqueness counts
};

}  // namespace fairgv::cuda
