// Devices that fail, in the messages between the daemon and its workers: one JSON object per packet, on the
// worker's channel.
//
//   worker -> daemon   device failed  its driver says so: nothing more is handed to the device until the
//   daemon
//                                     has decided
//   daemon -> worker   use device     the daemon has: the device is used as ever, or the session cannot leave
//   it trial  -> daemon   trial          how a worker that the daemon has started for a trial
//   (WorkerOptions::trial)
//                                     could use the device; the trial then ends
//
// A session that leaves the device hears nothing: its next worker uses another device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairgv {
class JsonFields;
}

namespace fairgv::session {

struct DeviceFailed {
  std::uint32_t device = 0;  // index into the worker's devices
  std::string reason;        // the driver's error, one line, at most kLongestDeviceFailure bytes
};

struct UseDevice {
  std::uint32_t device = 0;  // index into the worker's devices
};

/// How a trial of a device has ended.
struct TrialEnded {
  enum class Verdict {
    works,
    failed,  // the driver says so, or does not show the device any more
    unknown  // it could not be tried: there was no memory, the drivers could not be opened
  };
  Verdict verdict = Verdict::unknown;
  std::string reason{};  // unless it works: one line, at most kLongestDeviceFailure bytes
};

inline constexpr std::size_t kLongestDeviceFailure = 256;

std::string to_text(const DeviceFailed& message);
std::string to_text(const UseDevice& order);
std::string to_text(const TrialEnded& message);

/// The parts of a message of that kind. If they are not right, the fields have an error afterwards.
DeviceFailed device_failed_from(JsonFields& fields);
TrialEnded trial_ended_from(JsonFields& fields);

}  // namespace fairgv::session
