// Promises that a scheduling policy takes no notice of, as warnings for people: who promises something under
// such a policy should know.
//
// Pure logic.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sched/attributes.hpp"

namespace fairgv::daemon {

/// One line that names what this policy does not keep of what is promised, by tenant, and the policy that
/// does. Nothing if it keeps all, or is unknown.
std::optional<std::string> unkept_warning(const std::string& policy,
                                          const std::map<std::string, sched::TenantAttributes>& promised);

}  // namespace fairgv::daemon
