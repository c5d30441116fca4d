// The messages on the sockets when a session starts: client, daemon and worker, one JSON object per packet.
//
//   client  -> daemon   hello         who I am, which protocol I speak
//   daemon  -> client   welcome       for tenants with descriptors: the segment, the kernels' output;
//                       or refused    with the reason
//   daemon  -> client   driver says   with kDriverMessages, now and then after the welcome
//   client  -> daemon   hear          with kDriverMessages: what the driver has said so far is wanted now
//   worker  -> daemon   ready         which devices I see;
//                       or failed     with the reason; also later, when the session cannot go on
//   worker  -> daemon   long command  now and then after ready: what held a device beyond its slice
//   daemon <-> worker   what device/device_failure.hpp says of devices that fail
//   daemon <-> worker   the orders of move/orders.hpp and their answers
//
// A direct session (Hello::direct) has no worker of its own, since the program keeps the driver in its
// process:
//
//   daemon  -> client   ends          before the welcome: the worker's ends of everything that a worker has
//   client  -> daemon   ready, failed on the worker's channel, as a worker would; then the welcome follows
//
// A tenant's socket then stays open without other traffic: when either side hangs up, the session is over. A
// control connection goes on with the requests of control/protocol.hpp.
//
// Parsers take bytes from anybody and return one line that says what is wrong with them; they never throw.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/base/memory_size.hpp"
#include "runtime/base/result.hpp"
#include "runtime/session/device/device_failure.hpp"
#include "runtime/session/journal/journal_report.hpp"
#include "runtime/session/move/orders.hpp"
#include "runtime/session/wish/slicing_wish.hpp"
#include "runtime/session/wish/tenant_wish.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::session {

/// The protocols that this build speaks, oldest to newest. A hello names one; others are refused.
inline constexpr std::uint32_t kOldestProtocol = 1;
inline constexpr std::uint32_t kProtocolVersion = wire::kProtocolVersion;

/// Feature bits of hello and welcome. A side uses only what the other has named, too.
enum Feature : std::uint64_t {
  /// The welcome brings a second descriptor: a pipe with the worker's standard output, to which its driver
  /// writes.
  kKernelOutput = 1U << 0,
  /// Ends that nobody waits for wake nobody (ring::SlotState::kQuiet).
  kQuietSlots = 1U << 1,
  /// The client asks for device memory before it makes the object that lies in it (wire::ReserveMemory); the
  /// welcome says how much its tenant may hold.
  kMemoryQuota = 1U << 2,
  /// The daemon has workers that serve the calls of CUDA (Hello::api).
  kCuda = 1U << 3,
  /// The worker tells when memory that was released has come back (wire::AwaitMemory).
  kMemoryWaits = 1U << 4,
  /// The client reads the headers of its builds and sends them (wire::ProvideIncludes).
  kIncludes = 1U << 5,
  /// The driver's output on the worker's standard error comes on the session's socket (DriverSays).
  kDriverMessages = 1U << 6,
  /// The daemon may have chosen among the devices (Welcome::hidden_devices): the worker's lists of devices
  /// are without those that were not chosen, and another session of the same program may have others.
  kChosenDevices = 1U << 7,
  /// The worker takes marks of the program (wire::EnqueueMark).
  kMarks = 1U << 8,
  /// The client is its own worker, if it asks for it (Hello::direct). A daemon that does not know this
  /// feature
  /// answers with a worker, which such a client does not take.
  kDirect = 1U << 9,
};
inline constexpr std::uint64_t kFeatures = kKernelOutput | kQuietSlots | kMemoryQuota | kCuda | kMemoryWaits |
                                           kIncludes | kDriverMessages | kChosenDevices | kMarks | kDirect;

inline constexpr std::size_t kLongestTenantName = 64;
inline constexpr std::size_t kLongestProgramName = 64;

/// 1 to 64 of A-Z a-z 0-9 _ . @ -
bool is_tenant_name(std::string_view name);
/// Why `name` is no tenant's name, as one line. `source` says where it came from: "--tenant".
Error tenant_name_error(std::string_view name, const std::string& source);

/// The calls that a session speaks: those of wire/calls.hpp, or those of wire/cuda_calls.hpp.
enum class Api { opencl, cuda };

struct Hello {
  enum class Role { tenant, control };
  std::uint32_t protocol = kProtocolVersion;
  std::uint64_t features = kFeatures;  // bit set of Feature
  Role role = Role::tenant;
  // For role tenant only.
  std::optional<std::string> tenant;  // none: the user's name
  TenantWish wish{};
  std::string program;   // for people to read
  std::int64_t pid = 0;  // for people to read: the daemon asks the kernel
  SlicingWish slicing{};
  std::optional<MemorySize> memory{};  // none: the configuration decides
  /// A daemon without kCuda does not know it, and would start a worker for OpenCL.
  Api api = Api::opencl;
  /// With kDirect: the program keeps the driver in its own process, and is its own worker.
  bool direct = false;
};

/// The names of a program's platforms: FairGV's or the driver's.
enum class Names { fairgv, driver };
/// "fairgv" or "driver"; nothing if it is neither.
std::optional<Names> parse_names(std::string_view text);

struct Welcome {
  std::uint32_t protocol = kProtocolVersion;
  std::uint64_t features = 0;  // those of the hello that the daemon has, too
  // For role tenant only.
  std::uint32_t session = 0;
  std::string tenant;
  std::uint32_t weight = 0;  // after caps and pins
  /// With kMemoryQuota: the bytes that the tenant may hold, by device. They are the size of the devices'
  /// memory that the program is told.
  std::vector<std::uint64_t> memory_limits{};
  /// The configuration's choice for programs that ask for neither.
  Names names = Names::fairgv;
  /// With kChosenDevices: the worker's devices that the program may not use, a bit each. The worker refuses
  /// them in any case.
  std::uint64_t hidden_devices = 0;
};

/// For a direct program, with four descriptors: the turn page, the channel, the ledger and the knock.
struct DirectEnds {
  static constexpr std::size_t kDescriptors = 4;
  std::uint32_t session = 0;
  std::string library{};      // the driver that the program must have loaded; empty: any
  double slice_ms = 6;        // device time that a lone tenant keeps in flight
  std::uint32_t samples = 0;  // commands of a kind measured one by one
};

struct Refused {
  std::string reason;
};

/// Lines of a driver, at most kMostDriverLines of at most kLongestDriverLine bytes.
struct DriverSays {
  std::vector<std::string> lines;
  std::uint64_t answers = 0;  // the number of a Hear, if it is the answer to it
};

inline constexpr std::size_t kMostDriverLines = 24;
inline constexpr std::size_t kLongestDriverLine = 1100;

/// Asks for the driver's messages so far; the answer brings the last of them.
struct Hear {
  std::uint64_t number = 0;  // from 1 on
};

/// A device as its driver names it.
struct DeviceDescription {
  std::string platform;
  std::string name;
  std::uint64_t type = 0;    // cl_device_type
  std::uint64_t memory = 0;  // bytes; 0: unknown
  std::string id{};          // tells it from others of its name; empty: the driver does not say
  /// Compute units times their clock in MHz (sched::speed_of), to compare devices of one platform; 0: the
  /// driver does not say.
  std::uint64_t speed = 0;

  /// Whether it is the same device. The memory is left out: drivers may count what is free just then. So is
  /// the speed: clocks change.
  bool operator==(const DeviceDescription& other) const {
    return platform == other.platform && name == other.name && type == other.type &&
           (id == other.id || id.empty() || other.id.empty());
  }
};

inline constexpr std::size_t kLongestDeviceId = 64;

struct WorkerReady {
  std::vector<DeviceDescription> devices;  // at most kMaxDevices
  /// If the daemon wanted to know: a line for each driver that could not be opened, at most
  /// kMostUnusableDrivers of at most kLongestFailure bytes.
  std::vector<std::string> unusable{};
  /// The devices that the program's API can name, a bit each: a program of CUDA has no use for OpenCL's.
  std::uint64_t nameable = ~std::uint64_t{0};
};

inline constexpr std::size_t kMostUnusableDrivers = 16;

struct WorkerFailed {
  std::string reason;  // at most kLongestFailure bytes
};

inline constexpr std::size_t kLongestFailure = 1024;

/// The beginning of lines that a worker itself, not its driver, writes to its standard error.
inline constexpr std::string_view kWorkersOwnLine = "fairgv-vgpu: ";

/// The most names under which a worker tells of long commands; all further commands are kOtherCommands.
inline constexpr std::size_t kMostLongCommands = 16;
inline constexpr const char* kOtherCommands = "other";
/// Bytes of a long command's name, and of its reason.
inline constexpr std::size_t kLongestCommandText = 128;

/// A command that held a device for longer than its slice while others wanted the device, and could not be
/// cut. All that is known of its name on this device so far: each message replaces the one before.
struct LongCommand {
  std::uint32_t device = 0;  // index into the worker's devices
  std::string name;          // the kernel's function
  std::string reason;        // the text after "it cannot be sliced: "
  std::uint64_t count = 0;   // how often, at least once
  std::uint64_t longest_ns = 0;
  std::uint64_t total_ns = 0;

  bool operator==(const LongCommand&) const = default;
};

/// "opencl", "cuda": in hellos, reports and options.
std::string to_text(Api api);
/// Nothing if the text is no API's.
std::optional<Api> parse_api(std::string_view name);
std::string to_text(const Hello& hello);
std::string to_text(const Welcome& welcome);
std::string to_text(const DirectEnds& ends);
std::string to_text(const Refused& refused);
std::string to_text(const DriverSays& message);
std::string to_text(const Hear& question);
std::string to_text(const WorkerReady& ready);
std::string to_text(const WorkerFailed& failed);
std::string to_text(const LongCommand& command);

/// Fails also for a protocol that this build does not speak; the message names both.
Result<Hello> parse_hello(std::string_view text);
Result<std::variant<Welcome, Refused>> parse_hello_answer(std::string_view text);
/// The first answer to a hello that asks for a direct session. A Welcome is an older daemon's.
Result<std::variant<DirectEnds, Welcome, Refused>> parse_direct_answer(std::string_view text);
Result<DriverSays> parse_driver_says(std::string_view text);
Result<Hear> parse_hear(std::string_view text);
using WorkerMessage = std::variant<WorkerReady, WorkerFailed, LongCommand, JournalShown, CopiedAhead,
                                   ImageWritten, CannotMove, MadeAhead, MadeAgain, DeviceFailed, TrialEnded>;
Result<WorkerMessage> parse_worker_message(std::string_view text);

}  // namespace fairgv::session
