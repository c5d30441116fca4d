// What an OpenCL program finds by this process' environment: for `fairgv run --verbose`.
#pragma once

#include <string>
#include <vector>

namespace fairgv::tools {

/// A line for each platform, with its devices; or one that says why there is none. Looks in a process apart,
/// as the program itself will: it becomes a tenant for that moment. This process must have one thread only.
std::vector<std::string> platforms_found();

}  // namespace fairgv::tools
