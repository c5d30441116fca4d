// The process' connection to its worker, with its transfers under way and its waiting callbacks.
//
// Made at the first call that needs it, one per process at a time, and never torn down: the application's
// last calls may come from static destructors. When the connection is lost (its worker died, or was killed),
// the objects that were created on it stay lost, and the next context that the application creates begins a
// new connection. In the child of a fork everything starts anew at the child's first call; handles that the
// parent created are no objects there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "icd/memory/direct_memory.hpp"
#include "icd/memory/memory_quota.hpp"
#include "icd/objects/callbacks.hpp"
#include "icd/transfer/transfers.hpp"
#include "runtime/session/client/client.hpp"

namespace fairgv::icd {

/// Any thread may call any method.
class Connection {
 public:
  /// The connection, made if need be. nullptr if there is no daemon to connect to; one line on standard error
  /// has reported that (unless FAIRGV_LOG=off).
  static Connection* get();
  /// The same, but never a lost connection, which is replaced by a new one. nullptr also if the daemon has
  /// other devices by now.
  static Connection* get_live();

  /// `names`: the platform names that the program asks for, or nothing.
  explicit Connection(std::unique_ptr<session::ClientSession> session,
                      std::optional<session::Names> names = std::nullopt);

  session::ClientSession& session() { return *session_; }
  Transfers& transfers() { return transfers_; }
  MemoryQuota& memory_quota() { return memory_quota_; }
  DirectMemoryPool& direct_memory() { return direct_memory_; }
  Callbacks& callbacks() { return callbacks_; }
  /// The kind of names that the platforms have.
  session::Names names() const { return names_; }

  /// Sends a one-way call. False if the session is lost.
  template <class Call>
  bool send(const Call& call) {
    if (session_->send(call)) [[likely]]
      return true;
    report_loss();
    return false;
  }

  /// Sends a call and waits for its reply. Nothing if the session is lost.
  template <class Call>
  std::optional<typename Call::Reply> call(const Call& call) {
    auto reply = session_->call(call);
    if (!reply) report_loss();
    return reply;
  }

  /// In the child of a fork: see ClientSession.
  void disown_in_child() { session_->disown_in_child(); }

  /// Moves the results of ended commands to where the application expects them: data of reads, output of
  /// kernels. To be called before the application may learn that a command has ended.
  void settle();

  /// Status of an event, and the wait for its end. Once either says that the event has ended, the results of
  /// every read that ended before it lie where the application wanted them.
  std::int32_t status(wire::EventId event);
  std::int32_t wait(wire::EventId event, std::uint32_t as = wire::kOwnCall);

  /// See WaitingCall.
  void count_call() { session_->segment().header().coscheduling.count_call(); }

  /// Whether a pointer into the arena means the same in this process and in the worker. Asked for once.
  bool shares_addresses();

  /// While a user event is open, a wait that the application did not ask for may never end.
  bool has_open_user_events() const { return open_user_events_.load(std::memory_order_acquire) != 0; }
  void user_event_opened() { open_user_events_.fetch_add(1, std::memory_order_acq_rel); }
  void user_event_closed() { open_user_events_.fetch_sub(1, std::memory_order_acq_rel); }

 private:
  void report_loss();

  const std::unique_ptr<session::ClientSession> session_;
  const session::Names names_;
  MemoryQuota memory_quota_;
  DirectMemoryPool direct_memory_;
  Transfers transfers_;
  Callbacks callbacks_;
  std::atomic<std::uint32_t> open_user_events_{0};
  std::atomic<bool> loss_reported_{false};
  std::once_flag addresses_compared_;
  bool shares_addresses_ = false;  // written once, under addresses_compared_
};

}  // namespace fairgv::icd
