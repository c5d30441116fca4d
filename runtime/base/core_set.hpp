// Sets of CPU cores, written as the kernel writes them: "0", "0-3,8". Numbers are those of /proc/cpuinfo.
#pragma once

#include <sched.h>

#include <string_view>

#include "runtime/base/result.hpp"

namespace fairgv {

/// An Error if the text is no such list, names nothing, or a core beyond the 1024 that a cpu_set_t holds.
Result<cpu_set_t> parse_core_set(std::string_view text);

/// The cores that the calling thread may use.
Result<cpu_set_t> allowed_cores();

/// From now on the calling thread runs on these only, and threads that it starts inherit them.
Result<void> run_on(const cpu_set_t& cores);

/// The cores in `all` that are not in `without`.
cpu_set_t other_cores(const cpu_set_t& all, const cpu_set_t& without);

}  // namespace fairgv
