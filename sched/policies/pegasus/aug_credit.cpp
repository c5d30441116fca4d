#include "sched/policies/pegasus/aug_credit.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::sched {

TenantId AugCreditPolicy::pick(Time now) const {
  return highest([now](const Member& member) {
    const Duration boost =
        scheduled(member, now) ? std::max(member.host.credit_left, Duration(0)) : Duration(0);
    return std::pair(member.left > Duration(0), member.left + boost);
  });
}

}  // namespace fairgv::sched
