// The OpenCL headers as the whole front end sees them: version 3.0 with every deprecated call that a loader
// still dispatches, and the loader's dispatch table.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <CL/cl_icd.h>

namespace fairgv::icd {

/// The error of calls when the worker behind their objects is gone. The specification names it for few calls,
/// but the name fits, and no program takes it for a temporary shortage.
inline constexpr cl_int kSessionLost = CL_DEVICE_NOT_AVAILABLE;

}  // namespace fairgv::icd
