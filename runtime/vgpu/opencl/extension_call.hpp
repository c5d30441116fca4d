// The worker's half of a call from the table of signatures (runtime/wire/extension_signatures.hpp): a message
// becomes arguments, and a function of the signature's type is called with them.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <functional>

#include "runtime/base/result.hpp"
#include "runtime/wire/calls/extensions.hpp"
#include "runtime/wire/extension_signatures.hpp"

namespace fairgv::vgpu::opencl {

/// The driver's handle for an object that the front end named, which is not null. An Error if there is none;
/// `poison` becomes the object's error if it is poisoned.
using FindHandle = std::function<Result<void*>(wire::ParameterKind, std::uint64_t name, cl_int& poison)>;

/// Calls `function`. An Error if the message does not fit the signature. With a poisoned object the function
/// is not called, and its error is the answer; without a function, CL_INVALID_OPERATION is.
Result<wire::ExtensionReply> call_extension(const wire::ExtensionSignature& signature, void (*function)(),
                                            const wire::CallExtension& call, const FindHandle& find_handle);

}  // namespace fairgv::vgpu::opencl
