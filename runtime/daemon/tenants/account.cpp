#include "runtime/daemon/tenants/account.hpp"

#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {

Account account_of(const PeerCredentials& peer, int socket, const Config& config, Owners& owners) {
  const bool administrator =
      is_administrator(peer.uid) || (config.admin_group && peer_is_in(*config.admin_group, socket));
  return {counting_for(peer.uid, config.tenants, owners), administrator};
}

uid_t counting_for(uid_t uid, const TenantRules& rules, Owners& owners) {
  return rules.subordinate_to_owner ? owners.owner_of(uid) : uid;
}

}  // namespace fairgv::daemon
