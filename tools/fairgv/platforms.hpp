// The platforms that an OpenCL program finds by this process' environment: for `fairgv run --verbose`.
#pragma once

#include <string>
#include <vector>

namespace fairgv::tools {

/// A line for each platform, with its devices; or a line that says why there is none. Looks in a separate
/// process, as the program itself will: that process becomes a tenant for a moment. This process must have
/// one thread only.
std::vector<std::string> platforms_found();

}  // namespace fairgv::tools
