// Makes a process a tenant: the variables that lead an OpenCL loader and CUDA programs to FairGV, and FairGV
// to its daemon.
#pragma once

#include <CLI/CLI.hpp>
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
  // As written; tenant_variables() checks them.
  std::optional<std::string> weight;
  std::optional<std::string> min;
  std::optional<std::string> max;
  std::optional<std::string> service;
  std::optional<std::string> memory;
  /// CUDA programs keep the driver in their own process (docs/CUDA.md, Direct mode).
  bool direct = false;
};

/// Name and value; no value: the variable must not be set.
using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// The options --tenant, --weight, --min, --max, --class and --mem.
void add_tenant_options(CLI::App& command, TenantOptions& options);

/// Fails for a bad value of an option, or when the front end is not where it belongs: not even its vendor
/// file, or the library that the file names.
Result<Variables> tenant_variables(const TenantOptions& options);

}  // namespace fairgv::tools
