// FairGV's libraries that lie beside this one, and are opened only where they are needed.
#pragma once

#include <string>

namespace fairgv::redirect {

/// Opens the library with this file name beside the library that contains this code. It is never closed.
/// Null, and `error` says why, if it cannot be opened. Leaves nothing for the program's dlerror(3).
void* open_sibling(const std::string& name, std::string& error);

}  // namespace fairgv::redirect
