#include "tests/bench/report/this_machine.hpp"

#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/harness/tenancy.hpp"

namespace fairgv::bench::report {
namespace {

constexpr const char* kUnknown = "not found out";

/// The text that follows `key` and `separator` in the first line of `file` that begins with `key`.
std::string value_in(const char* file, const std::string& key, char separator) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const auto at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string value = line.substr(line.find_first_not_of(" \t\"", at + 1));
    while (value.ends_with('"')) value.pop_back();
    return value;
  }
  return kUnknown;
}

std::string memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kUnknown;
  return fmt::format("{:.1f} GiB", static_cast<double>(pages) * static_cast<double>(page) / (1U << 30U));
}

std::string join(const std::vector<std::string>& parts, const char* none) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text.empty() ? none : text;
}

/// The OpenCL drivers that are registered, and NVIDIA's.
std::string drivers() {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/etc/OpenCL/vendors", ignored)) {
    std::string library;
    std::getline(std::ifstream(entry.path()) >> std::ws, library);
    found.push_back(fmt::format("{} ({})", entry.path().filename().string(), library));
  }
  std::sort(found.begin(), found.end());
  std::string nvidia;
  if (std::getline(std::ifstream("/proc/driver/nvidia/version"), nvidia)) found.push_back(nvidia);
  return join(found, "none is registered");
}

/// The devices as seen by a daemon that is started for this question.
std::string devices() {
  const auto tenancy = harness::Tenancy::start();
  if (!tenancy) return "no daemon could be asked: " + tenancy.error().message;
  const auto ps =
      harness::run({{harness::beside("fairgv"), "ps", "--json", "--socket", tenancy->socket()}, {}});
  if (!ps || ps->status != 0) return "the daemon could not be asked";
  std::string text;
  for (const std::string& line : ps->lines) text += line + '\n';
  const auto answer = nlohmann::json::parse(text, nullptr, false);
  if (!answer.is_object()) return "the daemon's answer could not be read";
  std::vector<std::string> found;
  for (const auto& device : answer.value("devices", nlohmann::json::array())) {
    found.push_back(
        fmt::format("{} ({})", device.value("name", kUnknown), device.value("platform", kUnknown)));
  }
  return join(found, "none");
}

}  // namespace

Machine this_machine() {
  utsname system{};
  ::uname(&system);
  const std::string processor = value_in("/proc/cpuinfo", "model name", ':');
  return {{"Processor", processor == kUnknown ? system.machine : processor},
          {"Cores", std::to_string(::sysconf(_SC_NPROCESSORS_ONLN))},
          {"Memory", memory()},
          {"System", value_in("/etc/os-release", "PRETTY_NAME", '=')},
          {"Kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"Drivers", drivers()},
          {"Devices", devices()}};
}

double load() {
  double average = 0;
  return ::getloadavg(&average, 1) == 1 ? average : 0;
}

}  // namespace fairgv::bench::report
