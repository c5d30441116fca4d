#include "runtime/session/identity.hpp"

#include <cerrno>  // program_invocation_short_name
#include <charconv>
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

Result<std::uint32_t> parse_weight(const std::string& text, const std::string& source) {
  std::uint32_t weight = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, weight);
  if (code != std::errc{} || stop != end || weight < kMinWeight || weight > kMaxWeight) {
    return Error{source + " is '" + text + "': a weight is an integer from " + std::to_string(kMinWeight) +
                 " to " + std::to_string(kMaxWeight)};
  }
  return weight;
}

Result<ClientIdentity> identity_from_environment() {
  ClientIdentity identity;
  identity.socket_path = default_socket_path();
  identity.tenant = variable("FAIRGV_TENANT");
  if (identity.tenant && !is_tenant_name(*identity.tenant)) {
    return tenant_name_error(*identity.tenant, "FAIRGV_TENANT");
  }
  if (const auto text = variable("FAIRGV_WEIGHT")) {
    FAIRGV_TRY(weight, parse_weight(*text, "FAIRGV_WEIGHT"));
    identity.weight = weight.value();
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
