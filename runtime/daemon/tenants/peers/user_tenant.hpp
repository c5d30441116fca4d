// Tenants that are named after users.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {

/// The tenant that a user's programs belong to when they name none: the user's name, if it can be one.
std::string default_tenant(const User& user);
/// The user after whom a tenant is named, by name or number, if there can be one.
std::optional<uid_t> namesake(const std::string& tenant);

}  // namespace fairgv::daemon
