// The tenant that a [[match]] rule names: a tenant's name with places for the user's and the container's.
//
// Pure logic.
#pragma once

#include <string>
#include <string_view>

namespace fairgv::daemon {

/// The placeholders for the tenant of a user who names none, and for the label of the container in which the
/// program runs.
inline constexpr std::string_view kUserPlace = "%u";
inline constexpr std::string_view kContainerPlace = "%c";

/// The text with its places filled.
std::string fill_template(std::string text, const std::string& user, const std::string& container);

/// Whether a [[match]] rule can have this tenant: a tenant's name but for its places.
bool is_tenant_template(std::string_view text);

}  // namespace fairgv::daemon
