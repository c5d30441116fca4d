#include "sched/policies/pegasus/cosched.hpp"

#include <utility>

namespace fairgv::sched {

TenantId CoschedPolicy::pick(Time now) const {
  return highest([now](const Member& member) { return std::pair(scheduled(member, now), member.left); });
}

}  // namespace fairgv::sched
