// Finds what gets between a program and FairGV: variables, neighbours in the vendor folder, other loaders.
#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "runtime/session/identity.hpp"
#include "runtime/session/protocol.hpp"
#include "tools/fairgv/doctor/checks/checks.hpp"
#include "tools/fairgv/doctor/icd_files.hpp"

namespace fairgv::tools::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLoader = "libOpenCL.so.1";

std::vector<std::string> parts_of(const std::string& list, const char* separators) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find_first_of(separators, begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The folder of LD_LIBRARY_PATH that has a loader of its own; empty if none has.
std::string folder_with_loader(const Machine& machine) {
  for (const std::string& folder : parts_of(machine.variable("LD_LIBRARY_PATH"), ":;")) {
    if (fs::exists(machine.at(fs::path(folder) / kLoader))) return folder;
  }
  return {};
}

/// Khronos' loader opens these before the vendor folder's.
Finding filenames_finding(const std::string& value) {
  const auto libraries = parts_of(value, ":");
  const bool only_ours = std::all_of(libraries.begin(), libraries.end(), [](const std::string& library) {
    return is_front_end({{}, library});
  });
  if (only_ours) return ok("OCL_ICD_FILENAMES", "leads to FairGV only");
  return note("OCL_ICD_FILENAMES",
              fmt::format("programs with Khronos' loader also find {}, and get around FairGV", value),
              "unset OCL_ICD_FILENAMES");
}

/// What is preloaded beside FairGV's own library, which comes before no loader: `fairgv env` sets it.
std::string preloaded_by_others(const std::string& list) {
  std::string others;
  for (const std::string& library : parts_of(list, ": \n")) {
    if (fs::path(library).filename() == "libfairgv-cudart-preload.so") continue;
    others += (others.empty() ? "" : ":") + library;
  }
  return others;
}

Finding variable_error(const char* name, const Error& error) {
  return wrong(name, error.message + ": OpenCL programs do not find FairGV's devices",
               fmt::format("unset {}, or correct it", name));
}

}  // namespace

Findings check_vendor_variables(const Examination& examination) {
  const Machine& machine = examination.machine;
  const DriverSearch search = driver_search(machine);
  Findings findings;
  if (!search.variable.empty() && search.front_end() != nullptr) {
    findings.push_back(ok(search.variable, fmt::format("{} leads to FairGV", search.place)));
  } else if (!search.variable.empty()) {
    const auto registered = icd_files_in(machine, kSystemVendors);
    const bool hides = std::any_of(registered.begin(), registered.end(), is_front_end);
    const std::string text =
        fmt::format("leads programs to {}, where FairGV is not{}", search.place,
                    hides ? fmt::format(", although it is registered in {}", kSystemVendors) : "");
    const std::string remedy = hides ? "unset " + search.variable : "eval \"$(fairgv env)\"";
    findings.push_back({hides ? Level::wrong : Level::note, search.variable, text, remedy});
  }
  if (const std::string names = machine.variable("OCL_ICD_FILENAMES"); !names.empty()) {
    findings.push_back(filenames_finding(names));
  }
  if (!findings.empty()) return findings;
  return {ok("loader's variables", "OCL_ICD_VENDORS, OPENCL_VENDOR_PATH and OCL_ICD_FILENAMES are not set")};
}

Findings check_further_drivers(const Examination& examination) {
  const DriverSearch search = driver_search(examination.machine);
  if (search.front_end() == nullptr) return {ok("other drivers", "FairGV is not registered beside them")};
  std::string others;
  for (const IcdFile& file : search.files) {
    if (!is_front_end(file)) others += (others.empty() ? "" : " ") + file.path;
  }
  if (others.empty()) return {ok("other drivers", "programs find none beside FairGV in " + search.place)};
  return {note("other drivers",
               fmt::format("programs that choose the platforms of {} get around FairGV", others),
               fmt::format("mkdir -p /etc/fairgv/vendors && mv {} /etc/fairgv/vendors, and vendors = "
                           "\"/etc/fairgv/vendors\" in [opencl] of the configuration",
                           others))};
}

Findings check_loader(const Examination& examination) {
  const Machine& machine = examination.machine;
  const OpenedLibrary loader = machine.open_library(kLoader);
  if (loader.path.empty()) {
    return {wrong("loader", fmt::format("programs find no {}: {}", kLoader, loader.error),
                  "apt-get install ocl-icd-libopencl1")};
  }
  if (const std::string folder = folder_with_loader(machine); !folder.empty()) {
    return {note("loader",
                 fmt::format("programs get {}, because {} is in LD_LIBRARY_PATH: it may not look for "
                             "vendor files where FairGV is registered",
                             loader.path, folder),
                 fmt::format("take {} out of LD_LIBRARY_PATH", folder))};
  }
  return {ok("loader", "programs get " + loader.path)};
}

Findings check_preload(const Examination& examination) {
  Findings findings;
  const auto others = preloaded_by_others(examination.machine.variable("LD_PRELOAD"));
  if (!others.empty()) {
    findings.push_back(note("LD_PRELOAD",
                            others + " comes before the loader in every program, and may answer for it",
                            "unset LD_PRELOAD"));
  }
  const auto file = examination.machine.text("/etc/ld.so.preload");
  const auto everywhere = preloaded_by_others(file.value_or(""));
  if (!everywhere.empty()) {
    findings.push_back(note("/etc/ld.so.preload",
                            everywhere + " comes before the loader in every program, and may answer for it",
                            "rm /etc/ld.so.preload, unless you know why it is there"));
  }
  if (findings.empty()) findings.push_back(ok("LD_PRELOAD", "nothing comes before the loader"));
  return findings;
}

Findings check_tenant_variables(const Examination& examination) {
  const Machine& machine = examination.machine;
  Findings findings;
  if (const std::string tenant = machine.variable("FAIRGV_TENANT");
      !tenant.empty() && !session::is_tenant_name(tenant)) {
    findings.push_back(variable_error("FAIRGV_TENANT", session::tenant_name_error(tenant, "FAIRGV_TENANT")));
  }
  if (const std::string text = machine.variable("FAIRGV_WEIGHT"); !text.empty()) {
    const auto weight = session::parse_weight(text, "FAIRGV_WEIGHT");
    if (!weight) findings.push_back(variable_error("FAIRGV_WEIGHT", weight.error()));
  }
  if (const std::string text = machine.variable("FAIRGV_SLICE"); !text.empty()) {
    const auto wish = session::parse_slicing_wish(text, "FAIRGV_SLICE");
    if (!wish) findings.push_back(variable_error("FAIRGV_SLICE", wish.error()));
  }
  if (findings.empty()) findings.push_back(ok("FAIRGV_* variables", "can be read, where they are set"));
  return findings;
}

}  // namespace fairgv::tools::doctor
