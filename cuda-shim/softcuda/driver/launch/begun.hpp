// A command on a device queue that an Operation was begun with: what it holds until its event says that it
// has ended, and who is told then (OpenCL 3.0, clSetEventCallback).
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <memory>

#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"
#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"

namespace fairgv::cuda::soft {

class Begun {
 public:
  Begun(Scheduler& scheduler, std::shared_ptr<Operation> operation)
      : scheduler_(scheduler), operation_(std::move(operation)) {}
  virtual ~Begun() = default;
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;

  /// Keeps it until the command whose event this is has ended, and then ends the operation with what finish()
  /// returns. Takes the event, and flushes its queue.
  static void keep(std::unique_ptr<Begun> begun, cl_command_queue queue, cl_event event);

 private:
  /// The operation's result. Called once, on a thread of the device's, which must not be held up.
  virtual CUresult finish(cl_int status) = 0;
  static void CL_CALLBACK ended(cl_event event, cl_int status, void* begun);

  Scheduler& scheduler_;
  std::shared_ptr<Operation> operation_;
};

/// A stream's own queue of the device, made when it is first asked for. Null: it cannot be made. Within a
/// Begin only.
cl_command_queue device_queue(const OpenClDevice& device, Stream& stream);

}  // namespace fairgv::cuda::soft
