// Tries whether a shared library can be opened: in a separate process, because a driver may crash.
#pragma once

#include <string>

namespace fairgv::tools::doctor {

struct OpenedLibrary {
  std::string path;        // the file that was opened; empty if none was
  bool is_opencl = false;  // it has the function by which loaders find an OpenCL driver's others
  std::string error;       // why it could not be opened
};

/// As a loader of OpenCL drivers opens it: a name without a slash is looked for where the dynamic linker
/// looks.
OpenedLibrary open_library(const std::string& name);

}  // namespace fairgv::tools::doctor
