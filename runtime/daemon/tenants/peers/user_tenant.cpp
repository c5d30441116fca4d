#include "runtime/daemon/tenants/peers/user_tenant.hpp"

#include <charconv>
#include <string_view>

#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

std::string default_tenant(const User& user) {
  return session::is_tenant_name(user.name) ? user.name : numbered_user(user.uid);
}

std::optional<uid_t> namesake(const std::string& tenant) {
  uid_t uid = 0;
  const std::string_view name = tenant;
  if (name.starts_with(kNumberedUser)) {
    const char* const end = name.data() + name.size();
    const auto [stop, code] = std::from_chars(name.data() + kNumberedUser.size(), end, uid);
    if (code == std::errc{} && stop == end) return uid;
  }
  return find_user(tenant);
}

}  // namespace fairgv::daemon
