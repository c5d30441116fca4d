#include "runtime/daemon/books/processor_use.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::daemon {
namespace {

ProcessorUse::Duration part(ProcessorUse::Duration time, double of_it) {
  return ProcessorUse::Duration(static_cast<std::int64_t>(static_cast<double>(time.count()) * of_it));
}

}  // namespace

ProcessorUse::Duration ProcessorUse::look(Duration passed, Duration ran, Duration paid, double share,
                                          unsigned processors, Duration compiled) {
  const Duration without_turn = ran - paid * processors;
  const Duration compiler = std::clamp(without_turn, Duration(0), std::max(compiled, Duration(0)));
  used_ += without_turn - compiler - part(passed, kAllowance);
  used_ = std::max<Duration>(used_, -kBurst);
  const Duration beyond_allowance = used_ > Duration(0) ? std::exchange(used_, Duration(0)) : Duration(0);
  const Duration charged = (beyond_allowance + compiler) / std::max(processors, 1U);
  if (share >= 1) {
    overdraft_ = excused_ = Duration(0);
    return charged;
  }
  if (paid > Duration(0)) excused_ = Duration(0);
  const Duration beyond = charged - part(passed, share);
  const bool excuse = excused_ < kLongestCompiler && beyond > Duration(0);
  const Duration excused = excuse ? std::min(compiler / std::max(processors, 1U), beyond) : Duration(0);
  excused_ += excused;
  overdraft_ = std::max(overdraft_ + beyond - excused, Duration(0));
  return charged;
}

bool ProcessorUse::clear(Duration unused_for) const {
  return overdraft_ <= unused_for && used_ - part(unused_for, kAllowance) <= -kBurst;
}

}  // namespace fairgv::daemon
