// Predicates that several enqueues share: each returns CL_SUCCESS or the error that the specification names.
#pragma once

#include "icd/memory.hpp"
#include "icd/queue.hpp"

namespace fairgv::icd {

/// A buffer and a queue must be of the same context, and a sub-buffer aligned for the queue's device.
inline cl_int check_buffer(const Queue& queue, const Memory* memory) {
  if (memory == nullptr) return CL_INVALID_MEM_OBJECT;
  if (&memory->context() != &queue.context()) return CL_INVALID_CONTEXT;
  if (memory->parent() == nullptr) return CL_SUCCESS;
  const DeviceFacts* const facts = queue.device().facts();
  if (facts == nullptr) return CL_OUT_OF_RESOURCES;
  return memory->origin() % facts->address_alignment == 0 ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

}  // namespace fairgv::icd
