// The engine of the tenant's libcuda.so.1: FairGV's worker, which has the real driver
// (cuda-shim/api/README.md has the contract). What never changes is asked once, by cuInit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/driver/connection.hpp"
#include "cuda-shim/driver/scheduler.hpp"
#include "cuda-shim/driver/staging.hpp"

namespace fairgv::cuda {

class Context;
struct Allocation;
struct Array;
struct MemoryWish;
struct TextureObject;

inline constexpr const char* kEngineName = "fairgv";

class Engine {
 public:
  struct Opened {
    std::unique_ptr<Connection> connection;
    wire::cuda::DevicesReply devices;
  };

  /// Connects to the daemon. CUDA_ERROR_NO_DEVICE: there is none, or it has no CUDA device, of which one line
  /// on standard error has told.
  static CUresult open(Opened& opened);
  explicit Engine(Opened opened);

  CUresult start() { return CUDA_SUCCESS; }
  /// At the process's end. The worker ends with the process, whatever it is doing.
  void stop() {}
  /// The child of a fork has no part in its parent's session.
  void disown_in_child() { connection.disown_in_child(); }

  /// Of the driver beneath, and no newer than what the entry points know. Before cuInit: the latter.
  static int version();
  int device_count() const { return static_cast<int>(devices_.devices.size()); }
  const std::string& device_name(CUdevice device) const { return facts(device).name; }
  CUuuid device_uuid(CUdevice device) const;
  const std::string& pci_bus_id(CUdevice device) const { return facts(device).pci_bus_id; }
  int attribute(CUdevice device, CUdevice_attribute which) const;
  /// As the tenant's quota has it.
  std::uint64_t device_memory(CUdevice device) const;
  /// The worker refuses by itself.
  std::uint64_t allocatable(CUdevice) const { return UINT64_MAX; }
  CUresult memory_info(Context& context, std::uint64_t used, std::size_t& free, std::size_t& total);

  CUresult make_group(CUcontext owner, CUdevice device, bool primary, unsigned flags,
                      std::shared_ptr<StreamGroup>& group);
  /// The context has ended.
  void close_group(StreamGroup& group) { group.close(); }
  CUresult limit(Context& context, CUlimit which, std::size_t& value);
  CUresult set_limit(Context& context, CUlimit which, std::size_t value);

  /// What counts is the worker's to say.
  static constexpr std::uint64_t kAnySize = 0;
  /// Sends `ask`, which returns an optional reply with a code, again for as long as it is refused and memory
  /// that the program has freed is on its way back to the device.
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

  CUresult make_storage(Context& context, const MemoryWish& wish, Allocation& allocation);
  CUresult make_array(Context& context, std::uint64_t bytes, Array& array);
  /// Of checked objects (texture.hpp).
  CUresult make_texture(Context& context, TextureObject& object);
  CUresult make_surface(Context& context, TextureObject& object);
  /// The device's address of what is at `host` in an allocation. CUDA_ERROR_NOT_SUPPORTED: of registered
  /// memory, which the worker does not see.
  CUresult device_address(const Allocation& allocation, std::uint64_t host, CUdeviceptr& address) const;

  /// An address in the arena means the same here and in the worker.
  bool shares_addresses() const { return shares_addresses_; }

 private:
  const std::unique_ptr<Connection> owned_connection_;  // before what refers to it

 public:
  Connection& connection;
  Scheduler scheduler;
  StagingPool staging;

 private:
  const wire::cuda::DeviceFacts& facts(CUdevice device) const {
    return devices_.devices[static_cast<std::size_t>(device)];
  }
  CUresult make_pinned(Context& context, const MemoryWish& wish, Allocation& allocation);

  const wire::cuda::DevicesReply devices_;
  const bool shares_addresses_;
};

}  // namespace fairgv::cuda
