#include "runtime/vgpu/cuda/back_end.hpp"

#include <spdlog/spdlog.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/vgpu/backend/device_trial.hpp"
#include "runtime/vgpu/cuda/failure/device_trial.hpp"
#include "runtime/vgpu/cuda/handlers.hpp"
#include "runtime/vgpu/opencl/back_end.hpp"
#include "runtime/vgpu/opencl/failure/device_trial.hpp"

namespace fairgv::vgpu::cuda {
namespace {

class CudaBackEnd final : public BackEnd {
 public:
  CudaBackEnd(std::optional<opencl::Driver> opencl, Driver driver)
      : opencl_(std::move(opencl)), driver_(std::move(driver)) {}

  std::vector<session::DeviceDescription> devices() const override {
    std::vector<session::DeviceDescription> all;
    if (opencl_) all = opencl::describe(*opencl_);
    all.insert(all.end(), driver_.more_devices().begin(), driver_.more_devices().end());
    return all;
  }
  std::uint64_t nameable() const override {
    std::uint64_t devices = 0;
    for (const Device& device : driver_.devices()) devices |= std::uint64_t{1} << device.facts.device;
    return devices;
  }
  bool has_host_device() const override { return driver_.is_host(); }
  bool is_one_cpu_device() const override {
    return driver_.is_host() && opencl_ && opencl_->devices().size() == 1 && driver_.more_devices().empty();
  }
  // A driver of CUDA must not be called from its callbacks.
  bool callbacks_may_issue() const override { return false; }
  std::optional<std::string> device_failure(std::int32_t status) const override {
    const auto code = static_cast<CUresult>(wire::cuda::code_of(status));
    if (!is_device_failure(code)) return std::nullopt;
    return describe(driver_.functions(), code);
  }
  session::TrialEnded try_device(wire::DeviceIndex device) override {
    for (const Device& each : driver_.devices()) {
      if (each.facts.device == device) return cuda::try_device(driver_.functions(), each);
    }
    // It is OpenCL's alone; or the software driver leaves out what it has tried itself.
    return opencl_ ? opencl::try_device(*opencl_, device)
                   : trial_unknown("devices", "its CUDA driver does not show it");
  }
  std::unique_ptr<CallHandler> serve(const ring::Segment& segment, Executor& executor,
                                     ServeSettings settings) override {
    // Programs keep addresses: nothing of theirs can leave the device meanwhile.
    if (settings.memory != nullptr && settings.residencies != nullptr)
      settings.memory->all_stay(*settings.residencies);
    return std::make_unique<Handlers>(driver_, segment, executor, std::move(settings));
  }

 private:
  const std::optional<opencl::Driver> opencl_;  // none: there is no driver of OpenCL
  Driver driver_;
};

Result<Driver> open_driver(const std::vector<std::string>& libraries, const opencl::Driver* opencl) {
  std::optional<Driver> without_devices;
  Error failure{"no CUDA driver is named"};
  for (const std::string& library : libraries) {
    auto driver = Driver::open(library, opencl);
    if (!driver) {
      // Said although another may do: a GPU's driver that does not start must not be missed by its user.
      spdlog::warn("{} is passed over: {}", library, driver.error().message);
      failure = driver.error();
      continue;
    }
    if (!driver->devices().empty()) return driver;
    spdlog::warn("{} is passed over: it finds no device", library);
    if (!without_devices) without_devices.emplace(std::move(driver).value());
  }
  if (without_devices) return std::move(*without_devices);
  return failure;
}

}  // namespace

Result<std::unique_ptr<BackEnd>> open_back_end(const session::WorkerOptions& options) {
  std::optional<opencl::Driver> opencl;
  if (auto driver = opencl::open_driver(options.tuning.core_per_thread))
    opencl.emplace(std::move(driver).value());
  FAIRGV_TRY(driver, open_driver(options.cuda_libraries, opencl ? &*opencl : nullptr));
  return std::unique_ptr<BackEnd>(
      std::make_unique<CudaBackEnd>(std::move(opencl), std::move(driver).value()));
}

}  // namespace fairgv::vgpu::cuda
