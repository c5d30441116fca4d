// The drivers of one API beneath a worker, and the table of the APIs that there are. Another API is a folder
// and a row.
//
// A back end lists OpenCL's devices first, in their order, then those that only its own API has. The daemon
// finds each by its identity among the host's (runtime/daemon/devices/view.hpp): what another worker has
// shown before is the same device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/worker_options.hpp"
#include "runtime/vgpu/backend/device_access.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/executor/executor.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/vgpu/residency/residencies.hpp"

namespace fairgv::vgpu {

/// How one session is served.
struct ServeSettings {
  bool slicing = true;                  // programs are prepared so that launches can run in parts
  std::set<std::string> never_slice{};  // functions whose launches must run whole
  MemoryAccount* memory = nullptr;      // outlives all commands; none: memory is not counted
  Residencies* residencies = nullptr;   // the same; none: no device's memory is lent
  std::uint32_t object_limit = session::WorkerTuning{}.objects;  // that the program may have at a time
  DeviceAccess access{};                                         // to the devices; default: to all
  /// Hears of an error with which a driver has refused to make something on the device; may be empty.
  std::function<void(wire::DeviceIndex device, std::int32_t error)> refused{};
};

class BackEnd {
 public:
  virtual ~BackEnd() = default;

  /// As all workers name them.
  virtual std::vector<session::DeviceDescription> devices() const = 0;
  /// The devices that a program can name, a bit each.
  virtual std::uint64_t nameable() const { return ~std::uint64_t{0}; }
  /// Whether commands run on the host's own CPU.
  virtual bool has_host_device() const = 0;
  /// Whether all of the drivers' threads work for one CPU device: threads of several devices could not be
  /// told apart.
  virtual bool is_one_cpu_device() const = 0;
  /// Whether ends are reported by the threads that run commands, on which more may be issued: OpenCL's on the
  /// host's CPU. A GPU's driver has few threads for that.
  virtual bool callbacks_may_issue() const = 0;
  /// The error's name if a driver says by this status of a command that its device has failed, and not that
  /// the program made a mistake; else nothing. Any thread.
  virtual std::optional<std::string> device_failure(std::int32_t status) const = 0;
  /// Uses the device as a program would, for milliseconds, outside of turns: for a worker that serves no
  /// session.
  virtual session::TrialEnded try_device(wire::DeviceIndex device) = 0;
  /// The handlers of the session's calls. This, the segment and the executor outlive them.
  virtual std::unique_ptr<CallHandler> serve(const ring::Segment& segment, Executor& executor,
                                             ServeSettings settings) = 0;
};

struct BackEndKind {
  session::Api api;
  /// Loads the drivers, which starts the threads of CPU devices. An Error as one line if none can be used.
  Result<std::unique_ptr<BackEnd>> (*open)(const session::WorkerOptions& options);
};

/// One row for each API.
std::span<const BackEndKind> back_ends();

/// Of the API that the program speaks.
Result<std::unique_ptr<BackEnd>> open_back_end(const session::WorkerOptions& options);

}  // namespace fairgv::vgpu
