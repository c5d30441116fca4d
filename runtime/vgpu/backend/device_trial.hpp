// A trial of a device: the daemon has a worker use it that serves no session, because another worker's driver
// says that it has failed (session/device/device_failure.hpp).
#pragma once

#include <string>

#include "runtime/session/device/device_failure.hpp"

namespace fairgv::vgpu {

inline session::TrialEnded trial_works() {
  return {session::TrialEnded::Verdict::works, ""};
}
/// `error`: of the driver, in the step `what`.
inline session::TrialEnded trial_failed(const std::string& what, const std::string& error) {
  return {session::TrialEnded::Verdict::failed, error + " (" + what + ")"};
}
inline session::TrialEnded trial_unknown(const std::string& what, const std::string& error) {
  return {session::TrialEnded::Verdict::unknown, error + " (" + what + ")"};
}

}  // namespace fairgv::vgpu
