// The engine of the tenant's libcuda.so.1: FairGV's worker, which has the real driver
// (cuda-shim/api/engine.hpp has the contract). cuInit fetches the facts that never change once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/engine.hpp"
#include "cuda-shim/driver/connection.hpp"
#include "cuda-shim/driver/memory/opened.hpp"
#include "cuda-shim/driver/memory/worker_address_space.hpp"
#include "cuda-shim/driver/scheduler.hpp"
#include "cuda-shim/driver/staging.hpp"

namespace fairgv::cuda::remote {

class Engine final : public cuda::Engine {
 public:
  struct Opened {
    std::unique_ptr<Connection> connection;
    wire::cuda::DevicesReply devices;     // those that the program sees
    std::vector<std::uint32_t> ordinals;  // the worker's, of each
  };

  /// Connects to the daemon. CUDA_ERROR_NO_DEVICE: there is no daemon, or it has no CUDA device; one line on
  /// standard error has reported it.
  static CUresult open(Opened& opened);
  explicit Engine(Opened opened);

  const char* name() const override { return "fairgv"; }
  /// The version of the driver beneath.
  int version() const override;
  CUresult start() override { return CUDA_SUCCESS; }
  /// Fetches the driver's last messages, which would otherwise come after the program's end: a program that
  /// is refused often ends at once. The worker ends with the process, whatever it is doing.
  void stop() override;
  /// The child of a fork has no part in its parent's session.
  void disown_in_child() override { connection.disown_in_child(); }

  /// The devices' memory is the tenant's quota. The worker alone decides how much may be allocated.
  const std::vector<DeviceDescription>& devices() const override { return descriptions_; }
  int attribute(CUdevice device, CUdevice_attribute which) const override;
  CUresult memory_info(Context& context, std::uint64_t used, std::size_t& free, std::size_t& total) override;

  cuda::Scheduler& scheduler() override { return scheduler_; }

  CUresult make_group(CUcontext owner, CUdevice device, bool primary, unsigned flags,
                      std::shared_ptr<cuda::StreamGroup>& group) override;
  void close_group(cuda::StreamGroup& group) override { static_cast<StreamGroup&>(group).close(); }
  CUresult limit(Context& context, CUlimit which, std::size_t& value) override;
  CUresult set_limit(Context& context, CUlimit which, std::size_t value) override;

  /// For requests whose size only the worker knows.
  static constexpr std::uint64_t kAnySize = 0;
  /// Calls `ask`, which returns an optional reply with a code. Repeats the call while it is refused and
  /// memory that the program has freed is on its way back to the device.
  template <class Ask>
  auto ask_for_memory(CUdevice device, std::uint64_t bytes, Ask ask) {
    auto reply = ask();
    const auto is_refused = [&reply] { return reply && reply->code == CUDA_ERROR_OUT_OF_MEMORY; };
    if (!is_refused()) return reply;
    connection.session().ask_for_memory_until_refused(session::Api::cuda,
                                                      std::uint64_t{1} << facts(device).device, bytes, [&] {
                                                        reply = ask();
                                                        return is_refused();
                                                      });
    return reply;
  }

  CUresult make_storage(Context& context, const MemoryWish& wish, Allocation& allocation) override;
  CUresult make_array(Context& context, std::uint64_t bytes, Array& array) override;
  CUresult make_texture(Context& context, TextureObject& object) override;
  CUresult make_surface(Context& context, TextureObject& object) override;
  MemorySharing& memory_sharing() override { return sharing_; }
  CUresult map_registered(Context& context, const Allocation& registered, Allocation& mapped) override;
  AddressSpace* address_space() override { return &address_space_; }

  std::shared_ptr<cuda::Image> load_image(const void* image, std::optional<std::uint64_t> size,
                                          const JitOptions& options, CUresult& code, LoadLog& log) override;
  std::shared_ptr<cuda::Module> make_module(Driver& driver, std::shared_ptr<cuda::Image> image,
                                            Context& context, CUresult& code, LoadLog& log) override;
  std::shared_ptr<cuda::Linking> make_linking(Context& context, JitOptions options) override;

 private:
  const std::unique_ptr<Connection> owned_connection_;  // before what refers to it

 public:
  Connection& connection;

 private:
  const wire::cuda::DeviceFacts& facts(CUdevice device) const {
    return devices_.devices[static_cast<std::size_t>(device)];
  }
  CUresult make_pinned(Context& context, const MemoryWish& wish, Allocation& allocation);

  StagingPool staging_;
  Scheduler scheduler_;
  Sharing sharing_{connection};
  WorkerAddressSpace address_space_{*this, ordinals_};
  const wire::cuda::DevicesReply devices_;
  const std::vector<std::uint32_t> ordinals_;  // the worker's, by the program's
  const std::vector<DeviceDescription> descriptions_;
  const bool shares_addresses_;  // an address in the arena means the same here and in the worker
};

}  // namespace fairgv::cuda::remote
