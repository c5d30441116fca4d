// The difference that a program could notice if another device took the place of its own.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>

#include "runtime/base/result.hpp"

namespace fairgv::vgpu {

struct DeviceDifference {
  std::string what;  // as one line
  /// The session cannot go on there at all; else it can be moved by force, at its program's risk.
  bool excludes = false;
};

/// Why the device `to` does not take the place of `from`.
inline Error refusal_of(std::uint32_t from, std::uint32_t to, const DeviceDifference& difference) {
  return Error{fmt::format("the program could tell device {} from {}: {}{}", to, from, difference.what,
                           difference.excludes ? "" : " ('fairgv migrate --force' moves it all the same)")};
}

}  // namespace fairgv::vgpu
