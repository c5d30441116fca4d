// Checks that drivers are registered as they should be: ours for programs, the others for our workers.
#include <fmt/core.h>

#include <map>

#include "tools/fairgv/doctor/checks/checks.hpp"
#include "tools/fairgv/doctor/icd_files.hpp"

namespace fairgv::tools::doctor {
namespace {

/// Every vendor file that a program or a worker may be led to, once.
std::map<std::string, IcdFile> all_files(const Examination& examination) {
  const Machine& machine = examination.machine;
  std::map<std::string, IcdFile> files;
  const auto add = [&](const std::vector<IcdFile>& more) {
    for (const IcdFile& file : more) files.emplace(file.path, file);
  };
  add(driver_search(machine).files);
  add(icd_files_in(machine, examination.settings.vendors));
  add(icd_files_in(machine, std::filesystem::path(own_icd_file(machine)).parent_path()));
  return files;
}

/// The library that the dynamic linker did not find, if that is its reason: the driver, or something that the
/// driver needs.
std::string missing_library(const std::string& error) {
  const auto end = error.find(": cannot open shared object file");
  return end == std::string::npos ? std::string() : error.substr(0, end);
}

Finding opening(const Machine& machine, const IcdFile& file) {
  const std::string subject = "driver " + file.path;
  const std::string remedy = is_front_end(file)
                                 ? "build or install FairGV again"
                                 : fmt::format("install the driver again, or rm '{}'", file.path);
  if (file.driver.empty()) return wrong(subject, "it names no library", remedy);
  const OpenedLibrary opened = machine.open_library(file.driver);
  if (opened.path.empty()) {
    const std::string lacking = missing_library(opened.error);
    const bool needs_other = !lacking.empty() && lacking != file.driver;
    return wrong(subject, fmt::format("{} cannot be opened: {}", file.driver, opened.error),
                 needs_other ? fmt::format("install the package that has {} (apt-file search {}), or rm '{}'",
                                           lacking, lacking, file.path)
                             : remedy);
  }
  if (!opened.is_opencl) return wrong(subject, opened.path + " is no OpenCL driver", remedy);
  return ok(subject, "leads to " + opened.path);
}

}  // namespace

Findings check_front_end(const Examination& examination) {
  const Machine& machine = examination.machine;
  const std::string own = own_icd_file(machine);
  if (!std::filesystem::exists(machine.at(own))) {
    return {wrong("front end", fmt::format("{} is missing: 'fairgv run' and 'fairgv env' cannot work", own),
                  "build or install FairGV whole")};
  }
  const DriverSearch search = driver_search(machine);
  if (const IcdFile* file = search.front_end()) {
    return {ok("front end", fmt::format("programs find {} by {}", file->driver, file->path))};
  }
  return {note("front end",
               "programs are tenants only if 'fairgv run' starts them: no vendor file in " + search.place +
                   " leads to FairGV",
               fmt::format("eval \"$(fairgv env)\" for a shell, or for everybody: ln -s '{}' {}/fairgv.icd",
                           own, kSystemVendors))};
}

Findings check_drivers_open(const Examination& examination) {
  Findings findings;
  for (const auto& [path, file] : all_files(examination))
    findings.push_back(opening(examination.machine, file));
  if (findings.empty()) {
    findings.push_back(
        wrong("drivers", "no vendor file is registered anywhere", "apt-get install pocl-opencl-icd"));
  }
  return findings;
}

Findings check_drivers_once(const Examination& examination) {
  const DriverSearch search = driver_search(examination.machine);
  std::map<std::string, std::string> first;  // by what was opened
  Findings findings;
  for (const IcdFile& file : search.files) {
    const OpenedLibrary opened = examination.machine.open_library(file.driver);
    if (opened.path.empty()) continue;
    std::error_code ignored;
    const std::string real = std::filesystem::weakly_canonical(opened.path, ignored);
    const auto [found, is_new] = first.emplace(real, file.path);
    if (is_new) continue;
    findings.push_back(wrong("registered twice",
                             fmt::format("{} and {} both lead to {}: programs may see its devices twice",
                                         found->second, file.path, real),
                             fmt::format("rm '{}'", file.path)));
  }
  if (!findings.empty()) return findings;
  return {
      ok("registered twice", fmt::format("nothing among the {} in {}", search.files.size(), search.place))};
}

Findings check_worker_drivers(const Examination& examination) {
  const std::string& folder = examination.settings.vendors;
  std::string names;
  for (const IcdFile& file : icd_files_in(examination.machine, folder)) {
    if (!file.driver.empty() && !is_front_end(file)) names += (names.empty() ? "" : ", ") + file.driver;
  }
  if (!names.empty()) return {ok("drivers to share", fmt::format("{} in {}", names, folder))};
  return {wrong(
      "drivers to share", "workers find none in " + folder,
      "apt-get install pocl-opencl-icd, or vendors = \"FOLDER\" in [opencl] of the configuration, with the "
      "folder of your driver's vendor file")};
}

}  // namespace fairgv::tools::doctor
