// Reads of an object's contents into a file while the session runs: commands of the worker's own, which have
// their turns as others do.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/vgpu/backend/movable_objects.hpp"
#include "runtime/vgpu/executor/loop.hpp"
#include "runtime/vgpu/opencl/driver.hpp"
#include "runtime/vgpu/opencl/objects.hpp"

namespace fairgv::vgpu::opencl {

/// Queues them: the contents go to the file from `offset` on. `copy` fails if there is no memory in the file,
/// or if the driver refuses: some memory may not be read by the host. `device`: of the object's context.
void read_ahead(const std::shared_ptr<Object>& object, const Device& device, int file, std::uint64_t offset,
                const std::shared_ptr<ContentsCopy>& copy, Executor::Loop& loop);

}  // namespace fairgv::vgpu::opencl
