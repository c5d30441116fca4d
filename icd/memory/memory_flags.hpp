// Which cl_mem_flags go together (OpenCL 3.0, 5.2.1). Pure; any thread.
#pragma once

#include "icd/cl.hpp"

namespace fairgv::icd {

/// Whether clCreateBuffer takes these flags.
bool are_buffer_flags(cl_mem_flags flags);

/// Whether clCreateSubBuffer takes these flags for a part of a buffer with `parent` flags: a part may have
/// fewer rights than the whole, never more.
bool are_sub_buffer_flags(cl_mem_flags flags, cl_mem_flags parent);

/// Adds CL_MEM_READ_WRITE if the flags do not name the device's access.
cl_mem_flags with_default_access(cl_mem_flags flags);

/// Adds the buffer's flags for everything that a sub-buffer's flags leave open.
cl_mem_flags inherited_flags(cl_mem_flags flags, cl_mem_flags parent);

/// The flags for the driver: without the host's rights, which are checked here, and without the place of the
/// application's memory, which means nothing in the worker.
cl_mem_flags device_access(cl_mem_flags flags);

/// Whether clEnqueueMapBuffer takes these flags.
bool are_map_flags(cl_map_flags flags);

}  // namespace fairgv::icd
