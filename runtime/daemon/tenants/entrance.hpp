// Decides who may come in: the account of a process that connected, whether there is a place for its session,
// and its tenant, all by the configuration at that moment.
//
// Used by the server's thread only. Its parameters outlive it.
#pragma once

#include <cstddef>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/limits/descriptor_plan.hpp"
#include "runtime/daemon/limits/places.hpp"
#include "runtime/daemon/tenants/account.hpp"
#include "runtime/daemon/tenants/admission.hpp"
#include "runtime/daemon/tenants/peers/owners.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

class Entrance {
 public:
  explicit Entrance(const Config& config) : config_(config) {}

  Account account_of(const PeerCredentials& peer, int socket) {
    return daemon::account_of(peer, socket, config_, owners_);
  }
  /// Of a guest that is about to begin a session beside those that there are.
  Result<Admission> admit(const Guest& guest, const SessionCount& there) {
    FAIRGV_TRY(allowed, may_begin(there, guest.account, guest.peer.uid, config_, descriptors_.sessions));
    return find_admission(config_.tenants, owners_, guest);
  }
  control::WhoAmI look_at(const Guest& guest, const TenantRegistry& tenants) {
    return daemon::look_at(config_.tenants, tenants, owners_, guest);
  }

  /// The sessions and connections that this process has descriptors for, as far as the system lets it.
  const DescriptorPlan& descriptors() const { return descriptors_; }
  void count_descriptors() { descriptors_ = claim_descriptors(config_.session_limit); }
  /// Subordinate user ids may belong to others now.
  void refresh_owners() { owners_.refresh(); }

 private:
  const Config& config_;
  Owners owners_;
  DescriptorPlan descriptors_;
};

}  // namespace fairgv::daemon
