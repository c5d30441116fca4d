#include "runtime/session/service_unit.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/json_fields.hpp"

namespace fairgv::session {
namespace {

constexpr std::string_view kKernelPrefix = "kernel:";
constexpr std::string_view kMarksPrefix = "marks:";

bool is_unit_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestUnitName &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

Result<ServiceUnit> parse_service_unit(const std::string& text, const std::string& source) {
  using Kind = ServiceUnit::Kind;
  if (text == "none") return ServiceUnit{};
  if (text == "calls") return ServiceUnit{Kind::calls};
  if (text == "marks") return ServiceUnit{Kind::marks};
  for (const auto& [prefix, kind] :
       {std::pair(kKernelPrefix, Kind::kernel), std::pair(kMarksPrefix, Kind::marks)}) {
    if (!text.starts_with(prefix)) continue;
    const std::string name = text.substr(prefix.size());
    if (is_unit_name(name)) return ServiceUnit{kind, name};
  }
  return Error{source + " is '" + printable(text, kLongestUnitName) +
               "': a unit of service is kernel:NAME, calls, marks, marks:LABEL or none"};
}

std::string to_text(const ServiceUnit& unit) {
  switch (unit.kind) {
    case ServiceUnit::Kind::none:
      break;
    case ServiceUnit::Kind::kernel:
      return std::string(kKernelPrefix) + unit.name;
    case ServiceUnit::Kind::calls:
      return "calls";
    case ServiceUnit::Kind::marks:
      return unit.name.empty() ? "marks" : std::string(kMarksPrefix) + unit.name;
  }
  return "none";
}

}  // namespace fairgv::session
