// Shared by several enqueues: predicates, each of which returns CL_SUCCESS or the error that the
// specification names, and three numbers as the application gives them.
#pragma once

#include "icd/memory/memory.hpp"
#include "icd/memory/memory_flags.hpp"
#include "icd/objects/queue.hpp"

namespace fairgv::icd {

inline wire::Extent3 extent(const size_t* values) {
  return {values[0], values[1], values[2]};
}

/// Any memory object. It must be of the queue's context. A sub-buffer must be aligned for the queue's device;
/// if that is the context's only device, its driver has made the sub-buffer and checked this.
inline cl_int check_memory(const Queue& queue, const Memory* memory) {
  if (memory == nullptr) return CL_INVALID_MEM_OBJECT;
  if (&memory->context() != &queue.context()) return CL_INVALID_CONTEXT;
  if (!memory->is_buffer() || memory->parent() == nullptr) return CL_SUCCESS;
  if (queue.context().devices().size() == 1) return CL_SUCCESS;
  const DeviceFacts* const facts = queue.device().facts();
  if (facts == nullptr) return kSessionLost;
  return memory->origin() % facts->address_alignment == 0 ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

/// The same where only a buffer will do.
inline cl_int check_buffer(const Queue& queue, const Memory* memory) {
  return memory != nullptr && !memory->is_buffer() ? CL_INVALID_MEM_OBJECT : check_memory(queue, memory);
}

/// Of a transfer.
enum class Direction { read, write };

/// The host's right to read or to write.
inline cl_int check_host_access(const Memory& memory, Direction direction) {
  const bool allowed = direction == Direction::read ? memory.host_may_read() : memory.host_may_write();
  return allowed ? CL_SUCCESS : CL_INVALID_OPERATION;
}

/// Mapping is an access by the host, which needs the right to read or to write.
inline cl_int check_map(const Memory& memory, cl_map_flags flags) {
  if (!are_map_flags(flags)) return CL_INVALID_VALUE;
  const bool writes = (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
  if ((flags & CL_MAP_READ) != 0 && !memory.host_may_read()) return CL_INVALID_OPERATION;
  if (writes && !memory.host_may_write()) return CL_INVALID_OPERATION;
  return CL_SUCCESS;
}

}  // namespace fairgv::icd
