// The command on a device queue with which an Operation was begun. It holds the command's resources until the
// command's event ends, and then ends the operation (OpenCL 3.0, clSetEventCallback).
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

  /// Keeps `begun` until the command of the event has ended, and then ends the operation with the result of
  /// finish(). Takes over the event, and flushes the queue.
  static void keep(std::unique_ptr<Begun> begun, cl_command_queue queue, cl_event event);

 private:
  /// The operation's result. Called once, on a thread of the device, which must not be blocked.
  virtual CUresult finish(cl_int status) = 0;
  static void CL_CALLBACK ended(cl_event event, cl_int status, void* begun);

  Scheduler& scheduler_;
  std::shared_ptr<Operation> operation_;
};

/// A stream's own queue of the device, made when it is first asked for. Null: it cannot be made. Call within
/// a Begin only.
cl_command_queue device_queue(const OpenClDevice& device, Stream& stream);

}  // namespace fairgv::cuda::soft
