// OpenCL as a back end, and its part that other back ends need: the devices that every worker names alike.
#pragma once

#include <memory>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/worker_options.hpp"
#include "runtime/vgpu/backend/back_end.hpp"
#include "runtime/vgpu/opencl/driver/driver.hpp"

namespace fairgv::vgpu::opencl {

Result<std::unique_ptr<BackEnd>> open_back_end(const session::WorkerOptions& options);

/// Opens the drivers, which starts the threads of a CPU device, and gives each a core of its own if that is
/// wanted. Threads of several devices cannot be told apart.
Result<Driver> open_driver(bool core_per_thread);

/// The devices of the topology, as all workers name them.
std::vector<session::DeviceDescription> describe(const Driver& driver);

}  // namespace fairgv::vgpu::opencl
