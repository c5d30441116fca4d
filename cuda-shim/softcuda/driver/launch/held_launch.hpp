// A launch that stops between the making of its machine code and its run, until it is released. FairGV's
// worker lets others have the device while a compiler is at work (runtime/opencl/code_gate.hpp).
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
  /// Called once, on any thread: the launch has stopped, or never will.
  using Reached = void (*)(void* data);
  HeldLaunch(Reached reached, void* data) : reached_(reached), data_(data) {}

  /// The next launch of the calling thread is to be held, or (null) is not.
  static void hold_next(std::shared_ptr<HeldLaunch> launch);
  /// The launch that was given to hold_next(), or null. From now on `reached` is certain to be called, at the
  /// latest when the returned pointer is dropped.
  static std::shared_ptr<HeldLaunch> take_next();

  /// The launch was submitted as this operation of its stream.
  void submitted_as(const std::shared_ptr<Operation>& operation) { operation_ = operation; }

  // One after the other:
  /// An event that the launch has to wait for; null: there is no memory.
  cl_event start(cl_context context);
  /// The driver has not taken the launch; the later calls do not happen.
  void cancel() { gate_.cancel(); }
  /// The launch is to stop; `launch` is its event.
  void stop(cl_event launch);
  void begin(cl_command_queue queue) { gate_.begin(queue); }
  void let_go();
  void ended(cl_int status) { gate_.ended(status); }

 private:
  void tell();

  const Reached reached_;
  void* const data_;
  std::atomic<bool> told_{false};       // relaxed: it only decides which thread tells
  std::weak_ptr<Operation> operation_;  // of the submitting thread, which releases it
  opencl::CodeGate gate_;
};

}  // namespace fairgv::cuda::soft
