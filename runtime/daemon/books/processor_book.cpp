#include "runtime/daemon/books/processor_book.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/session/compile_clock.hpp"

namespace fairgv::daemon {

std::vector<ProcessorBook::Finding> ProcessorBook::look(const std::vector<Reading>& readings,
                                                        const std::function<double(TenantId)>& share,
                                                        unsigned processors, Time now) {
  struct Sum {
    Duration ran{0}, paid{0}, compiled{0};
    Duration most = Duration::min();
    SessionId session{};
  };
  std::map<std::uint32_t, Sum> sums;  // by tenant, in an order that is the same every time
  for (const Reading& reading : readings) {
    std::optional<Seen>& seen = seen_.try_emplace(reading.session, Seen{}).first->second;
    const Seen latest{reading.ran, reading.paid, reading.compiled_ms, now};
    const Seen before = seen.value_or(latest);
    const Duration ran = latest.ran - before.ran;
    const Duration paid = latest.paid - before.paid;
    // One processor's worth, whatever the clock says.
    const Duration passed = before.at ? Duration(now - *before.at) : Duration::max();
    const Duration compiled =
        std::min<Duration>(session::CompileClock::between(before.compiled_ms, latest.compiled_ms), passed);
    seen = latest;
    Sum& sum = sums[reading.tenant.value];
    sum.ran += ran;
    sum.paid += paid;
    sum.compiled += std::min(compiled, ran);
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
        tenant.use.look(now - from, sum.ran, sum.paid, share(id), processors, sum.compiled);
    findings.push_back({id, charged, from, tenant.use.overdraft(), sum.session});
  }
  return findings;
}

bool ProcessorBook::may_forget(TenantId id, Time now) const {
  const auto found = tenants_.find(id);
  return found == tenants_.end() || found->second.use.clear(now - found->second.looked);
}

}  // namespace fairgv::daemon
