#include "runtime/session/client/standard_error.hpp"

#include <cstdio>
#include <cstdlib>

namespace fairgv::session {

void say(std::string_view line) {
  const char* const log = std::getenv("FAIRGV_LOG");
  if (log != nullptr && std::string_view(log) == "off") return;
  std::fprintf(stderr, "fairgv: %.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace fairgv::session
