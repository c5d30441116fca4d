// Image formats: which pairs of channel order and channel type exist, how large their elements are
// (OpenCL 3.0, 5.3.1.1), and how much memory an image is charged for. Pure; any thread.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/images.hpp"

namespace fairgv::wire {

/// Bytes of one element of an image, by its cl_channel_order and cl_channel_type; 0 if the specification
/// knows no such format (CL_INVALID_IMAGE_FORMAT_DESCRIPTOR).
std::uint64_t element_bytes(std::uint32_t channel_order, std::uint32_t channel_type);

/// Bytes that an image of its own memory is charged for: all its rows without gaps, because no side knows
/// before the driver has made it which gaps it leaves. The largest number if that is beyond 64 bits.
std::uint64_t image_bytes(const ImageDescription& image);

}  // namespace fairgv::wire
