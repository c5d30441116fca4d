// The policies by name, as configuration and command line know them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sched/policy.hpp"

namespace fairgv::sched {

inline constexpr std::string_view kDefaultPolicy = "fair";

/// The promises of TenantAttributes that a policy keeps; it takes no notice of the others.
struct KeptPromises {
  bool min = false;      // guarantees, at least while the policy can
  bool max = false;      // ceilings: no tenant gets more, not even beside an idle device
  bool service = false;  // classes
};

struct PolicyInfo {
  std::string_view name;
  std::string_view summary;
  bool weighted;         // shares follow the weights
  bool work_conserving;  // the device idles only if nobody wants it, or briefly for a tenant that has paused;
                         // a tenant at its ceiling wants nothing
  KeptPromises keeps{};
};

/// All policies, the default first.
std::span<const PolicyInfo> all_policies();
/// Null for an unknown name.
const PolicyInfo* find_policy(std::string_view name);
/// "fair, fifo, ...": for messages.
std::string policy_names();
/// The promises among a tenant's attributes that the policy does not keep, as people call them: "min, class".
/// Empty: it keeps all.
std::string unkept_promises(const PolicyInfo& policy, const TenantAttributes& attributes);
/// Null for an unknown name.
std::unique_ptr<Policy> make_policy(std::string_view name, Duration slice);

}  // namespace fairgv::sched
