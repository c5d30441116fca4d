#include "tools/fairgv/doctor/settings.hpp"

#include <toml++/toml.h>
#include <unistd.h>

#include <set>

#include "tools/fairgv/doctor/apart.hpp"

namespace fairgv::tools::doctor {
namespace {

constexpr int kNotExecutable = 127;

/// A later file may take back what an earlier one allows.
void read_direct(const std::string& title, const toml::node_view<const toml::node>& table,
                 Settings& settings) {
  const auto direct = table["direct"].value<std::string>();
  if (!direct) return;
  if (*direct == "off") {
    settings.direct.erase(title);
  } else {
    settings.direct.insert(title);
  }
}

void read_file(const std::filesystem::path& file, Settings& settings) {
  try {
    const toml::table table = toml::parse_file(file.string());
    if (auto socket = table["daemon"]["socket"].value<std::string>()) settings.socket = std::move(socket);
    settings.session_limit = table["daemon"]["session_limit"].value_or(settings.session_limit);
    settings.vendors = table["opencl"]["vendors"].value_or(settings.vendors);
    settings.cores = table["device"]["cores"].value_or(settings.cores);
    read_direct("[cuda]", table["cuda"], settings);
    for (const std::string section : {"tenant", "class"}) {
      const toml::table* const names = table[section].as_table();
      if (names == nullptr) continue;
      for (const auto& [name, rule] : *names)
        read_direct("[" + section + "." + std::string(name.str()) + "]",
                    toml::node_view<const toml::node>(rule), settings);
    }
  } catch (const toml::parse_error&) {
    // The daemon says what is wrong with it.
  }
}

}  // namespace

Settings read_settings(const std::filesystem::path& file) {
  Settings settings;
  read_file(file, settings);
  std::set<std::filesystem::path> drop_ins;  // by name, as fairgvd reads them
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(file.string() + ".d", ignored)) {
    const bool hidden = entry.path().filename().string().starts_with('.');
    if (!hidden && entry.path().extension() == ".toml") drop_ins.insert(entry.path());
  }
  for (const auto& drop_in : drop_ins) read_file(drop_in, settings);
  return settings;
}

std::string daemon_refuses(const Machine& machine, const std::optional<std::string>& file) {
  const std::string program = machine.at(machine.programs) / "fairgvd";
  const auto apart = run_apart([&](int out) {
    ::dup2(out, STDERR_FILENO);
    const char* const option = file ? "--config" : nullptr;
    ::execl(program.c_str(), program.c_str(), "--check", option, file ? file->c_str() : nullptr, nullptr);
    return kNotExecutable;
  });
  if (!apart) return apart.error().message;
  if (!apart->died.empty()) return program + " " + apart->died;
  if (apart->status == kNotExecutable) return "cannot execute " + program;
  return apart->status == 0 ? "" : apart->said;
}

}  // namespace fairgv::tools::doctor
