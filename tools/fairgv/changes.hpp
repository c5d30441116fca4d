// The changes that a person may make while programs run, from the typed words to the daemon's request: for
// `fairgv set`, `kill`, `pause` and `resume`, and the keys of `fairgv top`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/control/protocol.hpp"

namespace fairgv::tools {

struct Change {
  control::ControlRequest request;
  std::string done;  // the message when the daemon has agreed
};

/// A typed value, and the name that an Error gives it: "the weight", "--mem". Empty: stays as it is.
struct Typed {
  std::string text{};
  std::string source{};
};

struct TenantSettings {
  Typed weight{};
  Typed min{};
  Typed max{};
  Typed service{};
  Typed memory{};
};

/// All settings of a tenant in one request, so that all of them hold afterwards or none. The tenant's name
/// must be a valid one.
Result<Change> tenant_change(const std::string& tenant, const TenantSettings& settings);
/// Without a device: the policy of all devices.
Result<Change> policy_change(const std::string& policy, std::optional<std::uint32_t> device);

/// The session or the tenant that a typed word names, in a request: digits alone are a session's number,
/// anything else is a tenant's name.
Result<control::ControlRequest> named_target(const std::string& word);

enum class Intervention { kill, pause, resume };
/// Of a tenant with all its sessions.
Result<Change> tenant_intervention(Intervention what, const std::string& tenant);
/// From a typed word; see named_target().
Result<Change> intervention(Intervention what, const std::string& target);

}  // namespace fairgv::tools
