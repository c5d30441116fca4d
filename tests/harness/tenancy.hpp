// Running OpenCL and CUDA programs for a test or a benchmark: bare, or as tenants of a private daemon that
// lives as long as the test does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "tests/harness/child.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::harness {

/// Where this variable of the environment is 1, tenants ask for direct mode, which their private daemon
/// allows: the driver is in their own process.
inline constexpr const char* kDirectVariable = "FAIRGV_DIRECT";

/// The folder of the running program: the build tree's bin/, or libexec/fairgv where benchmarks are
/// installed.
std::filesystem::path own_folder();

/// A program of ours: in that folder, or where that is libexec/fairgv, in the installation's bin/.
std::string beside(const std::string& program);

/// Where everything runs, for a machine on which a CPU device is to be apart from host code as an accelerator
/// is. By default anywhere.
class Placement {
 public:
  Placement() = default;
  /// The device on the first `cores` cores, all else on the others. An Error if none would be left.
  static Result<Placement> device_on_first(unsigned cores);

  /// "0" or "0-1"; empty: anywhere.
  const std::string& device_cores() const { return device_cores_; }
  /// The command, kept off the device's cores.
  CommandLine place(CommandLine command) const;
  /// The same for a program whose own driver is PoCL, with the device's threads on the device's cores.
  CommandLine place_with_device(CommandLine command) const;

 private:
  unsigned count_ = 0;
  std::string device_cores_;
  std::string host_cores_;
};

/// For LD_LIBRARY_PATH: the folder of the CUDA driver that workers would use, and one with the CUDA runtime:
/// the one that FAIRGV_BENCH_CUDART names, else ours. Empty where FairGV was built without CUDA.
std::string bare_cuda_libraries();

/// The program on the driver alone, without FairGV.
CommandLine bare(std::vector<std::string> program, const Placement& placement = {});

/// A daemon of our own, on a socket in a temporary folder. Stopped, and the folder removed, by the
/// destructor.
class Tenancy {
 public:
  /// The daemon and its workers, and so the driver in them, get the caller's environment with these changes.
  /// `device`: lines for [device] of the daemon's configuration, and tables after it.
  static Result<Tenancy> start(Placement placement = {}, Environment changes = {}, std::string device = {});
  ~Tenancy();
  Tenancy(Tenancy&& other) noexcept = default;
  Tenancy& operator=(Tenancy&&) = delete;

  std::string socket() const { return folder_ / "fairgvd.sock"; }
  /// Has the daemon's devices scheduled by this policy from now on.
  Result<void> set_policy(const std::string& policy) const;
  /// The tenant, which is there, has this weight from now on.
  Result<void> set_weight(const std::string& name, std::uint32_t weight) const;
  /// The program as a tenant, by `fairgv run`.
  CommandLine tenant(const std::string& name, std::uint32_t weight, std::vector<std::string> program) const;

 private:
  Tenancy(TemporaryFolder folder, Placement placement)
      : folder_(std::move(folder)), placement_(std::move(placement)) {}
  /// `fairgv set`.
  Result<void> set(const std::vector<std::string>& what) const;
  TemporaryFolder folder_;
  Placement placement_;
};

}  // namespace fairgv::harness
