// The --tenant option of `fairgv sim`: a kind of simulated tenant in one word.
#pragma once

#include <string>

#include "runtime/base/result.hpp"
#include "sched/simulator/program.hpp"

namespace fairgv::tools {

/// "weight=2,kernel=200us,sleep=0.5,count=10": any of the keys weight, kernel, jitter, sleep, burst,
/// sessions, count, min, max, class (as for `fairgv run`) and period; keys that are left out have
/// TenantSpec's defaults.
Result<sched::TenantSpec> parse_tenant(const std::string& text);

/// "200us", "6ms", "1.5s", "40ns"; longer than nothing, at most an hour.
Result<sched::Duration> parse_duration(const std::string& text);

}  // namespace fairgv::tools
