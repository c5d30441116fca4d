#include "tools/fairgv/promises.hpp"

#include "sched/policies/registry.hpp"

namespace fairgv::tools {

std::string unkept_by(const std::string& policy, const Promises& promises) {
  const sched::PolicyInfo* const info = sched::find_policy(policy);
  if (info == nullptr) return "";
  sched::TenantAttributes attributes;  // whichever differ from the defaults
  if (promises.has_min()) attributes.min = {sched::Duration(1), sched::Duration(1)};
  if (promises.has_max()) attributes.max = {};
  if (promises.has_service()) attributes.service = sched::ServiceClass::batch;
  return sched::unkept_promises(*info, attributes);
}

std::string promises_text(const Promises& promises) {
  std::string text;
  const auto add = [&](bool differs, const std::string& part) {
    if (differs) text += (text.empty() ? "" : ", ") + part;
  };
  add(promises.has_min(), "min " + promises.min);
  add(promises.has_max(), "max " + promises.max);
  add(promises.has_service(), "class " + promises.service);
  return text;
}

}  // namespace fairgv::tools
