#include "tools/fairgv/changes.hpp"

#include <fmt/core.h>

#include <charconv>
#include <optional>
#include <system_error>

#include "runtime/base/json_fields.hpp"
#include "runtime/base/near_word.hpp"
#include "runtime/session/identity.hpp"
#include "runtime/session/protocol.hpp"
#include "sched/policies/registry.hpp"

namespace fairgv::tools {

using control::ControlRequest;

namespace {

const char* participle(Intervention what) {
  switch (what) {
    case Intervention::kill:
      return "ended";
    case Intervention::pause:
      return "paused";
    case Intervention::resume:
      break;
  }
  return "resumed";
}

template <class T>
std::string text_of(const T& value) {
  using session::to_text;
  return to_text(value);
}

std::string text_of(std::uint32_t number) {
  return std::to_string(number);
}

Change change_of(Intervention what) {
  Change change;
  switch (what) {
    case Intervention::kill:
      change.request.command = ControlRequest::Command::kill;
      break;
    case Intervention::pause:
      change.request.command = ControlRequest::Command::pause;
      break;
    case Intervention::resume:
      change.request.command = ControlRequest::Command::resume;
      break;
  }
  return change;
}

}  // namespace

Result<Change> tenant_change(const std::string& tenant, const TenantSettings& settings) {
  if (!session::is_tenant_name(tenant)) return session::tenant_name_error(tenant, "the tenant");
  Change change;
  change.request.command = ControlRequest::Command::set;
  change.request.tenant = tenant;
  std::string done;
  const auto take = [&]<class T>(const char* name, const Typed& typed, std::optional<T>& to,
                                 auto parse) -> Result<void> {
    if (typed.text.empty()) return {};
    FAIRGV_TRY(value, parse(typed.text, typed.source));
    to = value.value();
    done += fmt::format("{}{} {}", done.empty() ? "" : ", ", name, text_of(*to));
    return {};
  };
  session::TenantWish& wish = change.request.wish;
  FAIRGV_CHECK(take("weight", settings.weight, wish.weight, session::parse_weight));
  FAIRGV_CHECK(take("min", settings.min, wish.min, session::parse_min));
  FAIRGV_CHECK(take("max", settings.max, wish.max, session::parse_max));
  FAIRGV_CHECK(take("class", settings.service, wish.service, session::parse_service));
  FAIRGV_CHECK(take("memory", settings.memory, change.request.memory, parse_memory_size));
  change.done = fmt::format("{}: {}", tenant, done);
  return change;
}

Result<Change> policy_change(const std::string& policy, std::optional<std::uint32_t> device) {
  if (sched::find_policy(policy) == nullptr) {
    return Error{fmt::format("there is no policy '{}': {}", printable(policy, control::kLongestPolicyName),
                             guess_and_list(policy, sched::policy_names()))};
  }
  Change change;
  change.request.command = ControlRequest::Command::set_policy;
  change.request.policy = policy;
  change.request.device = device;
  change.done =
      fmt::format("{}: policy {}", device ? fmt::format("device {}", *device) : "all devices", policy);
  return change;
}

Result<Change> tenant_intervention(Intervention what, const std::string& tenant) {
  if (!session::is_tenant_name(tenant)) return session::tenant_name_error(tenant, "the tenant");
  Change change = change_of(what);
  change.request.tenant = tenant;
  change.done = what == Intervention::kill ? fmt::format("{}: all sessions ended", tenant)
                                           : fmt::format("{}: {}", tenant, participle(what));
  return change;
}

Result<ControlRequest> named_target(const std::string& word) {
  ControlRequest request;
  if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) {
    if (!session::is_tenant_name(word)) return session::tenant_name_error(word, "the tenant");
    request.tenant = word;
    return request;
  }
  std::uint32_t session = 0;
  const char* const end = word.data() + word.size();
  if (std::from_chars(word.data(), end, session).ec != std::errc{}) {
    return Error{fmt::format("there is no session {}: see 'fairgv ps' (a tenant of that name: --tenant)",
                             printable(word, session::kLongestTenantName))};
  }
  request.session = session;
  return request;
}

Result<Change> intervention(Intervention what, const std::string& target) {
  FAIRGV_TRY(named, named_target(target));
  if (!named->session) return tenant_intervention(what, named->tenant);
  Change change = change_of(what);
  change.request.session = named->session;
  change.done = fmt::format("session {}: {}", *named->session, participle(what));
  return change;
}

}  // namespace fairgv::tools
