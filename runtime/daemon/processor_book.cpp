#include "runtime/daemon/processor_book.hpp"

#include <map>
#include <utility>

namespace fairgv::daemon {

std::vector<ProcessorBook::Finding> ProcessorBook::look(const std::vector<Reading>& readings,
                                                        const std::function<double(TenantId)>& share,
                                                        unsigned processors, Time now) {
  struct Sum {
    Duration ran{0}, paid{0};
    bool compiling = false;
    Duration most = Duration::min();
    SessionId session{};
  };
  std::map<std::uint32_t, Sum> sums;  // by tenant, in an order that is the same every time
  for (const Reading& reading : readings) {
    std::optional<Seen>& seen = seen_.try_emplace(reading.session, Seen{}).first->second;
    const Seen before = seen.value_or(Seen{reading.ran, reading.paid});
    const Duration ran = reading.ran - before.ran;
    const Duration paid = reading.paid - before.paid;
    seen = Seen{reading.ran, reading.paid};
    Sum& sum = sums[reading.tenant.value];
    sum.ran += ran;
    sum.paid += paid;
    sum.compiling = sum.compiling || reading.compiling;
    if (const Duration beyond = ran - paid * processors; beyond > sum.most) {
      sum.most = beyond;
      sum.session = reading.session;
    }
  }
  std::vector<Finding> findings;
  for (const auto& [value, sum] : sums) {
    const TenantId id{value};
    Tenant& tenant = tenants_.try_emplace(id, Tenant{{}, now}).first->second;
    const Time from = std::exchange(tenant.looked, now);
    const Duration charged =
        tenant.use.look(now - from, sum.ran, sum.paid, share(id), processors, sum.compiling);
    findings.push_back({id, charged, from, tenant.use.overdraft(), sum.session});
  }
  return findings;
}

bool ProcessorBook::may_forget(TenantId id, Time now) const {
  const auto found = tenants_.find(id);
  return found == tenants_.end() || found->second.use.clear(now - found->second.looked);
}

}  // namespace fairgv::daemon
