// Memory of the CUDA front end: allocations, copies and fills.
//
// Device addresses are the driver's own, because kernels get them in their parameters. The front end knows
// its allocations and refuses addresses outside them; the driver has the last word.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/commands.hpp"
#include "runtime/wire/calls/cuda/types.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire::cuda {

struct AllocationReply {
  ResultCode code = 0;  // CUDA_ERROR_OUT_OF_MEMORY also when the tenant's quota is spent
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;
  FAIRGV_FIELDS(code, address, pitch)
};

/// Linear memory of a context's device; with `rows` above 0, so many rows of `bytes` at a pitch of the
/// driver's (cuMemAllocPitch).
struct AllocateMemory {
  FAIRGV_CALL(CudaAllocateMemory, 0x1040, AllocationReply)
  ObjectId context;
  std::uint64_t bytes = 0;
  std::uint64_t rows = 0;
  std::uint32_t element_bytes = 0;  // 4, 8 or 16, for rows
  FAIRGV_FIELDS(context, bytes, rows, element_bytes)
};

/// `address`: the answer of AllocateMemory. The front end has made sure that no command uses it any more.
struct FreeMemory {
  FAIRGV_CALL(CudaFreeMemory, 0x1041, void)
  ObjectId context;
  std::uint64_t address = 0;
  FAIRGV_FIELDS(context, address)
};

/// The same in the order of a stream (cuMemFreeAsync).
struct EnqueueFreeMemory {
  FAIRGV_CALL(CudaEnqueueFreeMemory, 0x1042, void)
  Command command;
  std::uint64_t address = 0;
  FAIRGV_FIELDS(command, address)
};

struct SettledReply {
  std::uint64_t freed = 0;  // EnqueueFreeMemory calls that are done, of the session's
  FAIRGV_FIELDS(freed)
};

/// Makes memory that streams have freed by now available to everybody: gives it back to the driver, and to
/// the tenant's quota. Sent before the program learns that its wait is over.
struct SettleFrees {
  FAIRGV_CALL(CudaSettleFrees, 0x104c, SettledReply)
  std::uint32_t unused = 0;
  FAIRGV_FIELDS(unused)
};

struct MemoryInfoReply {
  ResultCode code = 0;
  std::uint64_t free = 0, total = 0;  // bytes, as the tenant's quota has it
  FAIRGV_FIELDS(code, free, total)
};

struct GetMemoryInfo {
  FAIRGV_CALL(CudaGetMemoryInfo, 0x1043, MemoryInfoReply)
  ObjectId context;
  FAIRGV_FIELDS(context)
};

/// Makes a part of the arena known to the driver as pinned host memory that kernels may use, at the address
/// that is answered. The range is of whole pages and known to the driver once.
struct PinArena {
  FAIRGV_CALL(CudaPinArena, 0x1044, AllocationReply)
  ObjectId context;
  ArenaRange range;
  FAIRGV_FIELDS(context, range)
};

/// `offset` is that of a range that was pinned. No command uses it any more.
struct UnpinArena {
  FAIRGV_CALL(CudaUnpinArena, 0x1045, void)
  std::uint64_t offset = 0;
  FAIRGV_FIELDS(offset)
};

/// CUDA_ARRAY3D_DESCRIPTOR. An id that is refused names nothing.
struct CreateArray {
  FAIRGV_CALL(CudaCreateArray, 0x1046, CodeReply)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::uint64_t width = 0, height = 0, depth = 0;  // in elements
  std::uint32_t format = 0;                        // CUarray_format
  std::uint32_t channels = 0;
  std::uint32_t flags = 0;
  FAIRGV_FIELDS(id, context, width, height, depth, format, channels, flags)
};

/// A mipmapped array of this shape. `levels`: at least one, and no more than its extents have halvings
/// (levels.hpp). An id that is refused names nothing.
struct CreateMipmap {
  FAIRGV_CALL(CudaCreateMipmap, 0x1049, CodeReply)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::uint64_t width = 0, height = 0, depth = 0;  // in elements, of the first level
  std::uint32_t format = 0;                        // CUarray_format
  std::uint32_t channels = 0;
  std::uint32_t flags = 0;
  std::uint32_t levels = 0;
  FAIRGV_FIELDS(id, context, width, height, depth, format, channels, flags, levels)
};

/// Names a level of a mipmapped array, which is an array then. The level keeps the whole.
struct NameLevel {
  FAIRGV_CALL(CudaNameLevel, 0x104a, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId mipmap;
  std::uint32_t level = 0;
  FAIRGV_FIELDS(id, mipmap, level)
};

/// Copies `extent.z` slices of `extent.y` rows of `extent.x` bytes.
struct Copy {
  FAIRGV_CALL(CudaCopy, 0x1050, void)
  Command command;
  Place from, to;
  Extent3 extent;
  FAIRGV_FIELDS(command, from, to, extent)
};

/// Sets `rows` rows of `width` elements of 1, 2 or 4 bytes.
struct Fill {
  FAIRGV_CALL(CudaFill, 0x1051, void)
  Command command;
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;
  std::uint64_t width = 0, rows = 1;
  std::uint32_t element_bytes = 1;
  std::uint32_t value = 0;
  FAIRGV_FIELDS(command, address, pitch, width, rows, element_bytes, value)
};

using MemoryCalls = TypeList<AllocateMemory, FreeMemory, EnqueueFreeMemory, SettleFrees, GetMemoryInfo,
                             PinArena, UnpinArena, CreateArray, CreateMipmap, NameLevel, Copy, Fill>;

}  // namespace fairgv::wire::cuda
