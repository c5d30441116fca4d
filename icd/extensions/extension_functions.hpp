// Functions of extensions: the answers of clGetExtensionFunctionAddressForPlatform.
//
// A function is served by an entry point of ours, or by code that libffi makes from the table of signatures
// when the address is first asked for. A platform offers it only if the driver has it. Any thread.
#pragma once

#include <string_view>

#include "icd/cl.hpp"

namespace fairgv::icd {

class Platform;

/// The function's address, good for the life of the process; nullptr if it is not served, or not by this
/// platform's driver.
void* extension_function(Platform& platform, std::string_view name);

/// Whether the function is an entry point of ours.
bool has_entry_point(std::string_view name);

/// In the child of a fork, where another thread may have held a lock.
void forget_extension_functions();

}  // namespace fairgv::icd
