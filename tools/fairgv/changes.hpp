// What a person may change while programs run, from what was typed to what the daemon is asked: for `fairgv
// set`, `kill`, `pause` and `resume`, and the keys of `fairgv top`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/control/protocol.hpp"

namespace fairgv::tools {

struct Change {
  control::ControlRequest request;
  std::string done;  // what to say when the daemon has agreed
};

/// An Error names `source`, where the text came from: "weight", "--mem". The tenant's name must be one.
Result<Change> weight_change(const std::string& tenant, const std::string& text, const std::string& source);
Result<Change> memory_change(const std::string& tenant, const std::string& text, const std::string& source);
/// Without a device: of all.
Result<Change> policy_change(const std::string& policy, std::optional<std::uint32_t> device);

enum class Intervention { kill, pause, resume };
/// Of a tenant with all its sessions.
Result<Change> tenant_intervention(Intervention what, const std::string& tenant);
/// Of what somebody has typed: digits alone are a session's number, anything else is a tenant's name.
Result<Change> intervention(Intervention what, const std::string& target);

}  // namespace fairgv::tools
