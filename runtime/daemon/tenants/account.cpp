#include "runtime/daemon/tenants/account.hpp"

#include "runtime/daemon/tenants/user.hpp"

namespace fairgv::daemon {

Account account_of(const PeerCredentials& peer, int socket, const Config& config, Owners& owners) {
  const bool administrator =
      is_administrator(peer.uid) || (config.admin_group && peer_is_in(*config.admin_group, socket));
  return {counting_for(peer.uid, config.tenants, owners), administrator};
}

uid_t counting_for(uid_t uid, const TenantRules& rules, Owners& owners) {
  return rules.subordinate_to_owner ? owners.owner_of(uid) : uid;
}

std::string account_text(uid_t uid, uid_t owner) {
  const std::string text = "user " + std::to_string(uid);
  return uid == owner ? text : text + ", who counts as user " + std::to_string(owner);
}

}  // namespace fairgv::daemon
