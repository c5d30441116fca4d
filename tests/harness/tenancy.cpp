#include "tests/harness/tenancy.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "runtime/daemon/config/vendor_directory.hpp"
#include "runtime/daemon/worker/cuda_driver.hpp"

namespace fairgv::harness {
namespace {

/// A daemon ends by itself after so long without a session, in case the test that started it was killed.
constexpr const char* kIdleSeconds = "600";

bool tenants_have_the_driver() {
  const char* const direct = std::getenv(kDirectVariable);
  return direct != nullptr && std::string(direct) == "1";
}

}  // namespace

std::filesystem::path own_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::string beside(const std::string& program) {
  const auto near = own_folder() / program;
  const auto installed = (own_folder() / "../../bin" / program).lexically_normal();
  std::error_code ignored;
  return !std::filesystem::exists(near, ignored) && std::filesystem::exists(installed, ignored) ? installed
                                                                                                : near;
}

Result<Placement> Placement::device_on_first(unsigned cores) {
  const unsigned all = std::thread::hardware_concurrency();
  if (cores == 0 || cores >= all) {
    return Error{"of " + std::to_string(all) + " cores, the device can have 1 to all but one, not " +
                 std::to_string(cores)};
  }
  const auto range = [](unsigned first, unsigned last) {
    return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
  };
  Placement placement;
  placement.count_ = cores;
  placement.device_cores_ = range(0, cores - 1);
  placement.host_cores_ = range(cores, all - 1);
  return placement;
}

CommandLine Placement::place(CommandLine command) const {
  if (count_ == 0) return command;
  command.arguments.insert(command.arguments.begin(), {"taskset", "--cpu-list", host_cores_});
  return command;
}

CommandLine Placement::place_with_device(CommandLine command) const {
  if (count_ == 0) return command;
  command = place(std::move(command));
  // PoCL 3.1 puts its thread i on core i, whatever the process may use.
  command.environment.emplace_back("POCL_AFFINITY", "1");
  command.environment.emplace_back("POCL_MAX_PTHREAD_COUNT", std::to_string(count_));
  return command;
}

std::string bare_cuda_libraries() {
  const auto drivers = daemon::cuda_drivers(std::nullopt, beside("fairgv-vgpu"));
  if (drivers.empty()) return {};
  const char* const runtime = std::getenv("FAIRGV_BENCH_CUDART");
  const char* const own = std::getenv("LD_LIBRARY_PATH");
  return std::filesystem::path(drivers.front()).parent_path().string() + ":" +
         (runtime != nullptr ? std::string(runtime)
                             : std::filesystem::path(beside("../lib/cuda")).lexically_normal().string()) +
         (own != nullptr && *own != '\0' ? ":" + std::string(own) : std::string());
}

namespace {

constexpr const char* kSystemVendors = "/etc/OpenCL/vendors";

/// Where an installation has registered FairGV among the system's drivers, a folder with the others alone for
/// this process: a bare program that took FairGV's platform would measure it. None if that cannot be made.
std::optional<std::string> vendors_of_others() {
  struct Folder {
    TemporaryFolder around;
    daemon::VendorDirectory vendors;
  };
  static const std::optional<Folder> folder = []() -> std::optional<Folder> {
    if (!daemon::has_front_end(kSystemVendors)) return std::nullopt;
    auto around = TemporaryFolder::make();
    if (!around) return std::nullopt;
    auto vendors = daemon::VendorDirectory::create(around.value() / "vendors", kSystemVendors);
    if (!vendors) return std::nullopt;
    return Folder{std::move(around).value(), std::move(vendors).value()};
  }();
  return folder ? std::optional<std::string>(folder->vendors.path()) : std::nullopt;
}

}  // namespace

CommandLine bare(std::vector<std::string> program, const Placement& placement) {
  CommandLine command{std::move(program),
                      {{"OCL_ICD_VENDORS", vendors_of_others()},
                       {"FAIRGV_SOCKET", std::nullopt},
                       {"FAIRGV_TENANT", std::nullopt}}};
  if (const std::string cuda = bare_cuda_libraries(); !cuda.empty()) {
    command.environment.emplace_back("LD_LIBRARY_PATH", cuda);
  }
  return placement.place_with_device(std::move(command));
}

Result<Tenancy> Tenancy::start(Placement placement, Environment changes, std::string device) {
  FAIRGV_TRY(folder, TemporaryFolder::make());
  Tenancy tenancy(std::move(folder).value(), std::move(placement));
  // It may name files that workers cannot see from within their cage, and a sanitizer ends a process that
  // cannot read them.
  changes.emplace_back("TSAN_OPTIONS", std::nullopt);
  // First: the caller may begin other tables after [device].
  if (const std::string& cores = tenancy.placement_.device_cores(); !cores.empty()) {
    device = "cores = \"" + cores + "\"\nwake_latency_us = 0\n" + device;
  }
  // Always, so that the machine's own configuration has no part in it.
  const std::string config = tenancy.folder_ / "fairgvd.toml";
  std::ofstream(config) << (tenants_have_the_driver() ? "[cuda]\ndirect = \"fallback\"\n" : "")
                        << "[device]\n"
                        << device << '\n';
  // Not by a tenant's `fairgv run`, whose daemon would soon end beside programs that are not its tenants.
  FAIRGV_TRY(started, run({{beside("fairgvd"), "--daemonize", "--exit-idle", kIdleSeconds, "--socket",
                            tenancy.socket(), "--config", config},
                           std::move(changes)}));
  if (started->status != 0) return Error{"the private daemon at " + tenancy.socket() + " did not start"};
  return tenancy;
}

Tenancy::~Tenancy() {
  if (!folder_.path().empty()) (void)run({{beside("fairgv"), "stop", "--socket", socket()}, {}});
}

Result<void> Tenancy::set_policy(const std::string& policy) const {
  return set({"--policy", policy});
}

Result<void> Tenancy::set_weight(const std::string& name, std::uint32_t weight) const {
  return set({name, fmt::format("weight={}", weight)});
}

Result<void> Tenancy::set(const std::vector<std::string>& what) const {
  CommandLine command{{beside("fairgv"), "set", "--socket", socket()}, {}};
  command.arguments.insert(command.arguments.end(), what.begin(), what.end());
  FAIRGV_TRY(ended, run(command));
  if (ended->status != 0) {
    return Error{fmt::format("the daemon does not do 'fairgv set {}'", fmt::join(what, " "))};
  }
  return {};
}

CommandLine Tenancy::tenant(const std::string& name, std::uint32_t weight,
                            std::vector<std::string> program) const {
  CommandLine command{{beside("fairgv"), "run", "--socket", socket(), "--tenant", name, "--weight",
                       std::to_string(weight), "--"},
                      {{"OCL_ICD_VENDORS", std::nullopt}}};
  for (std::string& argument : program) command.arguments.push_back(std::move(argument));
  if (!tenants_have_the_driver()) return placement_.place(std::move(command));
  // The runtime that goes with the driver, as bare programs have it.
  if (const std::string cuda = bare_cuda_libraries(); !cuda.empty()) {
    command.environment.emplace_back("LD_LIBRARY_PATH", cuda);
  }
  return placement_.place_with_device(std::move(command));
}

}  // namespace fairgv::harness
