// Devices, contexts and streams of the CUDA front end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/cuda/types.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire::cuda {

/// The constant facts of a device.
struct DeviceFacts {
  DeviceIndex device = 0;  // in the topology, by which turns and memory limits go
  std::string name;
  std::array<std::byte, 16> uuid{};
  std::array<std::byte, 8> luid{};
  std::uint64_t memory = 0;              // bytes
  std::vector<std::int32_t> attributes;  // by CUdevice_attribute; 0: unknown to the driver
  std::string pci_bus_id;
  /// 1: conditional handles are addresses that cudaGraphSetConditional stores to (the software driver).
  std::uint32_t sets_conditions = 0;
  FAIRGV_FIELDS(device, name, uuid, luid, memory, attributes, pci_bus_id, sets_conditions)
};

struct DevicesReply {
  ResultCode code = 0;                // of cuInit
  std::int32_t driver_version = 0;    // 1000 * major + 10 * minor
  std::uint32_t arena_is_shared = 0;  // 1: the worker has the arena at the address that the daemon wanted
  std::vector<DeviceFacts> devices;   // by ordinal
  FAIRGV_FIELDS(code, driver_version, arena_is_shared, devices)
};

struct GetDevices {
  FAIRGV_CALL(CudaGetDevices, 0x1000, DevicesReply)
  std::uint32_t unused = 0;
  FAIRGV_FIELDS(unused)
};

struct ContextReply {
  ResultCode code = 0;
  std::uint32_t api_version = 0;
  std::int32_t least_priority = 0, greatest_priority = 0;
  FAIRGV_FIELDS(code, api_version, least_priority, greatest_priority)
};

/// The driver's primary context of a device, or a new one. ReleaseObject ends it: of a primary one, when no
/// other id names it. An id that is refused names nothing.
struct CreateContext {
  FAIRGV_CALL(CudaCreateContext, 0x1001, ContextReply)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  std::uint32_t ordinal = 0;
  std::uint32_t is_primary = 0;
  std::uint32_t flags = 0;  // CUctx_flags
  FAIRGV_FIELDS(id, ordinal, is_primary, flags)
};

struct LimitReply {
  ResultCode code = 0;
  std::uint64_t value = 0;
  FAIRGV_FIELDS(code, value)
};

struct GetLimit {
  FAIRGV_CALL(CudaGetLimit, 0x1002, LimitReply)
  ObjectId context;
  std::uint32_t limit = 0;  // CUlimit
  FAIRGV_FIELDS(context, limit)
};

/// Answers with the limit that holds now.
struct SetLimit {
  FAIRGV_CALL(CudaSetLimit, 0x1003, LimitReply)
  FAIRGV_SETS(context, limit)
  ObjectId context;
  std::uint32_t limit = 0;
  std::uint64_t value = 0;
  FAIRGV_FIELDS(context, limit, value)
};

/// How a stream is ordered among the others of its context (CUDA Driver API, "Stream synchronization
/// behavior").
enum class StreamKind : std::uint32_t {
  legacy,        // waits for all blocking ones, and they for it; a context has at most one
  blocking,      // also the default streams of threads
  non_blocking,  // on its own
};

/// A failure in the driver surfaces in the commands of the stream.
struct CreateStream {
  FAIRGV_CALL(CudaCreateStream, 0x1010, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  StreamKind kind = StreamKind::blocking;
  std::int32_t priority = 0;  // within the context's bounds
  FAIRGV_FIELDS(id, context, kind, priority)
};

using ContextCalls = TypeList<GetDevices, CreateContext, GetLimit, SetLimit, CreateStream>;

}  // namespace fairgv::wire::cuda
