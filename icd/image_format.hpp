// Image formats: which pairs of channel order and channel type exist, and how large their elements are
// (OpenCL 3.0, 5.3.1.1). Pure; any thread.
#pragma once

#include <cstdint>

#include "icd/cl.hpp"

namespace fairgv::icd {

/// Bytes of one element of an image; 0 if the specification knows no such format
/// (CL_INVALID_IMAGE_FORMAT_DESCRIPTOR).
std::uint64_t element_bytes(const cl_image_format& format);

}  // namespace fairgv::icd
