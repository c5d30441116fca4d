// The engine of the software driver: an OpenCL device, threads that run the commands of its streams, and the
// frames of launches (cuda-shim/api/engine.hpp has the contract).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/engine.hpp"
#include "cuda-shim/softcuda/driver/device/host_address_space.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"
#include "cuda-shim/softcuda/driver/ipc/exports.hpp"
#include "cuda-shim/softcuda/driver/launch/launch_frame.hpp"
#include "cuda-shim/softcuda/driver/schedule/commands.hpp"
#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"

namespace fairgv::cuda::soft {

inline constexpr const char* kEngineName = "fairgv softcuda";

class Engine final : public cuda::Engine {
 public:
  using Opened = std::unique_ptr<OpenClDevice>;

  static CUresult open(Opened& opened);
  explicit Engine(Opened opened);

  const char* name() const override { return kEngineName; }
  int version() const override;
  CUresult start() override { return operations.start(); }
  /// Tells executor threads to stop, and waits for them for a short while.
  void stop() override;
  void disown_in_child() override {}

  const std::vector<DeviceDescription>& devices() const override { return descriptions_; }
  int attribute(CUdevice device, CUdevice_attribute which) const override;
  CUresult memory_info(Context& context, std::uint64_t used, std::size_t& free, std::size_t& total) override;

  cuda::Scheduler& scheduler() override { return commands_; }
  CUresult make_group(CUcontext owner, CUdevice device, bool primary, unsigned flags,
                      std::shared_ptr<cuda::StreamGroup>& group) override;
  /// Nothing to do: the context's own end is soon enough.
  void close_group(cuda::StreamGroup&) override {}
  CUresult limit(Context& context, CUlimit which, std::size_t& value) override;
  CUresult set_limit(Context& context, CUlimit which, std::size_t value) override;

  CUresult make_storage(Context& context, const MemoryWish& wish, Allocation& allocation) override;
  MemorySharing& memory_sharing() override { return exports_; }
  AddressSpace* address_space() override { return &address_space_; }
  CUresult make_array(Context& context, std::uint64_t bytes, Array& array) override;
  CUresult make_texture(Context& context, TextureObject& object) override;
  CUresult make_surface(Context& context, TextureObject& object) override;

  std::shared_ptr<cuda::Image> load_image(const void* image, std::optional<std::uint64_t> size,
                                          const JitOptions& options, CUresult& code, LoadLog& log) override;
  std::shared_ptr<cuda::Module> make_module(Driver& driver, std::shared_ptr<cuda::Image> image,
                                            Context& context, CUresult& code, LoadLog& log) override;
  std::shared_ptr<cuda::Linking> make_linking(Context& context, JitOptions options) override;

  const std::unique_ptr<OpenClDevice> opencl;
  Scheduler operations;
  LaunchFrames frames;

 private:
  const std::vector<DeviceDescription> descriptions_;
  Commands commands_{*this};
  Exports exports_{*this};
  HostAddressSpace address_space_;
};

/// One line on stderr, if FAIRGV_SOFTCUDA_VERBOSE is set.
void say_if_verbose(const std::string& line);

}  // namespace fairgv::cuda::soft
