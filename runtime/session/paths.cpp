#include "runtime/session/paths.hpp"

#include <unistd.h>

#include <cstdlib>

#include "runtime/session/own_files.hpp"

namespace fairgv::session {
namespace {

std::string value_of_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::string default_socket_path() {
  if (std::string chosen = value_of_variable("FAIRGV_SOCKET"); !chosen.empty()) return chosen;
  if (::access(kSystemSocket, F_OK) == 0) return kSystemSocket;
  return private_directory() / "fairgvd.sock";
}

std::string default_config_path() {
  if (::geteuid() == 0) return kSystemConfig;
  const std::filesystem::path file = "fairgv/fairgvd.toml";
  if (const std::string config = value_of_variable("XDG_CONFIG_HOME"); config.starts_with('/'))
    return std::filesystem::path(config) / file;
  const std::string home = value_of_variable("HOME");
  return home.starts_with('/') ? std::filesystem::path(home) / ".config" / file : std::filesystem::path();
}

std::filesystem::path private_directory() {
  if (const std::string runtime = value_of_variable("XDG_RUNTIME_DIR");
      !runtime.empty() && runtime.front() == '/') {
    return std::filesystem::path(runtime) / "fairgv";
  }
  return "/tmp/fairgv-" + std::to_string(::getuid());
}

Result<void> ensure_private_directory(const std::filesystem::path& path) {
  return ensure_own_directory(path, 0700, "correct it, or choose another socket with FAIRGV_SOCKET");
}

Result<std::filesystem::path> program_directory() {
  std::error_code code;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", code);
  if (code) return Error{"cannot read /proc/self/exe: " + code.message()};
  return program.parent_path();
}

}  // namespace fairgv::session
