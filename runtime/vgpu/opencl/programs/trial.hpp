// Asks a driver whether it takes a command, without running it: the command is handed over behind an event
// that then fails, so that the driver checks its arguments as it always does, and drops it.
//
// The loop thread's. Nothing here waits for the device.
#pragma once

#include <CL/cl.h>

#include <functional>

#include "runtime/vgpu/opencl/commands.hpp"
#include "runtime/vgpu/opencl/driver/driver.hpp"
#include "runtime/vgpu/opencl/handles.hpp"

namespace fairgv::vgpu::opencl {

/// A driver's queue; empty, with its error in `error`, if it makes none.
QueueHandle make_queue(const Platform& platform, cl_context context, cl_device_id device,
                       cl_command_queue_properties properties, cl_int& error);

/// The driver's answer when `enqueue` hands it a command for a queue like this one. `runs_after_failure`: the
/// driver would run the command when the event fails (FailedWaits::kIgnored), so the event never ends and the
/// driver keeps the command for good. Such a driver must not be asked without end.
cl_int try_command(const Platform& platform, const Queue& like, bool runs_after_failure,
                   const std::function<cl_int(cl_command_queue, const Waits&)>& enqueue);

/// How the driver lets commands end that waited for an event which failed; if it does not tell, the rule that
/// the specification suggests.
FailedWaits::Rule failed_waits_of(const Platform& platform, cl_context context, cl_device_id device);

}  // namespace fairgv::vgpu::opencl
