// Which cl_mem_flags go together (OpenCL 3.0, 5.2.1). Pure; any thread.
#pragma once

#include "icd/cl.hpp"

namespace fairgv::icd {

/// Whether clCreateBuffer takes these flags.
bool are_buffer_flags(cl_mem_flags flags);

/// Whether clCreateSubBuffer takes these flags for a part of a buffer with `parent` flags: a part may have
/// fewer rights than the whole, never more.
bool are_sub_buffer_flags(cl_mem_flags flags, cl_mem_flags parent);

/// Without a word on the device's access, CL_MEM_READ_WRITE is meant.
cl_mem_flags with_default_access(cl_mem_flags flags);

/// What a sub-buffer does not say it has from its buffer.
cl_mem_flags inherited_flags(cl_mem_flags flags, cl_mem_flags parent);

/// What the driver is told: how the host may use an object is checked here, and where the application's
/// memory lies means nothing in the worker.
cl_mem_flags device_access(cl_mem_flags flags);

/// Whether clEnqueueMapBuffer takes these flags.
bool are_map_flags(cl_map_flags flags);

}  // namespace fairgv::icd
