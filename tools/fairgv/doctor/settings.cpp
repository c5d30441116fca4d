#include "tools/fairgv/doctor/settings.hpp"

#include <toml++/toml.h>
#include <unistd.h>

#include "tools/fairgv/doctor/apart.hpp"

namespace fairgv::tools::doctor {
namespace {

constexpr int kNotExecutable = 127;

}  // namespace

Settings read_settings(const std::filesystem::path& file) {
  Settings settings;
  try {
    const toml::table table = toml::parse_file(file.string());
    settings.socket = table["daemon"]["socket"].value<std::string>();
    settings.session_limit = table["daemon"]["session_limit"].value_or(settings.session_limit);
    settings.vendors = table["opencl"]["vendors"].value_or(settings.vendors);
    settings.cores = table["device"]["cores"].value_or(settings.cores);
  } catch (const toml::parse_error&) {
    // The daemon says what is wrong with it.
  }
  return settings;
}

std::string daemon_refuses(const Machine& machine, const std::string& file) {
  const std::string program = machine.at(machine.programs) / "fairgvd";
  const auto apart = run_apart([&](int out) {
    ::dup2(out, STDERR_FILENO);
    ::execl(program.c_str(), program.c_str(), "--check", "--config", file.c_str(), nullptr);
    return kNotExecutable;
  });
  if (!apart) return apart.error().message;
  if (!apart->died.empty()) return program + " " + apart->died;
  if (apart->status == kNotExecutable) return "cannot execute " + program;
  return apart->status == 0 ? "" : apart->said;
}

}  // namespace fairgv::tools::doctor
