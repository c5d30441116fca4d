// The launch that the driver gets for one box: how a sub-launch travels without touching the kernel's
// arguments.
//
// The global offset of a launch is three words that every work-item can read for nothing. A sub-launch always
// has three dimensions, and its offset carries the values that the rewritten work-item functions need: the
// first group, the number of groups, the application's offset (slicing/prelude.cl has the layout).
//
// The kernel must come from a program built from sliceable_source() for as many dimensions as the launch has
// (slicing/opencl_c.hpp). Work-items of any other program would take the words for their offset.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "slicing/launch.hpp"

namespace fairgv::slicing {

// In the order of clEnqueueNDRangeKernel's parameters.
struct DriverLaunch {
  std::uint32_t dimensions = kMaxDimensions;
  Extent offset{0, 0, 0};
  Extent size{1, 1, 1};
  Extent local{1, 1, 1};

  friend bool operator==(const DriverLaunch&, const DriverLaunch&) = default;
};

// The bits for each value, for every dimension of the launch: a value must be less than 2 to the power of its
// bits. `missing` is by how many work-items the last group is smaller than the others; zero if the local size
// divides the global size.
struct CarriedBits {
  unsigned groups;
  unsigned missing;
  unsigned offset;
};

// For launches of one, two and three dimensions. The specification wants the sum of offset and global size
// below 2^64 too, which a launch of two dimensions with nearly 2^28 groups does not always keep
// (CL_INVALID_GLOBAL_OFFSET).
inline constexpr std::array<CarriedBits, kMaxDimensions> kCarriedBits = {{
    {.groups = 48, .missing = 16, .offset = 64},
    {.groups = 28, .missing = 12, .offset = 24},
    {.groups = 18, .missing = 10, .offset = 18},
}};

// Whether sub-launches of this launch fit; if not, it must run whole. address_bits: CL_DEVICE_ADDRESS_BITS.
// With 32, words have 32 bits, which is too few. Invalid launches do not fit.
bool fits(const Launch& launch, std::uint32_t address_bits);

// The driver's launch for one box. Precondition: the box lies in the launch. Nothing if the launch does not
// fit; that is the same for all boxes of a launch, so a launch that began can be finished.
std::optional<DriverLaunch> encode(const Launch& launch, const Box& box, std::uint32_t address_bits);

}  // namespace fairgv::slicing
