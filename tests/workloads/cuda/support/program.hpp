#pragma once
// main() of a workload in CUDA: a class that is made of a launcher and parameters.

#include <memory>
#include <string>

#include "tests/workloads/cuda/support/launcher.hpp"
#include "tests/workloads/support/target.hpp"

namespace workloads::cuda {

/// A device that is current from then on, and a stream on it.
class CudaTarget : public Target {
 public:
  CudaTarget(const std::string& platform, const std::string& device);

  const std::string& platform_name() const override { return platform_name_; }
  const std::string& device_name() const override { return device_name_; }
  LaunchQueue& queue() override { return *launcher_; }
  std::chrono::duration<double, std::milli> build_time() const override { return launcher_->load_time(); }
  [[noreturn]] void rebuild() override;

 protected:
  Launcher& launcher() { return *launcher_; }

 private:
  std::string platform_name_;
  std::string device_name_;
  std::unique_ptr<Launcher> launcher_;
};

template <class Made>
int run_cuda(const Description& description, int argc, const char* const* argv) {
  struct ThisTarget : CudaTarget {
    using CudaTarget::CudaTarget;
    std::unique_ptr<Workload> make(const Parameters& parameters) override {
      return std::make_unique<Made>(launcher(), parameters);
    }
  };
  return run_workload(
      description,
      [](const std::string& platform, const std::string& device) {
        return std::make_unique<ThisTarget>(platform, device);
      },
      argc, argv);
}

}  // namespace workloads::cuda
