#include "icd/session/connection.hpp"

#include <pthread.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "icd/objects/platform.hpp"
#include "icd/session/fork.hpp"
#include "runtime/session/client/arena_remark.hpp"
#include "runtime/session/client/standard_error.hpp"

namespace fairgv::icd {
namespace {

std::mutex connect_mutex;  // guards connecting
std::atomic<Connection*> current{nullptr};
bool failure_reported = false;   // with connect_mutex
bool watches_for_forks = false;  // with connect_mutex

/// Fetches the driver's last messages, for example about a failed build, which would otherwise come after the
/// program's end.
void hear_last_words() {
  constexpr std::chrono::milliseconds kPatience{100};
  // Acquire: pairs with the release store in get().
  if (Connection* const connection = current.load(std::memory_order_acquire)) {
    connection->session().hear_driver(kPatience);
  }
}

void start_clean_in_child() {
  if (Connection* const parents = current.exchange(nullptr, std::memory_order_relaxed))
    parents->disown_in_child();
  std::construct_at(&connect_mutex);
  forget_objects_in_child();
}

/// FAIRGV_OPENCL_NAMES; empty counts as not set.
Result<std::optional<session::Names>> wanted_names() {
  const char* const text = std::getenv("FAIRGV_OPENCL_NAMES");
  if (text == nullptr || *text == '\0') return std::optional<session::Names>();
  const auto names = session::parse_names(text);
  if (names) return names;
  return Error{"FAIRGV_OPENCL_NAMES is '" + std::string(text) + "': say 'driver' or 'fairgv'"};
}

Result<std::unique_ptr<Connection>> connect() {
  FAIRGV_TRY(identity, session::identity_from_environment());
  FAIRGV_TRY(names, wanted_names());
  FAIRGV_TRY(session, session::ClientSession::connect(identity.value()));
  if (const auto remark = session::arena_remark(session.value()->segment())) session::say(*remark);
  return std::make_unique<Connection>(std::move(session).value(), names.value());
}

}  // namespace

Connection* Connection::get() {
  // Acquire: pairs with the release store below.
  if (Connection* const connection = current.load(std::memory_order_acquire)) return connection;
  const std::lock_guard lock(connect_mutex);
  if (Connection* const connection = current.load(std::memory_order_acquire)) return connection;
  if (!watches_for_forks) {
    watches_for_forks = pthread_atfork(nullptr, nullptr, start_clean_in_child) == 0;
    std::atexit(hear_last_words);
  }
  auto made = connect();
  if (!made) {
    if (!std::exchange(failure_reported, true)) session::say(made.error().message);
    return nullptr;
  }
  failure_reported = false;
  Connection* const connection = made.value().release();
  current.store(connection, std::memory_order_release);
  return connection;
}

Connection* Connection::get_live() {
  Connection* const known = get();
  if (known == nullptr || !known->session_->lost()) return known;
  {
    const std::lock_guard lock(connect_mutex);
    // The second thread finds a new connection. The lost one lives on, because objects refer to it.
    if (current.load(std::memory_order_relaxed) == known) current.store(nullptr, std::memory_order_relaxed);
  }
  Connection* const next = get();
  if (next == nullptr || Platform::are_those_of(*next)) return next;
  session::say("fairgvd has other devices now than when this program began: start it again");
  return nullptr;
}

Connection::Connection(std::unique_ptr<session::ClientSession> session, std::optional<session::Names> names)
    : session_(std::move(session)),
      names_(names.value_or(session_->facts().names)),
      memory_quota_(*this),
      direct_memory_(*session_, memory_quota_),
      transfers_(*this),
      callbacks_(*this) {}

std::int32_t Connection::status(wire::EventId event) {
  const std::int32_t status = session_->events().status(event);
  if (status <= CL_COMPLETE) settle();
  return status;
}

std::int32_t Connection::wait(wire::EventId event, std::uint32_t as) {
  const std::int32_t status = session_->wait(event, as);
  settle();
  if (status < CL_COMPLETE && session_->lost()) report_loss();
  return status;
}

bool Connection::shares_addresses() {
  std::call_once(addresses_compared_, [this] {
    if (!session_->segment().at_wanted_address()) return;
    const auto topology = call(wire::GetTopology{});
    shares_addresses_ = topology && topology->at_wanted_address != 0;
  });
  return shares_addresses_;
}

void Connection::settle() {
  transfers_.settle();
  session_->kernel_output().drain();
}

void Connection::report_loss() {
  if (!session_->lost() || loss_reported_.exchange(true)) return;
  session::say(
      "the worker of this process is gone (fairgvd stopped, or the worker was killed): OpenCL calls fail, "
      "except in contexts that are created from now on; the daemon's log has the reason");
}

}  // namespace fairgv::icd
