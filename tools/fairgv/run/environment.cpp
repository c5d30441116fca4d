// fairgv env: the variables of a tenant, for a shell.
#include "tools/fairgv/run/environment.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/session/identity.hpp"
#include "runtime/session/paths.hpp"
#include "runtime/session/protocol.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/run/cuda_program.hpp"

namespace fairgv::tools {
namespace {

/// The vendor folder with our front end alone: ../lib/fairgv/vendors in the build tree and where we are
/// installed.
Result<std::string> vendor_folder() {
  FAIRGV_TRY(programs, session::program_directory());
  const auto folder = (programs.value() / "../lib/fairgv/vendors").lexically_normal();
  if (!std::filesystem::exists(folder / "fairgv.icd")) {
    return Error{"the front end is not registered at " + (folder / "fairgv.icd").string() +
                 ": build or install FairGV whole"};
  }
  std::string library;
  std::getline(std::ifstream(folder / "fairgv.icd"), library);
  if (!std::filesystem::exists(library)) {
    return Error{(folder / "fairgv.icd").string() + " names the front end " + library +
                 ", which is not there: install FairGV into the folder where it is to stay (cmake --install, "
                 "--prefix), and do not move it"};
  }
  return folder.string();
}

std::string quoted(const std::string& value) {
  std::string text = "'";
  for (const char c : value) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

int print_variables(const TenantOptions& options) {
  const auto variables = tenant_variables(options);
  if (!variables) return fail("env", variables.error().message, kMisused);
  for (const auto& [name, value] : variables.value()) {
    if (value) {
      fmt::print("export {}={}\n", name, quoted(*value));
    } else {
      fmt::print("unset {}\n", name);
    }
  }
  return 0;
}

}  // namespace

void add_tenant_options(CLI::App& command, TenantOptions& options) {
  command
      .add_option("--tenant", options.tenant,
                  "Name of the tenant (default: FAIRGV_TENANT, else the user's name)")
      ->type_name("TENANT");
  command.add_option("--weight", options.weight, "Its weight, 1 to 10000 (default: the configuration's)")
      ->type_name("W");
  command
      .add_option("--min", options.min,
                  "Its guarantee while it has work: 20% of each device, 5ms/50ms of device time, none")
      ->type_name("SHARE");
  command.add_option("--max", options.max, "Its ceiling, also if nobody else wants the device: 50%")
      ->type_name("SHARE");
  command
      .add_option("--class", options.service,
                  "How it is served: normal, latency (latency:5ms), or batch, which has what others leave")
      ->type_name("CLASS");
  command
      .add_option(
          "--mem", options.memory,
          "The most device memory that it may hold, at most what the configuration allows: 512MiB, 25%")
      ->type_name("SIZE");
}

Result<Variables> tenant_variables(const TenantOptions& options) {
  if (options.tenant && !session::is_tenant_name(*options.tenant)) {
    return session::tenant_name_error(*options.tenant, "--tenant");
  }
  if (options.weight) {
    FAIRGV_CHECK(session::parse_weight(*options.weight, "--weight"));
  }
  if (options.min) {
    FAIRGV_CHECK(session::parse_min(*options.min, "--min"));
  }
  if (options.max) {
    FAIRGV_CHECK(session::parse_max(*options.max, "--max"));
  }
  if (options.service) {
    FAIRGV_CHECK(session::parse_service(*options.service, "--class"));
  }
  if (options.memory) {
    FAIRGV_CHECK(parse_memory_limit(*options.memory, "--mem"));
  }
  FAIRGV_TRY(vendors, vendor_folder());
  Variables variables{{"OCL_ICD_VENDORS", vendors.value()},
                      // Other loaders' ways to add drivers beside the folder.
                      {"OCL_ICD_FILENAMES", std::nullopt},
                      {"OPENCL_VENDOR_PATH", std::nullopt},
                      {"FAIRGV_SOCKET", options.socket}};
  if (const auto cuda = options.direct ? cuda_direct_folder() : cuda_folder()) {
    variables.emplace_back("LD_LIBRARY_PATH", library_path(*cuda, std::getenv("LD_LIBRARY_PATH")));
    if (auto preload = preload_path(*cuda, std::getenv("LD_PRELOAD"))) {
      variables.emplace_back("LD_PRELOAD", std::move(preload));
    }
  }
  if (options.tenant) variables.emplace_back("FAIRGV_TENANT", options.tenant);
  if (options.weight) variables.emplace_back("FAIRGV_WEIGHT", options.weight);
  if (options.min) variables.emplace_back("FAIRGV_MIN", options.min);
  if (options.max) variables.emplace_back("FAIRGV_MAX", options.max);
  if (options.service) variables.emplace_back("FAIRGV_CLASS", options.service);
  if (options.memory) variables.emplace_back("FAIRGV_MEM", options.memory);
  return variables;
}

void add_env(CLI::App& app, Action& action) {
  static TenantOptions options;
  CLI::App* env = app.add_subcommand("env", "Print the variables that make a shell's programs tenants");
  add_tenant_options(*env, options);
  add_socket_option(*env, options.socket);
  env->callback([&action] {
    action = [] {
      const std::string socket = options.socket.empty() ? session::default_socket_path() : options.socket;
      options.socket = std::filesystem::absolute(socket);
      return print_variables(options);
    };
  });
}

}  // namespace fairgv::tools
