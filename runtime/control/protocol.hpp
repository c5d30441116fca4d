// The messages on a control connection after its welcome: the requests of the `fairgv` command and the
// answers.
//
//   {"command":"ps"}                                {"ok":true,"daemon":{...},"devices":[...],
//                                                   "tenants":[...]}
//   {"command":"set","tenant":"a","weight":3}       {"ok":true}; or with "memory":"1GiB", "min",
//   {"command":"policy","policy":"fair"}            {"ok":true}; of all devices, or with "device":N of one
//   {"command":"trace"}                             everything that was recorded since the last request on
//                                                   this connection (trace_report.hpp); the first begins a
//                                                   trace, hanging up ends it; or with "tenant", "device"
//   {"command":"kill","session":7}                  {"ok":true}; or with "tenant":"a", all of its sessions;
//                                                   also "pause" and "resume"
//   {"command":"focus","tenants":["a"]}             {"ok":true,"front":["a"],"refused":[]} (FrontAnswer);
//   holds
//                                                   until the next such request, or hanging up
//   {"command":"migrate","session":7,"device":1}   {"ok":true,"moves":[...]} (MoveReport), when the session
//                                                   has moved; or with "tenant":"a", and without "device"
//   {"command":"park","session":7}                 the same, or with "to_file":true, "wake":true; and
//   "resume" of what is parked is answered when it
//                                                   goes on
//   {"command":"drain","device":0}                 the same, of the sessions that were there; and "undrain"
//   {"command":"checkpoint","session":7}           {"ok":true,"facts":{...}} (CheckpointFacts) with the image
//                                                   and the session's memory, for reading, when the session
//                                                   rests; it goes on at
//   {"command":"checkpoint copied","session":7}    {"ok":true}
//   {"command":"restore","session":7,"facts":{...}}
//                                                   {"ok":true} with two files, which the peer fills with
//                                                   the image and the memory; the session is restored at
//   {"command":"restore filled","session":7}       {"ok":true,"moves":[...]}
//   {"command":"show","session":7}                  {"ok":true,"calls":[...],...} (session::JournalReport)
//   {"command":"stop"}                              {"ok":true}, and the daemon ends
//   {"command":"restart"}                           {"ok":true}, and the daemon hangs up when it has become
//                                                   a new one, or cannot: its uptime tells
//   {"command":"usage",...}                         see control/usage.hpp
//   {"command":"reload"}                            {"ok":true,"at_once":[...],...} (ReloadReport)
//   {"command":"config"}                            {"ok":true,"config":"TOML"}
//   {"command":"whoami"}                            {"ok":true,"tenant":...} (WhoAmI); with "tenant":"a",
//                                                   "weight", "min", "max", "service" as if the program
//                                                   asked for that
//   anything that cannot be done                    {"ok":false,"error":"one line"}
//
// An answer that is too long for a packet travels in a memory file attached to the packet
// {"ok":true,"bytes":N}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/control/checkpoint/facts.hpp"
#include "runtime/control/pause.hpp"
#include "runtime/control/usage.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::control {

inline constexpr std::size_t kLongestPolicyName = 64;

struct ControlRequest {
  enum class Command {
    ps,
    set,
    set_policy,
    trace,
    stop,
    restart,
    usage,
    reload,
    config,
    whoami,
    kill,
    pause,
    resume,
    focus,
    show,
    migrate,
    park,
    drain,
    undrain,
    checkpoint,
    checkpoint_copied,
    restore,
    restore_filled
  };
  Command command = Command::ps;
  /// set; trace, where empty means all; whoami, empty: none; kill, pause, resume, migrate, park, unless
  /// there is `session`
  std::string tenant;
  session::TenantWish wish{};  // set, whoami
  std::string policy{};        // set_policy
  /// set_policy, trace; none: all devices; migrate; none: as it is; drain, undrain
  std::optional<std::uint32_t> device{};
  std::optional<MemorySize> memory{};  // set
  UsageQuery usage{};                  // usage
  /// kill, pause, resume, show, migrate, park, checkpoint, restore
  std::optional<std::uint32_t> session{};
  std::optional<CheckpointFacts> facts{};  // restore: of the file
  bool force = false;                      // migrate: though programs could tell the devices apart
  bool to_file = false;                    // park: the image goes to a file
  bool wake = false;                       // park: the session goes on when its program needs its device
  std::vector<std::string> front{};        // focus: the tenants whose windows are in front
};

/// One look at the daemon: the answer to `ps`. Times are cumulative device time in nanoseconds; shares are of
/// the device time that everybody used during about the last half second, 0 to 1.
struct Report {
  struct Daemon {
    std::int64_t pid = 0;
    std::string version;
    std::string socket;
    double uptime_s = 0;
    double slice_ms = 0;
    // Not from an older daemon:
    std::uint64_t restarts = 0;      // of the daemon in this process (`fairgv restart`)
    double serving_s = 0;            // since the first of them began
    double share_window_s = 0;       // the past that `share` and `use` cover
    double wait_window_s = 0;        // the past that waits "of late" cover, at most
    double promised_share = 0;       // of each device: all guarantees, and the floor of the batch class
    double promise_limit_share = 0;  // the most that it may be; 0: an older daemon
  };
  struct Device {
    std::uint32_t index = 0;
    std::string platform;
    std::string name;
    std::optional<std::string> holder;  // the tenant whose turn it is
    std::string policy{};               // how it is shared; empty: an older daemon
    double slice_ms = 0;
    std::uint64_t memory = 0;           // bytes to share out; 0: an older daemon
    std::uint64_t memory_used = 0;      // of it, held by all tenants
    std::uint64_t memory_reserved = 0;  // the sum of all reserves
    std::uint64_t memory_there = 0;     // bytes on the device, if it shares out more; 0: it does not
    /// A device before this one that is the same hardware: both are shared as one, and use of this device is
    /// counted there.
    std::optional<std::uint32_t> same_as{};
    /// Of a device that is oversold, once it has had a tenant; shares of the device, of the latest second.
    struct Oversold {
      double for_sale = 0;
      double load = 0;               // gOver's total_load: what its tenants used
      double overbooking = 0;        // what they have bought
      std::uint32_t overloaded = 0;  // tenants that need more than they have, of what they have bought
      bool warning = false;          // a program should move to another device
      std::uint64_t warnings = 0;    // seconds with a warning
      std::uint64_t changes = 0;     // of caps
      bool resting = false;          // another policy is in force
    };
    std::optional<Oversold> oversold{};
    bool drained = false;  // no session begins there (`fairgv drain`)
    /// Why it has failed: it is drained for that.
    std::optional<std::string> failed{};
  };
  struct Session {
    std::uint32_t session = 0;
    std::int64_t pid = 0;
    std::string program;
    std::int64_t worker_pid = 0;
    std::string state;         // idle, wanting, held, busy
    bool interactive = false;  // its program waits so often that it is woken with its turns
    std::vector<session::LongCommand> long_commands{};
    std::optional<Pause> paused{};  // by itself; see also its tenant's
    double held_back_s = 0;         // until it may run, since sessions before it were killed
    // Not from an older daemon:
    std::optional<std::uint32_t> uid{};  // of the program
    double age_s = 0;
    std::vector<std::uint64_t> device_time_ns{};  // by device, in its life
    std::vector<std::uint64_t> memory_used{};     // by device, in bytes
    bool compiles = false;                        // something is compiled for its program
    std::string waits_for{};                      // a reason of session/turn_wait.hpp; empty: none waits
    std::vector<std::uint32_t> devices{};         // that its program may use
    std::vector<std::string> passed_over{};       // why others were not chosen, a line for each device
    bool direct = false;                          // its program has the driver in its own process
    bool moving = false;                          // another worker is about to serve it, or none
    bool parked = false;                          // no worker serves it, until it is resumed
    /// Of a parked session.
    struct Image {
      std::uint64_t bytes = 0;
      bool in_file = false;  // else in the host's memory
      bool wakes = false;    // the session goes on when its program needs its device
      bool wanted = false;   // its program needs the device
    };
    std::optional<Image> image{};
    /// Its memory on a device whose memory is lent, in bytes: there now, brought in and taken out so far.
    struct Lent {
      std::uint32_t device = 0;
      std::uint64_t there = 0;
      std::uint64_t brought_in = 0;
      std::uint64_t taken_out = 0;
    };
    std::vector<Lent> lent{};
    /// The devices whose content lies on another, since the session was moved: each with that other.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> moved{};
  };
  /// A session that did not end by itself: its worker crashed, it was killed for what it did, or by a user.
  struct Kill {
    std::uint32_t session = 0;
    std::string tenant;
    std::uint32_t uid = 0;
    std::int64_t pid = 0;
    std::string program;
    std::string reason;
    double ago_s = 0;
  };
  /// A tenant's use of one device, ended sessions included; over the tenant's life unless stated otherwise.
  struct Use {
    std::uint64_t device_time_ns = 0;
    std::uint64_t outside_ns = 0;   // of it, charged for processors of a CPU device used without a turn
    std::uint64_t entitled_ns = 0;  // what was due to it, summed up while it had sessions
    double entitled_share = -1;     // what is due to it now; below 0: an older daemon
    double share = 0;               // now
    std::uint32_t queue = 0;        // sessions with work now: they wait for the device or use it
    std::uint32_t interactive = 0;  // sessions that are woken with their turns
    bool held_back = false;         // it has work, and waits because its ceiling is reached
    std::uint64_t waits = 0;        // for a turn: how many have ended,
    std::uint64_t waited_ns = 0;    // how long all together,
    std::uint64_t wait_p50_ns = 0;  // and what half and 99 in 100 of those of late did not exceed
    std::uint64_t wait_p99_ns = 0;
    std::uint64_t commands = 0;
    std::uint64_t launches = 0;
    std::uint64_t slices = 0;  // parts that launches were cut into
    std::uint64_t bytes = 0;   // that commands were to move: reads, writes, copies, fills
    std::uint64_t samples = 0;
    std::uint64_t syncs = 0;
    std::uint64_t memory_used = 0;  // now, in bytes, and the most that it may be
    std::uint64_t memory_limit = 0;
    double memory_byte_s = 0;           // bytes held, summed up over time
    std::uint64_t memory_refusals = 0;  // allocations beyond the limit, or beyond what the device has left
    std::uint64_t units = 0;            // of service
    /// Of a device that is oversold: the tenant's part of it, and its service in units per second.
    struct Holding {
      double bought = 0;
      double cap = 0;
      double utilisation = 0;  // of its cap
      double target = 0;       // 0: none
      double level = 0;
      std::uint64_t broken_seconds = 0;  // in which the service was below its target
    };
    std::optional<Holding> holding{};
  };
  /// A tenant under the policy `timegraph`, in the words of its specification file.
  struct TimeGraphTask {
    std::string scheduling;   // PRT, HT
    std::string enforcement;  // of the reserve: PE, AE; none: Background
    std::string reserve;      // 10ms/40ms; none: Background
    std::string priority;     // a number; *: automatic
    bool shared = false;      // the reserve, with other tenants
    bool refused = false;     // its own reserve did not fit: it has Background
    bool foreground = false;  // its window is in front
  };
  /// Sessions that ended otherwise than by their program.
  struct Faults {
    std::uint64_t crashes = 0;     // the worker died
    std::uint64_t watchdog = 0;    // it held a device for too long
    std::uint64_t violations = 0;  // the program or its worker broke a protocol
  };
  struct Tenant {
    std::string tenant;
    std::uint32_t weight = 0;
    std::uint32_t uid = 0;
    std::vector<Session> sessions;
    std::vector<std::uint64_t> device_time_ns;  // by device
    std::vector<double> share;                  // by device
    /// Its guarantee, and by weight a part of what is not guaranteed, up to its ceiling: of the device of
    /// which it is most.
    double ideal_share = 0;
    std::uint64_t commands = 0;
    std::uint64_t launches = 0;
    std::uint64_t samples = 0;
    std::uint64_t syncs = 0;
    std::uint64_t checked_ns = 0;    // measured where there were event timestamps as well
    std::uint64_t by_events_ns = 0;  // by those timestamps, for the same commands
    // In bytes, by device; empty: an older daemon.
    std::vector<std::uint64_t> memory_used{};
    std::vector<std::uint64_t> memory_limit{};
    std::vector<std::uint64_t> memory_reserve{};
    // The same and more, by device; empty: an older daemon.
    std::vector<Use> use{};
    std::uint64_t sessions_started = 0;  // in its life
    Faults faults{};
    std::optional<Pause> paused{};  // with all its sessions, also those that start later
    // Its promises as people write them (session/wish/tenant_wish.hpp); empty: an older daemon.
    std::string min{};
    std::string max{};
    std::string service{};
    double min_share = 0;  // of each device, 0 to 1
    double max_share = 1;
    std::optional<TimeGraphTask> timegraph{};  // if a device has the policy of that name
    std::uint32_t host_weight = 0;             // cpu.weight of its programs; 0: an older daemon

    /// The share of the device that is due to it.
    double due(std::size_t device) const {
      return device < use.size() && use[device].entitled_share >= 0 ? use[device].entitled_share
                                                                    : ideal_share;
    }
  };
  Daemon daemon;
  std::vector<Device> devices;
  std::vector<Tenant> tenants;
  std::vector<Kill> kills{};  // the last few, the latest last
};

std::string to_text(const ControlRequest& request);
Result<ControlRequest> parse_control_request(std::string_view text);

std::string to_text(const Report& report);
Result<Report> parse_report(std::string_view text);

/// `warnings`: a line each, of what has been done all the same.
std::string success_text(const std::vector<std::string>& warnings = {});
std::string failure_text(const std::string& error);
/// Nothing if the answer says ok, else its error.
Result<void> parse_outcome(std::string_view text);
/// The warnings of an answer that says ok.
std::vector<std::string> warnings_of(std::string_view text);

/// The error if it has hung up.
inline constexpr const char* kHungUp =
    "the daemon hung up without an answer: it has ended, or is being restarted; try again";

/// Sends an answer of any length.
Result<void> send_answer(const Socket& socket, const std::string& answer);
/// The answer's text, from a blocking socket.
Result<std::string> receive_answer(const Socket& socket);

}  // namespace fairgv::control
