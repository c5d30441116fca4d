#include "tools/fairgv/doctor/icd_files.hpp"

#include <algorithm>

namespace fairgv::tools::doctor {
namespace {

namespace fs = std::filesystem;

IcdFile read_icd_file(const Machine& machine, const std::string& path) {
  std::string line = machine.text(path).value_or("");
  line.erase(std::min(line.find('\n'), line.size()));
  line.erase(line.find_last_not_of(" \t\r") + 1);
  return {path, line};
}

}  // namespace

std::vector<IcdFile> icd_files_in(const Machine& machine, const std::string& folder) {
  std::vector<IcdFile> files;
  std::error_code ignored;
  for (const fs::path& file : fs::directory_iterator(machine.at(folder), ignored)) {
    if (file.extension() != ".icd") continue;
    files.push_back(read_icd_file(machine, fs::path(folder) / file.filename()));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

bool is_front_end(const IcdFile& file) {
  return fs::path(file.driver).filename().string().starts_with("libfairgv-opencl");
}

std::string own_icd_file(const Machine& machine) {
  return (machine.programs / "../lib/fairgv/vendors/fairgv.icd").lexically_normal();
}

const IcdFile* DriverSearch::front_end() const {
  const auto found = std::find_if(files.begin(), files.end(), is_front_end);
  return found == files.end() ? nullptr : &*found;
}

DriverSearch driver_search(const Machine& machine) {
  std::string folder = machine.variable("OPENCL_VENDOR_PATH");
  std::string decides = folder.empty() ? "" : "OPENCL_VENDOR_PATH";
  if (folder.empty()) folder = kSystemVendors;
  const std::string chosen = machine.variable("OCL_ICD_VENDORS");
  if (!chosen.empty()) decides = "OCL_ICD_VENDORS";
  if (chosen.ends_with(".icd") && !fs::is_directory(machine.at(chosen))) {
    const std::string inside = fs::path(folder) / chosen;
    const bool is_name = chosen.find('/') == std::string::npos;
    const std::string file = is_name && fs::exists(machine.at(inside)) ? inside : chosen;
    return {decides, file, {read_icd_file(machine, file)}};
  }
  if (!chosen.empty() && !fs::is_directory(machine.at(chosen))) {
    return {decides, chosen, {{"OCL_ICD_VENDORS", chosen}}};
  }
  if (!chosen.empty()) folder = chosen;
  return {decides, folder, icd_files_in(machine, folder)};
}

}  // namespace fairgv::tools::doctor
