// Makes a process a tenant: the variables that lead an OpenCL loader and CUDA programs to FairGV, and FairGV
// to its daemon.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::tools {

struct TenantOptions {
  std::string socket;  // absolute
  std::optional<std::string> tenant;
  std::optional<std::string> weight;  // as written; checked
  std::optional<std::string> memory;  // the same
};

/// Name and value; no value: the variable must not be set.
using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// Fails for a bad tenant name, weight or amount of memory, or when the front end is not where it belongs:
/// not even its vendor file, or the library that the file names.
Result<Variables> tenant_variables(const TenantOptions& options);

}  // namespace fairgv::tools
