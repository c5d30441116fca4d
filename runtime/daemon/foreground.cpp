#include "runtime/daemon/foreground.hpp"

#include "runtime/daemon/tenants/tenant_reserves.hpp"

#include <utility>

namespace fairgv::daemon {

Result<control::FrontAnswer> Foreground::set(std::uint64_t connection,
                                             const std::vector<std::string>& tenants, const Account& by) {
  const TenantRegistry& registry = tenancies_.registry();
  if (!TenantReserves::count(registry)) {
    leave(connection);
    return Error{
        "no device has the policy timegraph, which gives priority to the window in front: choose it by "
        "'fairgv set --policy timegraph'"};
  }
  control::FrontAnswer answer;
  for (const std::string& name : tenants) {
    const Tenant* const tenant = registry.find(name);
    if (tenant == nullptr || !tenant->runs()) continue;
    if (const auto may = registry.find_to("favour", name, by.owner, by.administrator); !may) {
      answer.refused.push_back(may.error().message);
    } else {
      answer.front.push_back(name);
    }
  }
  by_connection_[connection] = {answer.front.begin(), answer.front.end()};
  apply();
  return answer;
}

void Foreground::leave(std::uint64_t connection) {
  if (by_connection_.erase(connection) != 0) apply();
}

void Foreground::apply() {
  std::set<std::string> front;
  for (const auto& [connection, names] : by_connection_) front.insert(names.begin(), names.end());
  tenancies_.bring_to_front(std::move(front));
}

}  // namespace fairgv::daemon
