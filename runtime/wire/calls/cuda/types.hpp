// The common types of the CUDA front end's calls (CUDA Driver API 13.0).
//
// Results are CUresult numbers. Ends of commands are statuses like OpenCL's. Their errors are made from
// CUDA's here, so that one command graph serves both.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire::cuda {

/// CUresult; 0 is CUDA_SUCCESS.
using ResultCode = std::int32_t;

/// Below all of OpenCL's errors, which the command graph uses itself.
inline constexpr std::int32_t kFirstStatus = -10'000;

/// The status with which a command ends that failed with `code`, which is above 0.
constexpr std::int32_t status_of(ResultCode code) {
  return kFirstStatus - code;
}
/// The code of a command that ended with `status`; 0: it ended well, or in an error that is not CUDA's.
constexpr ResultCode code_of(std::int32_t status) {
  return status < kFirstStatus ? kFirstStatus - status : 0;
}

/// Where the bytes of a copy lie.
enum class Space : std::uint32_t {
  device,  // `address` is a CUdeviceptr
  arena,   // `address` is an offset in the session's arena
  array,   // `address` is the raw id of an array
};

/// One side of a copy: rows of bytes, `pitch` apart, in slices of `rows` rows. For an array, pitch and rows
/// are not used. The copy begins `x` bytes, `y` rows and `z` slices into it.
struct Place {
  Space space = Space::device;
  std::uint32_t reserved = 0;
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;
  std::uint64_t rows = 0;
  std::uint64_t x = 0, y = 0, z = 0;
};

/// Three numbers of a launch.
struct Grid {
  std::uint32_t x = 1, y = 1, z = 1;

  friend bool operator==(const Grid&, const Grid&) = default;
};

struct CodeReply {
  ResultCode code = 0;
  FAIRGV_FIELDS(code)
};

}  // namespace fairgv::wire::cuda
