// Extension functions (runtime/wire/extension_signatures.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

/// Whether the platform's driver has a function of that name: CL_SUCCESS or CL_INVALID_VALUE.
struct FindExtensionFunction {
  FAIRGV_CALL(FindExtensionFunction, 0x0980, StatusReply)
  PlatformIndex platform = 0;
  std::string_view function;
  FAIRGV_FIELDS(platform, function)
};

struct ExtensionReply {
  std::uint64_t returned = 0;      // as the signature's ReturnKind reads it
  std::vector<std::byte> outputs;  // the contents of the out-arguments, one after the other
  FAIRGV_FIELDS(returned, outputs)
};

/// Calls a function of the table of signatures. `scalars` has one element for each argument: the number, the
/// raw ObjectId or the DeviceIndex + 1 of a handle (0: null), 1 or 0 for a pointer that is there or is null.
/// `contents` has the bytes behind the pointers that are there, one after the other: also those of
/// out-arguments before the call, so that bytes which the driver does not write stay as they are.
struct CallExtension {
  FAIRGV_CALL(CallExtension, 0x0981, ExtensionReply)
  PlatformIndex platform = 0;
  std::string_view function;
  std::span<const std::uint64_t> scalars;
  std::span<const std::byte> contents;
  FAIRGV_FIELDS(platform, function, scalars, contents)
};

using ExtensionCalls = TypeList<FindExtensionFunction, CallExtension>;

}  // namespace fairgv::wire
