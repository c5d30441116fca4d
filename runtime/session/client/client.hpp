// A client process' connection to its worker: the front end sends its calls through it.
//
// One-way calls are written into the request ring and forgotten; calls with a reply wait for it on the
// response ring, one at a time; commands end in completion slots (CompletionBoard); notices arrive on a
// thread of the session. While both sides are awake none of this makes a system call.
//
// All methods may be called from any thread. When the worker or the daemon is gone the session is lost: sends
// and calls fail, waits end, and nothing hangs. Two threads serve the session (they take no signals but those
// that end a process): a watcher that sleeps on the daemon's socket and on the kernels' output, and, once a
// handler is set, one that delivers notices.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/ring/arena.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/client/completion_board.hpp"
#include "runtime/session/client/driver_messages.hpp"
#include "runtime/session/client/host_work.hpp"
#include "runtime/session/client/kernel_output.hpp"
#include "runtime/session/client/object_ids.hpp"
#include "runtime/session/identity.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::session {

/// The daemon's facts about the session when it began.
struct SessionFacts {
  /// Bytes that the tenant may hold on each device. Nothing: this daemon knows no quotas, and the worker is
  /// not to be asked for memory.
  std::optional<std::vector<std::uint64_t>> memory_limits;
  bool memory_waits = false;         // the worker knows of memory that is on its way back
  bool takes_includes = false;       // the worker takes wire::ProvideIncludes
  bool takes_marks = false;          // the worker takes wire::EnqueueMark
  Names names = Names::fairgv;       // names of the platforms, by the configuration
  std::uint64_t hidden_devices = 0;  // the worker's devices that the daemon has not chosen, a bit each

  bool may_use(std::uint32_t device) const { return (hidden_devices >> device & 1U) == 0; }
};

class ClientSession {
 public:
  /// Connects to the daemon, which starts a worker for this process. Takes as long as the driver takes to
  /// load.
  static Result<std::unique_ptr<ClientSession>> connect(const ClientIdentity& identity,
                                                        Api api = Api::opencl);

  /// Over a segment whose worker is already running; `socket`, if any, is watched for hang-up (and, if
  /// `driver_messages`, for the driver's messages), and `output`, if any, for the output of kernels.
  explicit ClientSession(ring::Segment segment, UniqueFd socket = {}, UniqueFd output = {},
                         bool driver_messages = false);
  ~ClientSession();
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  /// In the child of a fork, which has this object but none of its threads: lets go of the daemon's socket,
  /// so that the parent's session ends with the parent. Nothing else of the session may be used in the child.
  void disown_in_child() {
    socket_.close();
    output_.disown_in_child();
  }

  KernelOutput& kernel_output() { return output_; }
  /// Prints the driver's messages until now, waiting no longer than `patience`: for a program that is about
  /// to end.
  void hear_driver(std::chrono::milliseconds patience);

  const SessionFacts& facts() const { return facts_; }
  const ring::Segment& segment() const { return segment_; }

  /// After a refusal: calls `ask` again, which returns whether it was refused, too, as long as memory that
  /// the program has released is on its way back to these devices. Code of the program that is to run before
  /// is waited for, but not for long; it may release memory only in OpenCL. Threads that ask take turns.
  template <class Ask>
  void ask_for_memory_until_refused(Api api, std::uint64_t devices, std::uint64_t bytes, Ask ask) {
    const std::lock_guard turn(await_mutex_);
    HostWork::Wait host_work(host_work_);
    for (;;) {
      const bool more = api == Api::opencl && host_work_.any();
      const bool came = await_memory({{}, devices, bytes, more ? 1U : 0U});
      // In any case: memory that came back before the worker's last word may be enough.
      if (!ask() || (!came && !host_work.any_ends())) return;
    }
  }
  HostWork& host_work() { return host_work_; }

  /// The late errors so far (CUDA); see ring::LateError. Acquire: pairs with the worker's release.
  std::uint64_t late_error() const {
    return segment_.header().late_error.state.load(std::memory_order_acquire);
  }

  /// The worker holds as many commands as it may, and they wait for something that the program has to do.
  bool backlogged() const { return segment_.header().limits.backlogged.load(std::memory_order_relaxed) != 0; }

  /// The worker or the daemon is gone; it does not come back.
  bool lost() const { return segment_.closed(); }

  /// Sends a one-way call; waits for room when the ring is full. False if the session is lost or the arena
  /// has no room for a big call.
  template <class Call>
  bool send(const Call& call) {
    static_assert(std::is_void_v<typename Call::Reply>, "this call has a reply: use call()");
    // When a transfer that the program does itself has ended, only the program knows.
    if constexpr (std::is_same_v<Call, wire::EndAccess>) return post(call, timed_tag());
    return post(call, 0);
  }

  /// Sends a call and waits for its reply. Nothing if the session is lost. Calls of several threads take
  /// turns; the worker answers each within microseconds, whatever the device does.
  template <class Call>
  std::optional<typename Call::Reply> call(const Call& call) {
    const std::uint64_t timed = timed_tag();  // before the other threads' calls
    const std::lock_guard turn(call_mutex_);
    typename Call::Reply reply;
    const std::uint64_t tag = timed != 0 ? timed : ++last_tag_;
    if (!post(call, tag) || !receive(Call::opcode, tag)) return std::nullopt;
    if (!wire::decode(std::span<const std::byte>(reply_), reply)) {
      abandon();
      return std::nullopt;
    }
    return reply;
  }

  // -- objects

  /// Throws std::bad_alloc when the session has as many objects as it may.
  wire::ObjectId new_object() { return objects_.acquire(); }
  /// Tells the worker that the front end is done with the object, and recycles the id.
  void release_object(wire::ObjectId id);

  // -- events (see CompletionBoard)

  CompletionBoard& events() { return board_; }
  const CompletionBoard& events() const { return board_; }
  /// Tells the worker that the front end is done with the event, and recycles the id.
  void release_event(wire::EventId event);
  std::int32_t wait(wire::EventId event, std::uint32_t as = wire::kOwnCall) {
    return board_.wait(event, kComplete, as);
  }
  /// Waits until an access is granted (kRunning) or has failed.
  std::int32_t wait_for_grant(wire::EventId access, std::uint32_t as = wire::kOwnCall) {
    return board_.wait(access, kRunning, as);
  }

  /// Starts the notice thread, which calls `handler` with no lock held, one notice at a time, and, when the
  /// session is lost and no notice is left, `on_loss`. Call once.
  void set_notice_handler(std::function<void(const wire::EventReached&)> handler,
                          std::function<void()> on_loss = {});

  // -- arena

  /// A range of at least `bytes` (> 0) for bulk data; nothing when the arena is full.
  std::optional<wire::ArenaRange> allocate(std::uint64_t bytes);
  std::byte* bytes(wire::ArenaRange range) { return segment_.arena().data() + range.offset; }
  void free(wire::ArenaRange range) { arena_.free(range.offset); }
  /// Frees the range once the worker has handled every call sent so far.
  void free_when_consumed(wire::ArenaRange range);
  std::uint64_t arena_used() const { return arena_.used(); }

 private:
  /// A call longer than this goes through the arena, so that it does not crowd the ring.
  static constexpr std::size_t kLongestInRing = std::size_t{32} << 10;

  struct Consumable {
    std::uint64_t position;  // in the request ring
    std::uint64_t offset;    // in the arena
  };

  /// wire::kTimedTag and now if somebody traces the session, else 0.
  std::uint64_t timed_tag() const {
    const std::uint64_t now = segment_.recorded_time();
    return now != 0 ? now | wire::kTimedTag : 0;
  }

  template <class Call>
  bool post(const Call& call, std::uint64_t tag) {
    const std::size_t size = wire::encoded_size(call);
    if (size > kLongestInRing) return post_indirect(call, size, tag);
    const std::lock_guard lock(request_mutex_);
    std::byte* to = requests_.reserve(size);
    if (to == nullptr) {
      to = wait_for_room(size);
      if (to == nullptr) return false;
    }
    wire::encode(call, to);
    return publish(Call::opcode, tag, size);
  }

  template <class Call>
  bool post_indirect(const Call& call, std::size_t size, std::uint64_t tag) {
    const auto range = allocate(size);
    if (!range) return false;
    wire::encode(call, bytes(*range));
    const wire::Indirect indirect{*range};
    const std::size_t indirect_size = wire::encoded_size(indirect);
    const std::lock_guard lock(request_mutex_);
    std::byte* to = wait_for_room(indirect_size);
    if (to == nullptr) return false;
    wire::encode(indirect, to);
    const bool sent = publish(Call::opcode | wire::kIndirectBit, tag, indirect_size);
    consumables_.push_back({requests_.produced(), range->offset});
    return sent;
  }

  // All three with request_mutex_ held.
  std::byte* wait_for_room(std::size_t size);
  bool publish(wire::Opcode opcode, std::uint64_t tag, std::size_t size) {
    requests_.publish(opcode, tag, size);
    ring::ring(segment_.header().worker_bell);
    return !lost();
  }
  void reclaim();

  /// Waits until it is worth asking again for memory. False: nothing more comes by itself. With await_mutex_
  /// held.
  bool await_memory(wire::AwaitMemory call);

  /// Collects the reply to `tag` in reply_. With call_mutex_ held.
  bool receive(wire::Opcode opcode, std::uint64_t tag);
  /// Ends the session because the other side broke the protocol.
  void abandon();

  void watch_socket();
  bool take_driver_message();
  void deliver_notices();

  ring::Segment segment_;
  Socket socket_;
  const bool driver_messages_;
  DriverMessages messages_;
  KernelOutput output_;
  UniqueFd stop_;  // eventfd that ends the watcher
  ring::ArenaAllocator arena_;
  CompletionBoard board_;
  ObjectIds objects_;
  SessionFacts facts_;  // written by connect() only

  HostWork host_work_;
  std::mutex await_mutex_;  // its holder waits for memory; taken before all others

  std::mutex request_mutex_;  // guards what follows
  ring::RingProducer requests_;
  std::deque<Consumable> consumables_;
  ring::SpinBudget room_budget_;

  std::mutex call_mutex_;  // guards what follows; taken before request_mutex_
  ring::RingConsumer responses_;
  ring::SpinBudget reply_budget_;
  std::vector<std::byte> reply_;
  std::uint64_t last_tag_ = 0;

  std::function<void(const wire::EventReached&)> notice_handler_;
  std::function<void()> loss_handler_;
  std::atomic<bool> stopping_{false};  // release in the destructor, acquire in the notice thread's wait
  std::thread watcher_;
  std::thread notifier_;
};

}  // namespace fairgv::session
