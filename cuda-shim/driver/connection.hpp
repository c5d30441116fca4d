// The process' connection to its worker, and its known state. cuInit makes it, one per process. It is never
// torn down, because the program's last calls may come from static destructors.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/driver/memory/mirrors.hpp"
#include "runtime/session/client/client.hpp"
#include "runtime/wire/cuda_calls.hpp"

namespace fairgv::cuda::remote {

/// Any thread may call any method. No method holds a lock while it waits.
class Connection {
 public:
  explicit Connection(std::unique_ptr<session::ClientSession> session) : session_(std::move(session)) {}

  session::ClientSession& session() { return *session_; }

  /// Sends a one-way call. False if the session is lost.
  template <class Call>
  bool send(const Call& call) {
    if (session_->send(call)) [[likely]]
      return true;
    note_loss();
    return false;
  }
  /// The same for a call that keeps the device busy.
  template <class Call>
  CUresult enqueue(const Call& call) {
    send_mirrors();
    // Relaxed: the flag decides nothing but the code of a lost session.
    if (!has_work_.load(std::memory_order_relaxed)) has_work_.store(true, std::memory_order_relaxed);
    if (send(call)) return CUDA_SUCCESS;
    return session_->lost() ? fault() : CUDA_ERROR_OUT_OF_MEMORY;
  }
  /// Sends a call and waits for its reply. Nothing if the session is lost; then fault() returns the error.
  template <class Call>
  std::optional<typename Call::Reply> call(const Call& call) {
    auto reply = session_->call(call);
    if (!reply) note_loss();
    return reply;
  }

  /// The answer of every call from now on: a sticky error, or the code of a lost session. Else CUDA_SUCCESS.
  CUresult fault();
  /// The answer of a call that has waited for work: the fault, or a late error that was not reported yet.
  CUresult outcome();
  /// This is the fault from now on, unless there is one.
  void fail(CUresult code) {
    int none = CUDA_SUCCESS;
    failure_.compare_exchange_strong(none, code, std::memory_order_relaxed);
  }
  std::uint64_t late_errors() const { return ring::LateError::count(session_->late_error()); }
  /// All enqueued commands have ended, as far as the caller knows.
  void settled() { has_work_.store(false, std::memory_order_relaxed); }

  /// To be called before the program may learn that a command has ended. Fetches the output of kernels, makes
  /// the writes of host work visible, and ensures that memory that was freed before is available to
  /// everybody.
  void settle() {
    session_->kernel_output().drain();
    (void)host_work_.load(std::memory_order_acquire);
    // Relaxed: a caller needs to see only its own frees.
    if (frees_sent_.load(std::memory_order_relaxed) != frees_settled_.load(std::memory_order_relaxed))
      settle_frees();
  }
  /// Host work has written its results; its end is reported to the worker next.
  void note_host_work() { host_work_.fetch_add(1, std::memory_order_release); }

  /// The next call frees memory in a stream's order.
  void note_free() { frees_sent_.fetch_add(1, std::memory_order_relaxed); }
  /// Waits for the end of an event, and settles.
  std::int32_t wait(wire::EventId event);

  /// __managed__ variables, and registered memory that kernels have.
  Mirrors& mirrors();
  /// The bytes that the device has written to them come to the program, or go the other way round.
  void fetch_mirrors() {
    if (auto* const mirrors = mirrors_.load(std::memory_order_acquire)) [[unlikely]]
      mirrors->from_device();
  }
  void send_mirrors() {
    if (auto* const mirrors = mirrors_.load(std::memory_order_acquire)) [[unlikely]]
      mirrors->to_device();
  }

  /// A new completion slot. Throws std::bad_alloc when the session has no more.
  wire::EventId new_event();

  /// Has `function` called with the status on the session's notice thread, once the event has reached
  /// `status` or failed. If the session is lost before that, `function` is called with kDeviceNotAvailable.
  /// If the session is lost already, returns false and `function` is not called.
  bool watch(wire::EventId event, std::int32_t status, std::function<void(std::int32_t)> function);

  void disown_in_child() { session_->disown_in_child(); }

 private:
  void note_loss();
  void run(const wire::EventReached& notice);
  void run_all_lost();
  void settle_frees();

  const std::unique_ptr<session::ClientSession> session_;
  std::atomic<bool> has_work_{false};
  /// How many pieces of host work have run: released by them, acquired by a thread that learns of an end. The
  /// worker ensures that the end comes after the work; nothing in this process shows that order.
  std::atomic<std::uint64_t> host_work_{0};
  /// The code of a lost session, set once; relaxed: it orders nothing else.
  std::atomic<int> loss_{CUDA_SUCCESS};
  /// The same of a command that could not be sent.
  std::atomic<int> failure_{CUDA_SUCCESS};
  /// How many late errors were reported to the program; relaxed: compared and exchanged alone.
  std::atomic<std::uint32_t> told_{0};

  /// Frees in streams' order: sent, and known to be done. Relaxed: each thread needs to see only its own
  /// counts.
  std::atomic<std::uint64_t> frees_sent_{0}, frees_settled_{0};

  std::once_flag made_mirrors_;
  std::unique_ptr<Mirrors> owned_mirrors_;
  /// Null until there is such memory: stored with release by mirrors(), loaded with acquire.
  std::atomic<Mirrors*> mirrors_{nullptr};

  std::once_flag listening_;
  std::mutex mutex_;                                                              // guards watched_
  std::unordered_map<std::uint64_t, std::function<void(std::int32_t)>> watched_;  // by event
};

}  // namespace fairgv::cuda::remote
