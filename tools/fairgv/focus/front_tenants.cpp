#include "tools/fairgv/focus/front_tenants.hpp"

#include <charconv>
#include <fstream>
#include <string_view>

namespace fairgv::tools::focus {
namespace {

/// Processes between a program and its oldest ancestor; more make no sense.
constexpr int kMostGenerations = 256;

/// Calls visit(ancestor) from the parent on; ends when that returns true, and returns whether it did.
template <class Visit>
bool any_ancestor(pid_t process, const ParentOf& parent_of, Visit visit) {
  for (int i = 0; i < kMostGenerations; ++i) {
    const auto parent = parent_of(process);
    if (!parent || *parent <= 1) return false;
    if (visit(*parent)) return true;
    process = *parent;
  }
  return false;
}

/// The tenants with a session for whose program `fits` is true.
template <class Fits>
std::set<std::string> tenants_with(const control::Report& report, Fits fits) {
  std::set<std::string> names;
  for (const control::Report::Tenant& tenant : report.tenants) {
    for (const control::Report::Session& session : tenant.sessions) {
      if (!names.contains(tenant.tenant) && fits(static_cast<pid_t>(session.pid)))
        names.insert(tenant.tenant);
    }
  }
  return names;
}

}  // namespace

std::set<std::string> tenants_in_front(const control::Report& report, pid_t window,
                                       const ParentOf& parent_of) {
  const auto are = [&report](pid_t process) {
    return tenants_with(report, [process](pid_t program) { return program == process; });
  };
  std::set<std::string> names = are(window);
  if (!names.empty()) return names;
  names = tenants_with(report, [&](pid_t program) {
    return any_ancestor(program, parent_of, [window](pid_t ancestor) { return ancestor == window; });
  });
  if (!names.empty()) return names;
  any_ancestor(window, parent_of, [&](pid_t ancestor) {
    names = are(ancestor);
    return !names.empty();
  });
  return names;
}

std::optional<pid_t> parent_of(pid_t process) {
  constexpr std::string_view kParent = "PPid:\t";
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(kParent)) continue;
    pid_t parent = 0;
    const char* const end = line.data() + line.size();
    if (std::from_chars(line.data() + kParent.size(), end, parent).ec != std::errc{}) break;
    return parent;
  }
  return std::nullopt;
}

}  // namespace fairgv::tools::focus
