// Points in the past as people write them: "2026-12-31", "2026-12-31T18:30", "2h", "7d", "today".
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/result.hpp"

namespace fairgv::tools {

/// Milliseconds since 1970. `text`: a day or a time of this machine's time zone (with Z: of UTC); or how long
/// before `now_ms`, in seconds, minutes, hours, days or weeks ("90s", "30m", "2h", "7d", "4w"); or "now",
/// "today" and "yesterday", which begin at midnight. An Error names `option` and the forms.
Result<std::int64_t> parse_time(const std::string& text, const std::string& option, std::int64_t now_ms);

}  // namespace fairgv::tools
