// Stops a driver between making a command's machine code and running the command.
//
// PoCL makes code when it comes to run a launch, and reports CL_RUNNING on the thread that goes on to run it.
// A callback that does not return holds the command back. A user event keeps the command from beginning
// before the callbacks are there. Whether a driver can be held so is tried, not assumed.
#pragma once

#include <CL/cl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "runtime/opencl/handle.hpp"

namespace fairgv::opencl {

/// Whether a gate holds on this device, which is the host's processors: tried with a read of four bytes.
bool gate_holds(cl_context context, cl_device_id device);

/// Of one command at a time. All but ended() and held() are the issuing thread's.
class CodeGate {
 public:
  /// Begins to close: the event goes into the wait list of the command. Null, with `error` set: the driver
  /// refuses.
  cl_event start(cl_context context, cl_int& error);

  /// The command was enqueued behind the event of start(); `event` is its own. `reached` is going to be
  /// called when it comes to the gate, on a thread of the driver's, or has ended before. False: the driver
  /// refuses.
  bool close(cl_event event, std::function<void()> reached);
  /// The command may come to the gate: flushes its queue.
  void begin(cl_command_queue queue);
  /// It must not: it fails, if it was enqueued.
  void cancel();

  /// Lets the command run.
  void open();

  /// To be called when the command has ended: true if it never came to the gate, in which case `reached` is
  /// called.
  bool ended(cl_int status);
  /// Once `reached` was called: the status with which the command has ended without coming to the gate.
  std::optional<cl_int> missed_with() const { return missed_with_; }

  /// For how long the gate has held the command back, once it has ended.
  std::chrono::nanoseconds held() const { return held_; }

 private:
  enum class State : std::uint32_t { open, closed, reached, missed };
  static void CL_CALLBACK arrive(cl_event event, cl_int status, void* gate);

  EventHandle start_;
  std::function<void()> reached_;
  // The thread that is in begin(). Relaxed: that thread asks whether it is itself, and any other sees one
  // that is not.
  std::atomic<std::thread::id> beginning_{};
  // Moved by compare-and-swap, but for close(): acquire and release, so that earlier writes are seen.
  std::atomic<State> state_{State::open};
  std::optional<cl_int> missed_with_;
  std::chrono::nanoseconds held_{0};
};

}  // namespace fairgv::opencl
