#include "runtime/vgpu/cuda/move/contents.hpp"

#include <cuda.h>
#include <fmt/core.h>

#include <algorithm>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/wire/calls/cuda/facts.hpp"
#include "runtime/wire/calls/cuda/levels.hpp"

namespace fairgv::vgpu::cuda {
namespace {

/// The rows of an array, or of a level, without gaps.
struct Rows {
  std::size_t bytes = 0;  // of a row
  std::size_t rows = 0;   // of a slice
  std::size_t slices = 0;
  std::size_t all() const { return bytes * rows * slices; }
};

Rows rows_of(const CUDA_ARRAY3D_DESCRIPTOR& description, unsigned level) {
  const bool layers = (description.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  const auto extents =
      wire::cuda::level_extents({description.Width, description.Height, description.Depth}, layers, level);
  const unsigned implied = wire::cuda::channels_of(description.Format);
  const std::size_t element =
      wire::cuda::channel_bytes(description.Format) * (implied != 0 ? implied : description.NumChannels);
  return {extents.width * element, std::max<std::size_t>(extents.height, 1),
          std::max<std::size_t>(extents.depth, 1)};
}

/// Calls visit(array, rows) with each array of the driver's that has the object's contents.
template <class Visit>
void each_array(const Object& object, const Visit& visit) {
  if (object.kind() == ObjectKind::array) {
    const auto& array = static_cast<const Array&>(object);
    if (!array.mipmap) visit(array.handle, rows_of(array.description, 0));
  } else if (object.kind() == ObjectKind::mipmap) {
    const auto& mipmap = static_cast<const Mipmap&>(object);
    for (unsigned level = 0; level < mipmap.levels.size(); ++level)
      visit(mipmap.levels[level], rows_of(mipmap.description, level));
  }
}

const Context& context_of(const Object& object) {
  if (object.kind() == ObjectKind::array) return *static_cast<const Array&>(object).context;
  return *static_cast<const Mipmap&>(object).context;
}

Result<void> checked(const Functions& driver, CUresult code) {
  if (code == CUDA_SUCCESS) return {};
  return Error{fmt::format("the driver does not copy the contents of memory: {}", describe(driver, code))};
}

/// Copies arrays from or to memory, one behind the other. `fill(copy, memory, array)` says what to what.
template <class Fill>
Result<void> copy_arrays(const Object& object, const Fill& fill) {
  const Context& context = context_of(object);
  const Functions& driver = context.driver;
  CUresult code = use(driver, context.handle);
  std::size_t at = 0;
  each_array(object, [&](CUarray array, const Rows& rows) {
    CUDA_MEMCPY3D copy{};
    fill(copy, at, array);
    copy.srcPitch = copy.dstPitch = rows.bytes;
    copy.srcHeight = copy.dstHeight = rows.rows;
    copy.WidthInBytes = rows.bytes;
    copy.Height = rows.rows;
    copy.Depth = rows.slices;
    if (code == CUDA_SUCCESS) code = driver.cuMemcpy3DAsync(&copy, nullptr);
    at += rows.all();
  });
  if (code == CUDA_SUCCESS) code = driver.cuStreamSynchronize(nullptr);
  return checked(driver, code);
}

}  // namespace

// The program has no stream 0 in the driver (stream_order.hpp): nothing of it comes before these copies, and
// all that it has begun has ended.

Result<void> read_linear(const Context& context, std::uint64_t address, std::span<std::byte> to) {
  const Functions& driver = context.driver;
  CUresult code = use(driver, context.handle);
  if (code == CUDA_SUCCESS && !to.empty())
    code = driver.cuMemcpyDtoHAsync(to.data(), address, to.size(), nullptr);
  if (code == CUDA_SUCCESS) code = driver.cuStreamSynchronize(nullptr);
  return checked(driver, code);
}

Result<void> write_linear(const Context& context, std::uint64_t address, std::span<const std::byte> from) {
  const Functions& driver = context.driver;
  CUresult code = use(driver, context.handle);
  if (code == CUDA_SUCCESS && !from.empty())
    code = driver.cuMemcpyHtoDAsync(address, from.data(), from.size(), nullptr);
  if (code == CUDA_SUCCESS) code = driver.cuStreamSynchronize(nullptr);
  return checked(driver, code);
}

ModuleMemory memory_of(const Module& module) {
  const Functions& driver = module.context->driver;
  ModuleMemory memory;
  if (driver.module_memory == nullptr || module.code() != CUDA_SUCCESS ||
      use(driver, module.context->handle) != CUDA_SUCCESS ||
      driver.module_memory(module.loaded->handle, &memory.address, &memory.bytes) != CUDA_SUCCESS) {
    return {};
  }
  return memory;
}

std::uint64_t contents_bytes(const Object& object) {
  if (object.kind() == ObjectKind::module) return memory_of(static_cast<const Module&>(object)).bytes;
  std::uint64_t bytes = 0;
  each_array(object, [&bytes](CUarray, const Rows& rows) { bytes += rows.all(); });
  return bytes;
}

Result<void> read_contents(const Object& object, std::span<std::byte> to) {
  if (object.kind() == ObjectKind::module) {
    const auto& module = static_cast<const Module&>(object);
    return read_linear(*module.context, memory_of(module).address, to);
  }
  return copy_arrays(object, [to](CUDA_MEMCPY3D& copy, std::size_t at, CUarray array) {
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = to.data() + at;
  });
}

Result<void> write_contents(const Object& object, std::span<const std::byte> from) {
  if (object.kind() == ObjectKind::module) {
    const auto& module = static_cast<const Module&>(object);
    return write_linear(*module.context, memory_of(module).address, from);
  }
  return copy_arrays(object, [from](CUDA_MEMCPY3D& copy, std::size_t at, CUarray array) {
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from.data() + at;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
  });
}

}  // namespace fairgv::vgpu::cuda
