// Checks whether tenants can open the device behind FairGV's back.
//
// A worker runs as its tenant's user, with that user's groups, so it needs the same right to open the device
// that would let the tenant get around FairGV. The users who may open the device are therefore a note, and a
// mistake only if everybody may. To keep tenants out, run them where the file is missing.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/fairgv/doctor/accounts.hpp"
#include "tools/fairgv/doctor/checks/checks.hpp"
#include "tools/fairgv/doctor/device_files.hpp"
#include "tools/fairgv/doctor/icd_files.hpp"

namespace fairgv::tools::doctor {
namespace {

constexpr mode_t kOthers = 0006;  // to read or to write
constexpr mode_t kGroup = 0060;

constexpr const char* kHideFiles =
    "start tenants' programs where these files are missing: a container without --device and --gpus, or a "
    "unit with "
    "PrivateDevices=yes";

/// The setting that survives the next start: drivers make their files anew.
std::string narrow_to_group(DeviceKind kind) {
  const auto udev = [](const char* match) {
    return fmt::format(
        "echo '{}, GROUP=\"render\", MODE=\"0660\"' > /etc/udev/rules.d/70-fairgv.rules && udevadm "
        "control --reload && udevadm trigger",
        match);
  };
  switch (kind) {
    case DeviceKind::dri:
      return udev("SUBSYSTEM==\"drm\", KERNEL==\"render*\"");
    case DeviceKind::kfd:
      return udev("SUBSYSTEM==\"kfd\"");
    case DeviceKind::accel:
      return udev("SUBSYSTEM==\"accel\"");
    case DeviceKind::nvidia:
      break;
  }
  return "options nvidia NVreg_DeviceFileUID=0 NVreg_DeviceFileMode=0660 NVreg_DeviceFileGID=N in "
         "/etc/modprobe.d/fairgv.conf, with N of: getent group render; then load the module again";
}

Finding finding_of(const Machine& machine, const DeviceFiles& files) {
  const std::string subject = fmt::format("{}", fmt::join(files.paths, ", "));
  const std::string owner = user_name(machine, files.user);
  const std::string group = group_name(machine, files.group);
  const std::string rights =
      fmt::format("mode {:04o}, {}:{}{}", files.mode, owner, group,
                  files.has_acl ? ", and more users by an ACL (getfacl shows them)" : "");
  if ((files.mode & kOthers) != 0) {
    return wrong(subject, fmt::format("everybody may open it ({}), and so get around FairGV", rights),
                 narrow_to_group(files.kind));
  }
  const auto members = members_of(machine, files.group);
  if ((files.mode & kGroup) != 0 && !members.empty()) {
    return note(subject,
                fmt::format("{} may open it ({}), which their workers need, but could also do without FairGV",
                            fmt::join(members, ", "), rights),
                kHideFiles);
  }
  if (files.has_acl) return note(subject, fmt::format("further users may open it ({})", rights), kHideFiles);
  return note(subject,
              fmt::format("no tenant but {} may open it ({}), and neither may workers of other tenants",
                          owner, rights),
              fmt::format("{}; then usermod -aG render USER for each user who is a tenant",
                          narrow_to_group(files.kind)));
}

bool has_cpu_driver(const Examination& examination) {
  const auto files = icd_files_in(examination.machine, examination.settings.vendors);
  return std::any_of(files.begin(), files.end(), [](const IcdFile& file) {
    return std::filesystem::path(file.driver).filename().string().starts_with("libpocl");
  });
}

}  // namespace

Findings check_device_files(const Examination& examination) {
  Findings findings;
  for (const DeviceFiles& files : device_files(examination.machine)) {
    findings.push_back(finding_of(examination.machine, files));
  }
  if (findings.empty()) findings.push_back(ok("device files", "there are none of an accelerator in /dev"));
  return findings;
}

Findings check_processor(const Examination& examination) {
  if (!has_cpu_driver(examination)) return {ok("processor", "PoCL does not share it as a device")};
  return {note(
      "processor",
      "as a device it is not fenced off: programs that compute in threads of their own use it beside the "
      "turns",
      "keep programs off the device's cores: cores = \"LIST\" in [device] of the configuration, and programs "
      "started by taskset -c OTHERS, or in a cpuset")};
}

}  // namespace fairgv::tools::doctor
