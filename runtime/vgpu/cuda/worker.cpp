#include "runtime/vgpu/cuda/worker.hpp"

#include <spdlog/spdlog.h>

#include "runtime/vgpu/cuda/backend.hpp"

namespace fairgv::vgpu::cuda {
namespace {

class Served final : public CallHandler {
 public:
  Served(const Driver& driver, const ring::Segment& segment, Executor& executor, WorkerSettings settings)
      : backend_(driver, segment, executor, std::move(settings)) {}

  Result<void> handle_call(Replies& replies, wire::Opcode opcode, std::span<const std::byte> bytes,
                           std::uint64_t tag) override {
    return dispatch(backend_, replies, opcode, bytes, tag);
  }
  // A driver's callbacks must not call it.
  bool is_brief(wire::Opcode) const override { return false; }

 private:
  Backend backend_;
};

class DriverWorker final : public Worker {
 public:
  explicit DriverWorker(Driver driver) : driver_(std::move(driver)) {}
  const std::vector<session::DeviceDescription>& more_devices() const override {
    return driver_.more_devices();
  }
  bool is_host() const override { return driver_.is_host(); }
  std::unique_ptr<CallHandler> serve(const ring::Segment& segment, Executor& executor,
                                     WorkerSettings settings) override {
    return std::make_unique<Served>(driver_, segment, executor, std::move(settings));
  }

 private:
  const Driver driver_;
};

}  // namespace

Result<std::unique_ptr<Worker>> Worker::open(const std::vector<std::string>& libraries,
                                             const opencl::Driver* opencl) {
  std::unique_ptr<Worker> without_devices;
  Error failure{"no CUDA driver is named"};
  for (const std::string& library : libraries) {
    auto driver = Driver::open(library, opencl);
    if (!driver) {
      // Said although another may do: a GPU's driver that does not start must not be missed by its user.
      spdlog::warn("{} is passed over: {}", library, driver.error().message);
      failure = driver.error();
      continue;
    }
    const bool has_devices = !driver->devices().empty();
    if (!has_devices) spdlog::warn("{} is passed over: it finds no device", library);
    std::unique_ptr<Worker> worker = std::make_unique<DriverWorker>(std::move(driver).value());
    if (has_devices) return worker;
    if (!without_devices) without_devices = std::move(worker);
  }
  if (without_devices) return without_devices;
  return failure;
}

}  // namespace fairgv::vgpu::cuda
