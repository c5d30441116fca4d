#include "tests/harness/tenancy.hpp"

#include <unistd.h>

#include <cstdlib>

namespace fairgv::harness {

std::string beside(const std::string& program) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
}

CommandLine bare(std::vector<std::string> program) {
  return {
      std::move(program),
      {{"OCL_ICD_VENDORS", std::nullopt}, {"FAIRGV_SOCKET", std::nullopt}, {"FAIRGV_TENANT", std::nullopt}}};
}

Result<Tenancy> Tenancy::start() {
  std::string folder = (std::filesystem::temp_directory_path() / "fairgv-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return system_error("a temporary folder " + folder);
  Tenancy tenancy{std::filesystem::path(folder)};
  // The first tenant starts the daemon; `true` makes sure that it is there, and that it can start at all.
  const auto started = run(tenancy.tenant("warm-up", 1, {"true"}));
  if (!started) return started.error();
  if (started->status != 0) return Error{"the private daemon at " + tenancy.socket() + " did not start"};
  return tenancy;
}

Tenancy::~Tenancy() {
  if (folder_.empty()) return;
  (void)run({{beside("fairgv"), "stop", "--socket", socket()}, {}});
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<void> Tenancy::set_policy(const std::string& policy) const {
  const auto set = run({{beside("fairgv"), "set", "--policy", policy, "--socket", socket()}, {}});
  if (!set) return set.error();
  if (set->status != 0) return Error{"the daemon does not take the policy '" + policy + "'"};
  return {};
}

CommandLine Tenancy::tenant(const std::string& name, std::uint32_t weight,
                            std::vector<std::string> program) const {
  CommandLine command{{beside("fairgv"), "run", "--socket", socket(), "--tenant", name, "--weight",
                       std::to_string(weight), "--"},
                      {{"OCL_ICD_VENDORS", std::nullopt}}};
  for (std::string& argument : program) command.arguments.push_back(std::move(argument));
  return command;
}

}  // namespace fairgv::harness
