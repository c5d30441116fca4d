// Ranges of addresses, physical memory, and mappings of the one at the other (CUDA Driver API, "Virtual
// Memory Management"). Addresses are the driver's own; the worker numbers the session's physical memory.
// Every call has the driver's answer, which has the last word on what fits where.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/cuda/types.hpp"
#include "runtime/wire/codec.hpp"

namespace fairgv::wire::cuda {

struct GranularityReply {
  ResultCode code = 0;
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(code, bytes)
};

/// `which`: CUmemAllocationGranularity_flags. Devices are named by their ordinals, as in CreateContext.
struct GetGranularity {
  FAIRGV_CALL(CudaGetGranularity, 0x1060, GranularityReply)
  std::uint32_t ordinal = 0;
  std::uint32_t which = 0;
  FAIRGV_FIELDS(ordinal, which)
};

struct RangeReply {
  ResultCode code = 0;
  std::uint64_t address = 0;
  FAIRGV_FIELDS(code, address)
};

/// `alignment` 0: the driver's. `address` 0: no wish.
struct ReserveRange {
  FAIRGV_CALL(CudaReserveRange, 0x1061, RangeReply)
  std::uint64_t bytes = 0, alignment = 0, address = 0;
  FAIRGV_FIELDS(bytes, alignment, address)
};

struct FreeRange {
  FAIRGV_CALL(CudaFreeRange, 0x1062, CodeReply)
  std::uint64_t address = 0, bytes = 0;
  FAIRGV_FIELDS(address, bytes)
};

struct PhysicalReply {
  ResultCode code = 0;  // CUDA_ERROR_OUT_OF_MEMORY also when the tenant's quota is spent
  std::uint64_t number = 0;
  FAIRGV_FIELDS(code, number)
};

/// Physical memory of a device. It is the tenant's until it is released and nowhere mapped.
struct CreatePhysical {
  FAIRGV_CALL(CudaCreatePhysical, 0x1063, PhysicalReply)
  std::uint32_t ordinal = 0;
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(ordinal, bytes)
};

/// The number names nothing any more.
struct ReleasePhysical {
  FAIRGV_CALL(CudaReleasePhysical, 0x1064, void)
  std::uint64_t number = 0;
  FAIRGV_FIELDS(number)
};

/// Its first `bytes`, in a reserved range.
struct MapPhysical {
  FAIRGV_CALL(CudaMapPhysical, 0x1065, CodeReply)
  std::uint64_t number = 0;
  std::uint64_t address = 0, bytes = 0;
  FAIRGV_FIELDS(number, address, bytes)
};

/// Whole mappings. The front end has made sure that no command uses them any more.
struct UnmapRange {
  FAIRGV_CALL(CudaUnmapRange, 0x1066, CodeReply)
  std::uint64_t address = 0, bytes = 0;
  FAIRGV_FIELDS(address, bytes)
};

/// `flags`: CUmemAccess_flags, of the device, to whole mappings.
struct SetAccess {
  FAIRGV_CALL(CudaSetAccess, 0x1067, CodeReply)
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t ordinal = 0;
  std::uint32_t flags = 0;
  FAIRGV_FIELDS(address, bytes, ordinal, flags)
};

using RangeCalls = TypeList<GetGranularity, ReserveRange, FreeRange, CreatePhysical, ReleasePhysical,
                            MapPhysical, UnmapRange, SetAccess>;

}  // namespace fairgv::wire::cuda
