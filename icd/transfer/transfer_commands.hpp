// Sending reads, writes and maps of buffers: staging, splitting, and the waits of blocking calls. The callers
// (api/transfer.cpp) have checked the arguments.
#pragma once

#include <cstdint>

#include "icd/api/entry.hpp"
#include "icd/memory/host_region.hpp"
#include "icd/memory/memory.hpp"
#include "icd/session/command.hpp"

namespace fairgv::icd {

/// The part of a buffer that a transfer touches: a rectangle, or one row of `region.x` bytes from `origin.x`
/// on.
struct BufferRegion {
  Memory& memory;
  wire::Extent3 origin;
  wire::Extent3 region;
  RectLayout layout;
  bool is_rect = false;

  static BufferRegion flat(Memory& memory, std::uint64_t offset, std::uint64_t bytes) {
    return {memory, {offset, 0, 0}, {bytes, 1, 1}, {bytes, bytes}};
  }
};

/// The common arguments of all transfers.
struct TransferRequest {
  Queue& queue;
  const WaitList& wait_list;
  bool blocking = false;
  cl_command_type type = 0;
  cl_event* event = nullptr;  // the application's, or null
};

/// Device to host. Returns the result of the entry point.
cl_int read_region(const TransferRequest& request, const BufferRegion& from, const HostRegion& to);

/// Host to device.
cl_int write_region(const TransferRequest& request, const BufferRegion& to, const HostRegion& from);

/// A read, write, copy or fill of no bytes: takes its place among the commands if the driver accepts it, else
/// returns the driver's error.
cl_int pass_empty(const TransferRequest& request, Memory& memory);

/// clEnqueueMapBuffer.
Outcome<void*> map_region(const TransferRequest& request, Memory& memory, cl_map_flags flags,
                          std::uint64_t offset, std::uint64_t bytes);

/// clEnqueueUnmapMemObject.
cl_int unmap_region(const TransferRequest& request, Memory& memory, const void* pointer);

}  // namespace fairgv::icd
