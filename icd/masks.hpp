// The parts of the driver's answers about platforms and devices that FairGV does not pass through, and why.
// One table; the documentation of the masks is made from it. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "icd/cl.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::icd {

enum class MaskAction {
  zero,  // the answer keeps its size, every byte is 0: CL_FALSE, no capability, a limit of 0, an empty string
  keep_bits,   // only the bits in `bits` are passed on
  keep_names,  // names that are not served are removed (extensions, OpenCL C features)
};

struct Mask {
  cl_device_info param;
  std::string_view name;
  MaskAction action;
  std::uint64_t bits;
  std::string_view reason;
};

/// Every mask on device queries.
std::span<const Mask> device_masks();

/// Applies the masks to the driver's answer to clGetDeviceInfo.
void mask_device_info(cl_device_info param, wire::InfoReply& reply);

/// Filters a list of extensions separated by spaces.
std::string served_extensions(std::string_view all);

/// Filters the cl_name_version array of a *_WITH_VERSION answer by name.
void keep_served_versions(wire::InfoReply& reply);

}  // namespace fairgv::icd
