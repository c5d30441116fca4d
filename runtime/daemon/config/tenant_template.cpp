#include "runtime/daemon/config/tenant_template.hpp"

#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {
namespace {

void fill(std::string& text, std::string_view place, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos; at += by.size()) {
    text.replace(at, place.size(), by);
  }
}

}  // namespace

std::string fill_template(std::string text, const std::string& user, const std::string& container) {
  fill(text, kUserPlace, user);
  fill(text, kContainerPlace, container);
  return text;
}

bool is_tenant_template(std::string_view text) {
  return session::is_tenant_name(fill_template(std::string(text), "u", "c"));
}

}  // namespace fairgv::daemon
