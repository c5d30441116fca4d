#include "runtime/session/device/device_failure.hpp"

#include <algorithm>

#include "runtime/base/json_fields.hpp"

namespace fairgv::session {
namespace {

using Verdict = TrialEnded::Verdict;

constexpr std::size_t kLongestFailureText = 4096;

struct VerdictName {
  Verdict verdict;
  std::string_view name;
};

constexpr VerdictName kVerdicts[] = {
    {Verdict::works, "works"}, {Verdict::failed, "failed"}, {Verdict::unknown, "unknown"}};

std::string failure_reason_from(JsonFields& fields) {
  return printable(fields.string("reason", kLongestFailureText), kLongestDeviceFailure);
}

}  // namespace

std::string to_text(const DeviceFailed& message) {
  return json_text({{"worker", "device failed"},
                    {"device", message.device},
                    {"reason", message.reason.substr(0, kLongestDeviceFailure)}});
}

std::string to_text(const UseDevice& order) {
  return json_text({{"order", "use device"}, {"device", order.device}});
}

std::string to_text(const TrialEnded& message) {
  const auto* const known = std::ranges::find(kVerdicts, message.verdict, &VerdictName::verdict);
  return json_text({{"worker", "trial"},
                    {"verdict", known->name},
                    {"reason", message.reason.substr(0, kLongestDeviceFailure)}});
}

DeviceFailed device_failed_from(JsonFields& fields) {
  DeviceFailed message;
  message.device = fields.integer32("device");
  message.reason = failure_reason_from(fields);
  return message;
}

TrialEnded trial_ended_from(JsonFields& fields) {
  const std::string name = fields.string("verdict", kLongestFailureText);
  const auto* const known = std::ranges::find(kVerdicts, name, &VerdictName::name);
  if (fields.ok() && known == std::end(kVerdicts))
    fields.fail("has a 'verdict' that is none of 'works', 'failed' and 'unknown'");
  TrialEnded message;
  if (fields.ok()) message.verdict = known->verdict;
  message.reason = failure_reason_from(fields);
  return message;
}

}  // namespace fairgv::session
