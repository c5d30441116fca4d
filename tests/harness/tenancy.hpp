// Running OpenCL programs for a test or a benchmark: bare, or as tenants of a private daemon that lives as
// long as the test does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/ring/result.hpp"
#include "tests/harness/child.hpp"

namespace fairgv::harness {

/// A program in the folder of the running one: the build tree's bin/, or where benchmarks are installed.
std::string beside(const std::string& program);

/// The program on the driver alone, without FairGV.
CommandLine bare(std::vector<std::string> program);

/// A daemon of our own, on a socket in a temporary folder. Stopped, and the folder removed, by the
/// destructor.
class Tenancy {
 public:
  static Result<Tenancy> start();
  ~Tenancy();
  Tenancy(Tenancy&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  Tenancy& operator=(Tenancy&&) = delete;

  std::string socket() const { return folder_ / "fairgvd.sock"; }
  /// Has the daemon's devices scheduled by this policy from now on.
  Result<void> set_policy(const std::string& policy) const;
  /// The program as a tenant, by `fairgv run`.
  CommandLine tenant(const std::string& name, std::uint32_t weight, std::vector<std::string> program) const;

 private:
  explicit Tenancy(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace fairgv::harness
