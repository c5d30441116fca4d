// The contents of memory objects, read and written whole: for a session that moves to another worker.
//
// Memory that lies in the arena, or in another object's, has none of its own. Every call waits for the
// driver.
#pragma once

#include <CL/cl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/result.hpp"
#include "runtime/vgpu/opencl/handles.hpp"
#include "runtime/vgpu/opencl/objects.hpp"

namespace fairgv::vgpu::opencl {

/// The bytes of an object's own contents, of images without gaps; 0: it has none.
std::uint64_t contents_bytes(const Object& object);

/// The elements of an image, as the driver counts them.
std::array<std::size_t, 3> region_of(const Image& image);
/// A queue for copies. The driver's own default: in order, without times.
QueueHandle make_plain_queue(cl_context context, cl_device_id device, cl_int& error);

/// Copies them all, by a queue on `device`, which the object's context has. An Error if the driver refuses.
Result<void> read_contents(const Object& object, cl_device_id device, std::span<std::byte> to);
Result<void> write_contents(const Object& object, cl_device_id device, std::span<const std::byte> from);

}  // namespace fairgv::vgpu::opencl
