// A launch that stops between the making of its machine code and its run, until it is let go: FairGV's worker
// lets others have the device while a compiler is at work (runtime/opencl/code_gate.hpp).
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <atomic>
#include <memory>

#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"
#include "runtime/opencl/code_gate.hpp"

namespace fairgv::cuda::soft {

class HeldLaunch {
 public:
  /// Called once, on any thread: the launch has come to where it stops, or never will.
  using Reached = void (*)(void* data);
  HeldLaunch(Reached reached, void* data) : reached_(reached), data_(data) {}

  /// The next launch of the calling thread is to be held, or (null) is not.
  static void hold_next(std::shared_ptr<HeldLaunch> launch);
  /// The launch that hold_next() was told of, or null. From now on `reached` is going to be called:
  /// when what is returned is let go of at the latest.
  static std::shared_ptr<HeldLaunch> take_next();

  /// It is this operation of its stream.
  void submitted_as(const std::shared_ptr<Operation>& operation) { operation_ = operation; }

  // One after the other:
  /// An event that the launch has to wait for; null: there is no memory.
  cl_event start(cl_context context);
  /// The driver has not taken it; what follows does not happen.
  void cancel() { gate_.cancel(); }
  /// It is to stop; `launch` is its event.
  void stop(cl_event launch);
  void begin(cl_command_queue queue) { gate_.begin(queue); }
  void let_go();
  void ended(cl_int status) { gate_.ended(status); }

 private:
  void tell();

  const Reached reached_;
  void* const data_;
  std::atomic<bool> told_{false};       // relaxed: only who tells is decided by it
  std::weak_ptr<Operation> operation_;  // the submitting thread's, who lets go of it
  opencl::CodeGate gate_;
};

}  // namespace fairgv::cuda::soft
