#include "runtime/vgpu/turn/host_steal.hpp"

#include <algorithm>

namespace fairgv::vgpu {

HostSteal::HostSteal(const cpu_set_t& processors, const char* stat)
    : processors_(processors), stat_(stat), seen_(read()) {}

Duration HostSteal::explain(Duration stall) {
  const std::uint64_t now = read();
  const Duration tick = ProcessorStat::tick();
  unexplained_ += tick * static_cast<std::int64_t>(now - std::min(seen_, now));
  seen_ = now;
  if (seen_ == 0) return Duration::zero();  // since the system was started: no host, or no file
  const Duration explained = std::min(stall, std::max(unexplained_ + tick, Duration::zero()));
  unexplained_ -= explained;
  return explained;
}

}  // namespace fairgv::vgpu
