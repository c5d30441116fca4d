#include "runtime/daemon/config/values/timegraph_spec.hpp"

#include <filesystem>

#include "runtime/session/identity.hpp"
#include "runtime/session/wish/tenant_wish.hpp"
#include "sched/policies/timegraph/spec.hpp"

namespace fairgv::daemon {
namespace {

/// The fault of an entry that is written correctly; empty if there is none.
std::string fault_of(const sched::SpecEntry& entry, sched::Share limit) {
  if (!session::is_tenant_name(entry.name)) {
    return session::tenant_name_error(entry.name, "the name").message;
  }
  const sched::Share share = entry.task.reserve->share();
  if (share <= limit) return "";
  return "the reserve of '" + entry.name + "' is " + session::to_text(share) +
         " of the device and more than " + session::to_text(limit) +
         ", the limit in [timegraph], lower the one or raise the other";
}

}  // namespace

void read_timegraph_spec(Config& config, const Settings& settings, ConfigErrors& errors) {
  TimeGraphRules& rules = config.tenants.timegraph;
  if (rules.spec.empty()) return;
  const ConfigPlace& place = settings.sections.at("timegraph").values.at("spec").place;
  const std::string path = std::filesystem::path(place.path).parent_path() / rules.spec;
  const auto text = read_file(path, "the specification");
  if (!text) return errors.add(place, "spec in [timegraph]: " + text.error().message);
  const sched::Spec spec = sched::parse_spec(text->text, path);
  for (const std::string& error : spec.errors) errors.add(error);
  const bool limit_known = settings.knows({"limit"});
  for (const sched::SpecEntry& entry : spec.entries) {
    const std::string complaint = fault_of(entry, limit_known ? rules.limit : sched::kWholeDevice);
    if (!complaint.empty()) errors.add(path + ":" + std::to_string(entry.line) + ": " + complaint);
    rules.tasks.emplace(entry.name, entry.task);
  }
}

}  // namespace fairgv::daemon
