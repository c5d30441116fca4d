// Streams as the front end sees them: it names them, counts what it puts into them, and waits for markers in
// them. Their order is the worker's (CUDA Driver API, "Stream synchronization behavior").
//
// A stream's tail is a marker behind all that it holds. It is made when somebody asks, and kept as long as
// nothing comes after it, so that asking again costs a look at a completion slot.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/scheduler.hpp"
#include "cuda-shim/driver/connection.hpp"
#include "runtime/wire/cuda_calls.hpp"

namespace fairgv::cuda::remote {

class StagingPool;
class Stream;
class StreamGroup;

/// A marker in a stream: of an event's record, or of a stream's tail.
class Operation final : public cuda::Operation {
 public:
  Operation(Connection& connection, wire::EventId event) : connection_(connection), event_(event) {}
  ~Operation() override { connection_.session().release_event(event_); }

  wire::EventId event() const { return event_; }
  bool done() const override;
  void wait() const override;
  /// Only once it is done.
  bool ended_well() const { return connection_.session().events().status(event_) == session::kComplete; }
  CUresult result() const override { return connection_.outcome(); }
  /// Of the host's clock.
  Clock::time_point finished_at() const override;

 private:
  Connection& connection_;
  const wire::EventId event_;
  /// It has been seen to be done: then the slot is not looked at. Release after settling, acquire by done().
  mutable std::atomic<bool> done_{false};
};

/// One in-order queue of the worker's.
class Stream final : public cuda::Stream {
 public:
  Stream(std::shared_ptr<StreamGroup> group, StreamKind kind, unsigned flags, int priority, std::uint64_t id);
  ~Stream() override { release(); }

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
  StreamGroup& workers_group() const;

  const wire::ObjectId queue_;
  std::atomic<bool> released_{false};  // relaxed: whoever exchanges it releases
  /// Relaxed: a thread that is to see another's command has been told of it by other means.
  std::atomic<std::uint64_t> commands_{0};
  std::mutex lock_;  // guards what follows
  std::shared_ptr<Operation> tail_;
  std::uint64_t tail_is_behind_ = 0;
};

/// A context of the worker's and its streams.
class StreamGroup final : public cuda::StreamGroup {
 public:
  StreamGroup(Connection& connection, CUcontext owner, wire::ObjectId context,
              const wire::cuda::ContextReply& facts)
      : cuda::StreamGroup(owner, facts.least_priority, facts.greatest_priority),
        connection_(connection),
        context_(context) {}
  ~StreamGroup() override { close(); }

  Connection& connection() const { return connection_; }
  wire::ObjectId context() const { return context_; }
  /// It is the whole session's: what a kernel has broken stays broken for the process, as on NVIDIA's driver.
  CUresult fault() const override { return connection_.fault(); }
  /// Lets go of the worker's context and of its legacy stream. Nothing is put into its streams any more.
  void close();

 private:
  friend class Scheduler;
  friend class Stream;

  Connection& connection_;
  const wire::ObjectId context_;
  /// Of its blocking streams, for held() of the legacy one. Relaxed, as Stream::commands_.
  std::atomic<std::uint64_t> blocking_commands_{0};

  std::mutex lock_;  // guards what follows
  bool closed_ = false;
  std::shared_ptr<Stream> legacy_;                     // made when first used
  std::vector<std::weak_ptr<Stream>> streams_;         // all others
  std::vector<std::shared_ptr<Operation>> forgotten_;  // tails of streams that are gone
};

inline StreamGroup& Stream::workers_group() const {
  return static_cast<StreamGroup&>(*group());
}

/// The engine's part of what the entry points hand over, which is always this engine's.
inline Stream& workers(const std::shared_ptr<cuda::Stream>& stream) {
  return static_cast<Stream&>(*stream);
}
inline std::shared_ptr<StreamGroup> workers(const std::shared_ptr<cuda::StreamGroup>& group) {
  return std::static_pointer_cast<StreamGroup>(group);
}

class Scheduler final : public cuda::Scheduler {
 public:
  Scheduler(Connection& connection, StagingPool& staging) : connection_(connection), staging_(staging) {}

  std::shared_ptr<cuda::Stream> legacy(const std::shared_ptr<cuda::StreamGroup>& group) override;
  std::shared_ptr<cuda::Stream> make_stream(const std::shared_ptr<cuda::StreamGroup>& group, StreamKind kind,
                                            unsigned flags, int priority) override;
  void dissolve(cuda::StreamGroup& group) override { static_cast<StreamGroup&>(group).close(); }
  void forget(const std::shared_ptr<cuda::Stream>& stream) override;

  std::shared_ptr<cuda::Operation> mark(const std::shared_ptr<cuda::Stream>& stream,
                                        const std::shared_ptr<cuda::Operation>& behind) override;
  /// On the session's notice thread.
  CUresult run_on_host(const std::shared_ptr<cuda::Stream>& stream, std::function<void(CUresult)> function,
                       bool despite_fault) override;

  CUresult synchronize(const std::shared_ptr<cuda::Stream>& stream) override;
  CUresult synchronize(cuda::StreamGroup& group) override;
  CUresult query(const std::shared_ptr<cuda::Stream>& stream) override;

  CUresult launch(const std::shared_ptr<cuda::Stream>& stream, std::shared_ptr<cuda::Function> function,
                  const LaunchShape& shape, std::vector<std::uint64_t> parameters) override;
  CUresult copy(const std::shared_ptr<cuda::Stream>& stream, const Place& to, const Place& from,
                const Extent& extent, bool async) override;
  CUresult fill(const std::shared_ptr<cuda::Stream>& stream, const Fill& fill,
                const Allocation& allocation) override;
  void free_in_order(const std::shared_ptr<cuda::Stream>& stream,
                     const std::shared_ptr<Allocation>& allocation, std::function<void()> forget) override;

 private:
  /// Null: the stream holds nothing that has not been seen to end.
  std::shared_ptr<Operation> tail(Stream& stream);
  std::shared_ptr<Operation> send_marker(Stream& stream, const Operation* behind);

  Connection& connection_;
  StagingPool& staging_;
  std::atomic<std::uint64_t> next_stream_id_{1};  // relaxed: only uniqueness counts
};

}  // namespace fairgv::cuda::remote
