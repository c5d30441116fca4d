// The engine of the software driver: an OpenCL device, threads that run what is in its streams, and what
// launches need (cuda-shim/api/README.md has the contract).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"
#include "cuda-shim/softcuda/driver/launch/launch_frame.hpp"
#include "cuda-shim/softcuda/driver/scheduler.hpp"

namespace fairgv::cuda {

class Context;
struct Allocation;
struct Array;
struct MemoryWish;
struct TextureObject;

inline constexpr const char* kEngineName = "fairgv softcuda";

class Engine {
 public:
  using Opened = std::unique_ptr<OpenClDevice>;

  static CUresult open(Opened& opened);
  explicit Engine(Opened opened) : opencl(std::move(opened)) {}

  CUresult start() { return scheduler.start(); }
  /// At the process's end: executor threads are told to stop and are waited for a short while.
  void stop();
  void disown_in_child() {}

  static int version();
  int device_count() const { return 1; }
  std::string device_name(CUdevice) const;
  CUuuid device_uuid(CUdevice) const;
  std::string pci_bus_id(CUdevice) const;
  int attribute(CUdevice, CUdevice_attribute which) const;
  std::uint64_t device_memory(CUdevice) const { return opencl->facts().global_memory; }
  std::uint64_t allocatable(CUdevice) const { return opencl->facts().global_memory; }
  CUresult memory_info(Context&, std::uint64_t used, std::size_t& free, std::size_t& total) const;

  CUresult make_group(CUcontext owner, CUdevice, bool primary, unsigned flags,
                      std::shared_ptr<StreamGroup>& group);
  /// Nothing to do: the context's own end is soon enough.
  void close_group(StreamGroup&) {}
  CUresult limit(Context& context, CUlimit which, std::size_t& value);
  CUresult set_limit(Context& context, CUlimit which, std::size_t value);

  CUresult make_storage(Context& context, const MemoryWish& wish, Allocation& allocation);
  CUresult make_array(Context& context, std::uint64_t bytes, Array& array);
  /// Of checked objects (texture.hpp).
  CUresult make_texture(Context& context, TextureObject& object);
  CUresult make_surface(Context& context, TextureObject& object);
  /// All memory is the device's, where it is.
  CUresult device_address(const Allocation&, std::uint64_t host, CUdeviceptr& address) const {
    address = host;
    return CUDA_SUCCESS;
  }

  const std::unique_ptr<OpenClDevice> opencl;
  Scheduler scheduler;
  LaunchFrames frames;

 private:
  using Limits = std::map<CUlimit, std::size_t>;
  std::mutex limits_lock_;
  std::map<std::uint64_t, Limits> limits_;  // by context, where something was set
};

/// One line on stderr, if FAIRGV_SOFTCUDA_VERBOSE is set.
void say_if_verbose(const std::string& line);

}  // namespace fairgv::cuda
