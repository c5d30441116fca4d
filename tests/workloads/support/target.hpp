#pragma once
// A device opened through one API, as the common main() needs it.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tests/workloads/support/launch_queue.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {

class Target {
 public:
  virtual ~Target() = default;

  virtual const std::string& platform_name() const = 0;
  virtual const std::string& device_name() const = 0;
  virtual LaunchQueue& queue() = 0;

  /// The workload, on this device and queue, which must outlive it.
  virtual std::unique_ptr<Workload> make(const Parameters& parameters) = 0;

  /// How long the kernels' latest building took: compiling them, or loading what a compiler has made; a
  /// driver with a cache may have had little to do.
  virtual std::chrono::duration<double, std::milli> build_time() const = 0;

  /// Builds the kernels anew, so that no cache knows them. Throws BadInput where programs are built
  /// beforehand.
  virtual void rebuild() = 0;
};

/// The position in `names` that `wanted` (an index or part of a name, in any case) stands for, as `option`
/// asks for it; throws BadInput.
std::size_t choose(const char* option, const std::string& wanted, const std::vector<std::string>& names);

}  // namespace workloads
