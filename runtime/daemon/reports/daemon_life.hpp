// For how long the daemon has served, whatever programs have run it meanwhile.
#pragma once

#include <chrono>
#include <cstdint>

namespace fairgv::daemon {

struct DaemonLife {
  using Time = std::chrono::steady_clock::time_point;

  std::uint64_t restarts = 0;  // since the first daemon of this process began to serve
  Time serving_since = std::chrono::steady_clock::now();  // that one
};

}  // namespace fairgv::daemon
