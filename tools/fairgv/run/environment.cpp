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

Result<Variables> tenant_variables(const TenantOptions& options) {
  if (options.tenant && !session::is_tenant_name(*options.tenant)) {
    return session::tenant_name_error(*options.tenant, "--tenant");
  }
  if (options.weight) {
    FAIRGV_CHECK(session::parse_weight(*options.weight, "--weight"));
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
  if (const auto cuda = cuda_folder()) {
    variables.emplace_back("LD_LIBRARY_PATH", library_path(*cuda, std::getenv("LD_LIBRARY_PATH")));
  }
  if (options.tenant) variables.emplace_back("FAIRGV_TENANT", options.tenant);
  if (options.weight) variables.emplace_back("FAIRGV_WEIGHT", options.weight);
  if (options.memory) variables.emplace_back("FAIRGV_MEM", options.memory);
  return variables;
}

void add_env(CLI::App& app, Action& action) {
  static TenantOptions options;
  CLI::App* env = app.add_subcommand("env", "Print the variables that make a shell's programs tenants");
  env->add_option("--tenant", options.tenant, "Name of the tenant")->type_name("TENANT");
  env->add_option("--weight", options.weight, "Its weight, 1 to 10000")->type_name("W");
  env->add_option("--mem", options.memory, "The most device memory that it may hold: 512MiB, 25%")
      ->type_name("SIZE");
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
