#include "runtime/session/identity.hpp"

#include <cerrno>  // program_invocation_short_name
#include <cstdlib>

#include "runtime/session/paths.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::session {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

Result<ClientIdentity> identity_from_environment() {
  ClientIdentity identity;
  identity.socket_path = default_socket_path();
  identity.tenant = variable("FAIRGV_TENANT");
  if (identity.tenant && !is_tenant_name(*identity.tenant)) {
    return tenant_name_error(*identity.tenant, "FAIRGV_TENANT");
  }
  if (const auto text = variable("FAIRGV_WEIGHT")) {
    FAIRGV_TRY(weight, parse_weight(*text, "FAIRGV_WEIGHT"));
    identity.wish.weight = weight.value();
  }
  if (const auto text = variable("FAIRGV_MIN")) {
    FAIRGV_TRY(min, parse_min(*text, "FAIRGV_MIN"));
    identity.wish.min = min.value();
  }
  if (const auto text = variable("FAIRGV_MAX")) {
    FAIRGV_TRY(max, parse_max(*text, "FAIRGV_MAX"));
    identity.wish.max = max.value();
  }
  if (const auto text = variable("FAIRGV_CLASS")) {
    FAIRGV_TRY(service, parse_service(*text, "FAIRGV_CLASS"));
    identity.wish.service = service.value();
  }
  FAIRGV_TRY(slicing, parse_slicing_wish(variable("FAIRGV_SLICE").value_or(""), "FAIRGV_SLICE"));
  identity.slicing = slicing.value();
  if (const auto text = variable("FAIRGV_MEM")) {
    FAIRGV_TRY(memory, parse_memory_limit(*text, "FAIRGV_MEM"));
    identity.memory = memory.value();
  }
  identity.driver_messages = variable("FAIRGV_DRIVER_MESSAGES") != "off";
  identity.program = program_invocation_short_name;
  return identity;
}

}  // namespace fairgv::session
