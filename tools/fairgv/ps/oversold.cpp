#include "tools/fairgv/ps/oversold.hpp"

#include <fmt/core.h>

namespace fairgv::tools {
namespace {

using control::Report;

/// "30%", or "0.5%".
std::string part_text(double part) {
  return fmt::format("{:.3g}%", 100 * part);
}

std::string oversold_text(const Report::Device::Oversold& oversold) {
  std::string text = fmt::format("oversold: {} bought, {} used, {} for sale", part_text(oversold.overbooking),
                                 part_text(oversold.load), part_text(oversold.for_sale));
  if (oversold.resting) return text + "; rests under another policy than cap";
  if (oversold.overloaded > 0) text += fmt::format("; overloaded tenants: {}", oversold.overloaded);
  if (oversold.warning) text += ": a program should move to another device";
  return text;
}

std::string holding_text(const std::string& tenant, const Report::Use::Holding& holding) {
  std::string text =
      fmt::format("{} has {} of {} bought", tenant, part_text(holding.cap), part_text(holding.bought));
  if (holding.target > 0)
    text += fmt::format(", {:.3g} of {:.3g} units a second", holding.level, holding.target);
  return text;
}

}  // namespace

std::vector<std::string> oversold_lines(const Report& report, const Report::Device& device) {
  if (!device.oversold) return {};
  std::vector<std::string> lines{oversold_text(*device.oversold)};
  for (const Report::Tenant& tenant : report.tenants) {
    if (device.index < tenant.use.size() && tenant.use[device.index].holding)
      lines.push_back(holding_text(tenant.tenant, *tenant.use[device.index].holding));
  }
  return lines;
}

}  // namespace fairgv::tools
