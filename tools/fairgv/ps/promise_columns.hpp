// The columns of `fairgv ps` for what tenants are promised, which are there only if somebody is promised
// something: guarantee, ceiling and class; under the policy `timegraph` priority and reserve.
//
// Pure logic.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/control/protocol.hpp"

namespace fairgv::tools {

struct PromiseColumn {
  const char* title;
  std::string (*text)(const control::Report::Tenant& tenant);  // empty: the default
  std::size_t width = 0;
  bool left = false;
};

/// Those in which a tenant differs from the default.
std::vector<PromiseColumn> promise_columns(const control::Report& report);

}  // namespace fairgv::tools
