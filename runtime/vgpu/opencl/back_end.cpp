#include "runtime/vgpu/opencl/back_end.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "runtime/base/core_set.hpp"
#include "runtime/vgpu/backend/device_threads.hpp"
#include "runtime/vgpu/opencl/failure/device_trial.hpp"
#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

class OpenClBackEnd final : public BackEnd {
 public:
  explicit OpenClBackEnd(Driver driver) : driver_(std::move(driver)) {}

  std::vector<session::DeviceDescription> devices() const override { return describe(driver_); }
  bool has_host_device() const override { return driver_.has_host_device(); }
  bool is_one_cpu_device() const override { return has_host_device() && driver_.devices().size() == 1; }
  bool callbacks_may_issue() const override {
    const auto devices = driver_.root_devices();
    return std::all_of(devices.begin(), devices.end(),
                       [](const Device& device) { return (device.type & CL_DEVICE_TYPE_CPU) != 0; });
  }
  std::optional<std::string> device_failure(std::int32_t status) const override {
    if (status == CL_DEVICE_NOT_AVAILABLE) return "CL_DEVICE_NOT_AVAILABLE";
    return std::nullopt;
  }
  session::TrialEnded try_device(wire::DeviceIndex device) override {
    return opencl::try_device(driver_, device);
  }
  std::unique_ptr<CallHandler> serve(const ring::Segment& segment, Executor& executor,
                                     ServeSettings settings) override {
    return std::make_unique<Handlers>(driver_, segment, executor, std::move(settings));
  }

 private:
  Driver driver_;
};

}  // namespace

Result<Driver> open_driver(bool core_per_thread) {
  const std::size_t before = own_threads().size();
  auto driver = Driver::open();
  if (!driver || !core_per_thread) return driver;
  const auto cores = allowed_cores();
  if (cores && driver->has_host_device() && driver->devices().size() == 1) {
    const std::vector<pid_t> threads = own_threads();
    give_each_a_core(std::span(threads).subspan(before), cores.value());
  }
  return driver;
}

std::vector<session::DeviceDescription> describe(const Driver& driver) {
  std::vector<session::DeviceDescription> all;
  for (std::size_t i = 0; i < driver.root_devices().size(); ++i) {
    const Device& device = driver.devices()[i];
    cl_ulong memory = 0;  // unknown, if the driver does not say
    clGetDeviceInfo(device.id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(memory), &memory, nullptr);
    const auto index = static_cast<wire::DeviceIndex>(i);
    cl_uint units = 0, megahertz = 0;
    clGetDeviceInfo(device.id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, nullptr);
    clGetDeviceInfo(device.id, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(megahertz), &megahertz, nullptr);
    all.push_back({driver.platform_name(device.platform), driver.device_name(index), device.type, memory,
                   driver.device_id(index), std::uint64_t{units} * megahertz});
  }
  return all;
}

Result<std::unique_ptr<BackEnd>> open_back_end(const session::WorkerOptions& options) {
  FAIRGV_TRY(driver, open_driver(options.tuning.core_per_thread));
  return std::unique_ptr<BackEnd>(std::make_unique<OpenClBackEnd>(std::move(driver).value()));
}

}  // namespace fairgv::vgpu::opencl
