// The contents of CUDA's memory, read and written whole: for a session that moves to another worker.
//
// Every call waits for the driver. Levels of mipmapped arrays have none of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/result.hpp"
#include "runtime/vgpu/cuda/objects.hpp"

namespace fairgv::vgpu::cuda {

/// Bytes of the device. An Error if the driver refuses.
Result<void> read_linear(const Context& context, std::uint64_t address, std::span<std::byte> to);
Result<void> write_linear(const Context& context, std::uint64_t address, std::span<const std::byte> from);

/// The bytes of the contents of an array, a mipmapped array or a module's variables; 0 of all else.
std::uint64_t contents_bytes(const Object& object);
/// Of an object that has so many. An Error if the driver refuses.
Result<void> read_contents(const Object& object, std::span<std::byte> to);
Result<void> write_contents(const Object& object, std::span<const std::byte> from);

/// Where the variables of a module lie; no bytes: it has none.
struct ModuleMemory {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
};
ModuleMemory memory_of(const Module& module);

}  // namespace fairgv::vgpu::cuda
