// One session as the daemon holds it: the client's socket, the worker, and the shared memory between them.
//
//   starting ──worker is ready──▶ running ──client or worker gone──▶ ending ──no process is left──▶ (removed)
//       └───────────── worker failed, client gone, too slow ───────────▲
//
// A plain record; SessionTable moves it through its life. The order of the members matters: watches go before
// the descriptors that they watch.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/socket.hpp"
#include "runtime/control/pause.hpp"
#include "runtime/daemon/books/long_command_book.hpp"
#include "runtime/daemon/devices/device_map.hpp"
#include "runtime/daemon/devices/view.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/limits/token_bucket.hpp"
#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/daemon/tenants/tenants.hpp"
#include "runtime/daemon/worker/output.hpp"
#include "runtime/daemon/worker/process.hpp"
#include "runtime/daemon/worker/processor_clock.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/session/wish/slicing_wish.hpp"

namespace fairgv::daemon {

/// How a session is parked.
struct Parking {
  control::Pause by{};
  std::optional<std::uint32_t> drained{};  // for this device of the host's; none: a person wants it parked
  bool to_file = false;                    // its image goes to a file
  bool wakes = false;                      // it goes on when its program needs its device
};

/// A session while it is parked: no worker serves it, and it holds no device memory.
struct ParkedSession {
  UniqueFd image{};  // what its worker has written down
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> holdings{};  // device memory that it held, by its worker's devices
  Parking how{};
};

struct Session {
  enum class Stage { starting, running, ending };
  static constexpr TokenBucket::Rate kQuestions{20, 2};
  using Time = std::chrono::steady_clock::time_point;

  SessionId id{};
  TenantId tenant{};
  std::string tenant_name{};
  PeerCredentials peer{};
  Account account{};
  std::string program{};
  std::uint64_t features = 0;  // features that the client has named
  session::SlicingWish slicing{};
  session::Api api = session::Api::opencl;  // the API that its program speaks
  LongCommandBook long_commands{};
  DeviceView devices{};  // devices that its worker sees, once the worker is ready, and those that are hidden
  DeviceMap moved{};     // where its program's devices lie
  bool moving = false;   // another worker is to serve it soon; see Moves
  /// Its worker owes an answer to an order to write its image, which was taken back; see Moves.
  bool owes_answer = false;
  std::vector<Evacuation> evacuated{};
  std::optional<ParkedSession> parked{};
  /// Why others than its devices were not chosen, a line for each; see Placements.
  std::vector<std::string> passed_over{};
  std::optional<control::Pause> paused{};  // the session itself; its tenant may be paused, too
  /// The session may not run before then, since earlier sessions of its tenant were killed.
  std::optional<Time> held_back_until{};
  Time started{};
  Stage stage = Stage::starting;
  Time give_up{};  // while starting: the worker must be ready by then

  Socket client{};
  Socket channel{};  // to the worker, which alone speaks; a hang-up tells it that the daemon is gone
  Socket ledger{};   // to the worker, about memory: the worker asks, MemoryBook answers
  UniqueFd knock{};  // eventfd; see DispatchLoop
  session::TurnMemory turns;
  std::optional<ring::Segment> segment{};  // until it is handed to the client
  UniqueFd segment_fd{};                   // from then on: only a later daemon needs it
  UniqueFd output{};      // read end of the worker's standard output, until it is handed to the client
  UniqueFd output_end{};  // its other end, for a worker after this one; none: the client does not read it
  ring::HeaderView header;
  WorkerProcess worker{};
  std::optional<ProcessorClock> processor_clock{};  // the worker's
  std::uint32_t host_weight = 0;                    // of its program's control group; 0: nobody has looked
  std::optional<std::chrono::nanoseconds> ran{};    // all its processes' time, as of the last look
  std::chrono::nanoseconds ran_before{0};           // of it, the time of workers before this one
  TokenBucket questions{kQuestions, {}};            // for its program, which asks for its driver's messages
  std::unique_ptr<WorkerOutput> messages{};         // its standard error; none: an older daemon gave it ours
  /// The time at which to look again whether anything is left of a worker that has ended.
  std::optional<Time> clear_at{};
  unsigned clear_looks = 0;  // so far

  EventLoop::Watch client_watch{};
  EventLoop::Watch channel_watch{};
  EventLoop::Watch ledger_watch{};
  EventLoop::Watch worker_watch{};
};

}  // namespace fairgv::daemon
