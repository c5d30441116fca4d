// Decides which tenants without programs are forgotten. A departed tenant is remembered for its debt and its
// totals, but names are cheap: those of one user must not fill the daemon or drive out other people's.
//
// Pure logic.
#pragma once

#include <vector>

#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

/// Departed tenants of one user, administrators excepted, and of everybody.
inline constexpr std::size_t kRememberedOfEach = 64;
inline constexpr std::size_t kRememberedOfAll = 1'000;

/// The departed tenants of users who have more of them than kRememberedOfEach; all departed tenants, if there
/// are more than kRememberedOfAll. Those without debt may be forgotten.
std::vector<TenantId> tenants_to_forget(const std::vector<Tenant>& tenants);

}  // namespace fairgv::daemon
