// Streams as the front end sees them: it names them, counts their commands, and waits for markers in them.
// The worker keeps their order (CUDA Driver API, "Stream synchronization behavior").
//
// A stream's tail is a marker behind all its commands. It is made on demand, and kept until the next command,
// so that asking again costs one look at a completion slot.
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
  /// Valid only once the operation is done.
  bool ended_well() const { return connection_.session().events().status(event_) == session::kComplete; }
  CUresult result() const override { return connection_.outcome(); }
  /// On the host's clock.
  Clock::time_point finished_at() const override;

 private:
  Connection& connection_;
  const wire::EventId event_;
  /// The end has been seen, so the slot need not be read. Stored with release after settling, loaded with
  /// acquire by done().
  mutable std::atomic<bool> done_{false};
};

/// One in-order queue of the worker.
class Stream final : public cuda::Stream {
 public:
  Stream(std::shared_ptr<StreamGroup> group, StreamKind kind, unsigned flags, int priority, std::uint64_t id);
  ~Stream() override { release(); }

  /// The header of a command of this stream. `event`: the command's end, or none.
  wire::Command command(wire::EventId event = {}) const { return {queue_, event, {}}; }
  /// A command has been sent: the tail is out of date.
  void note_command();
  /// How many commands precede the stream's tail: its own, and for the legacy stream those of the blocking
  /// streams, too.
  std::uint64_t held() const;
  /// A command with the end `ended` has been sent when the stream held `held_before` commands. `ended` is the
  /// tail, unless other threads have sent commands meanwhile.
  void note_command(std::shared_ptr<Operation> ended, std::uint64_t held_before);
  /// A wait for a word is about to be sent.
  void note_wait() { has_waited_.store(true, std::memory_order_seq_cst); }
  bool has_waited() const { return has_waited_.load(std::memory_order_seq_cst); }
  /// The worker ends the waits of the stream.
  void give_up_waits();

 private:
  friend class Scheduler;
  friend class StreamGroup;
  void release();
  StreamGroup& workers_group() const;

  const wire::ObjectId queue_;
  std::atomic<bool> released_{false};  // relaxed: the thread that exchanges it releases
  /// Relaxed: a thread that must see another's command has learnt of it by other means.
  std::atomic<std::uint64_t> commands_{0};
  /// Sequentially consistent, as StreamGroup::gives_up_waits_: of a thread that puts a wait into the stream,
  /// and one that ends the context, one sees the other.
  std::atomic<bool> has_waited_{false};
  std::mutex lock_;  // guards the members below
  std::shared_ptr<Operation> tail_;
  std::uint64_t tail_is_behind_ = 0;
};

/// A context of the worker, and its streams.
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
  /// The fault is the whole session's: after a kernel's fault the whole process stays faulty, as with
  /// NVIDIA's driver.
  CUresult fault() const override { return connection_.fault(); }
  /// Lets go of the worker's context and of its legacy stream. Nothing is put into its streams any more.
  void close();
  /// The context ends: no stream waits for a word any more. Returns the streams that may wait now.
  std::vector<std::shared_ptr<Stream>> end_waits();
  bool gives_up_waits() const { return gives_up_waits_.load(std::memory_order_seq_cst); }

 private:
  friend class Scheduler;
  friend class Stream;

  /// A stream that is gone, with work.
  struct Forgotten {
    std::shared_ptr<Operation> tail;
    std::shared_ptr<Stream> waiting;  // kept if it has waited for a word, so that its waits can be given up
  };

  Connection& connection_;
  const wire::ObjectId context_;
  std::atomic<bool> gives_up_waits_{false};
  /// Commands of the blocking streams, for held() of the legacy stream. Relaxed, as Stream::commands_.
  std::atomic<std::uint64_t> blocking_commands_{0};

  std::mutex lock_;  // guards the members below
  bool closed_ = false;
  std::shared_ptr<Stream> legacy_;              // made when first used
  std::vector<std::weak_ptr<Stream>> streams_;  // all others
  std::vector<Forgotten> forgotten_;
};

inline StreamGroup& Stream::workers_group() const {
  return static_cast<StreamGroup&>(*group());
}

/// The stream as this engine's class: entry points hand over only streams of this engine.
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
  void count_call() override { connection_.session().segment().header().coscheduling.count_call(); }
  /// Like a kernel's, the fault is the whole process'.
  void fail(cuda::StreamGroup&, CUresult code) override { connection_.fail(code); }
  std::uint64_t late_errors() const override { return connection_.late_errors(); }
  CUresult query(const std::shared_ptr<cuda::Stream>& stream) override;

  CUresult launch(const std::shared_ptr<cuda::Stream>& stream, std::shared_ptr<cuda::Function> function,
                  const LaunchShape& shape, std::vector<std::uint64_t> parameters) override;
  CUresult copy(const std::shared_ptr<cuda::Stream>& stream, const Place& to, const Place& from,
                const Extent& extent, bool async) override;
  CUresult fill(const std::shared_ptr<cuda::Stream>& stream, const Fill& fill,
                const Allocation& allocation) override;
  void free_in_order(const std::shared_ptr<cuda::Stream>& stream,
                     const std::shared_ptr<Allocation>& allocation, std::function<void()> forget) override;

  CUresult write_word(const std::shared_ptr<cuda::Stream>& stream, const Word& word,
                      std::uint64_t value) override;
  CUresult wait_for_word(const std::shared_ptr<cuda::Stream>& stream, const Word& word,
                         const WordTest& test) override;
  CUresult hold(const std::shared_ptr<cuda::Stream>& stream, const std::shared_ptr<Signal>& until) override;
  void give_up_waits(cuda::StreamGroup& group) override;

 private:
  /// Null: every command of the stream has been seen to end.
  std::shared_ptr<Operation> tail(Stream& stream);
  std::shared_ptr<Operation> send_marker(Stream& stream, const Operation* behind);

  Connection& connection_;
  StagingPool& staging_;
  std::atomic<std::uint64_t> next_stream_id_{1};  // relaxed: only uniqueness counts
};

}  // namespace fairgv::cuda::remote
