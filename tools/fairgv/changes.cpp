#include "tools/fairgv/changes.hpp"

#include <fmt/core.h>

#include "runtime/session/identity.hpp"
#include "runtime/session/json_fields.hpp"
#include "runtime/session/protocol.hpp"
#include "sched/policies/registry.hpp"

namespace fairgv::tools {

using session::ControlRequest;

Result<Change> weight_change(const std::string& tenant, const std::string& text, const std::string& source) {
  if (!session::is_tenant_name(tenant)) return session::tenant_name_error(tenant, "the tenant");
  const auto weight = session::parse_weight(text, source);
  if (!weight) return weight.error();
  Change change;
  change.request.command = ControlRequest::Command::set;
  change.request.tenant = tenant;
  change.request.weight = weight.value();
  change.done = fmt::format("{}: weight {}", tenant, weight.value());
  return change;
}

Result<Change> memory_change(const std::string& tenant, const std::string& text, const std::string& source) {
  if (!session::is_tenant_name(tenant)) return session::tenant_name_error(tenant, "the tenant");
  const auto memory = session::parse_memory_size(text, source);
  if (!memory) return memory.error();
  Change change;
  change.request.command = ControlRequest::Command::set;
  change.request.tenant = tenant;
  change.request.memory = memory.value();
  change.done = fmt::format("{}: memory {}", tenant, to_text(memory.value()));
  return change;
}

Result<Change> policy_change(const std::string& policy, std::optional<std::uint32_t> device) {
  if (sched::find_policy(policy) == nullptr) {
    return Error{fmt::format("there is no policy '{}' (there are: {})",
                             session::printable(policy, session::kLongestPolicyName), sched::policy_names())};
  }
  Change change;
  change.request.command = ControlRequest::Command::set_policy;
  change.request.policy = policy;
  change.request.device = device;
  change.done =
      fmt::format("{}: policy {}", device ? fmt::format("device {}", *device) : "all devices", policy);
  return change;
}

}  // namespace fairgv::tools
