#pragma once
// main() of a workload in OpenCL: a class that is made of a device, a launcher and parameters.

#include <memory>

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/launcher.hpp"
#include "tests/workloads/support/target.hpp"

namespace workloads {

template <class Made>
class OpenClTarget : public Target {
 public:
  OpenClTarget(const std::string& platform, const std::string& device)
      : device_(platform, device), launcher_(device_) {}

  const std::string& platform_name() const override { return device_.platform_name(); }
  const std::string& device_name() const override { return device_.device_name(); }
  LaunchQueue& queue() override { return launcher_; }
  std::unique_ptr<Workload> make(const Parameters& parameters) override {
    return std::make_unique<Made>(device_, launcher_, parameters);
  }
  std::chrono::duration<double, std::milli> build_time() const override { return device_.build_time(); }
  void rebuild() override { device_.rebuild(); }

 private:
  Device device_;
  Launcher launcher_;
};

template <class Made>
int run_opencl(const Description& description, int argc, const char* const* argv) {
  return run_workload(
      description,
      [](const std::string& platform, const std::string& device) {
        return std::make_unique<OpenClTarget<Made>>(platform, device);
      },
      argc, argv);
}

}  // namespace workloads
