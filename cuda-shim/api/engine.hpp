// The engine beneath the Driver API: devices, memory, code and streams. Entry points check the arguments
// before they call it, so an engine never sees a program's handle or an invalid argument.
//
// There are two engines, cuda::soft (cuda-shim/softcuda/driver) and cuda::remote (cuda-shim/driver), each in
// a libcuda.so.1 of its own. This room includes neither: the library that is linked with it defines
// open_engine().
//
// On hot paths a program's call makes at most one virtual call. Facts that are read often are therefore data
// in the base classes: scheduler.hpp, code/module.hpp, DeviceDescription here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

class Context;
class Driver;
class Image;
class Linking;
class MemorySharing;
class Module;
class Scheduler;
class StreamGroup;
struct Allocation;
class AddressSpace;
struct Array;
struct MemoryWish;
struct Mipmap;
struct TextureObject;

/// The facts of a device that never change.
struct DeviceDescription {
  std::string name;
  CUuuid uuid{};
  std::string pci_bus_id;
  std::uint64_t memory = 0;                // bytes
  std::uint64_t allocatable = UINT64_MAX;  // bytes that may be allocated at once, in sum
  /// Kernels can set conditional handles (graph/conditional/condition.hpp).
  bool sets_conditions = false;
};

/// Any thread may call. Callers pass only devices that exist, and contexts and objects of this engine.
class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The prefix of lines on standard error.
  virtual const char* name() const = 0;
  /// The answer of cuDriverGetVersion. Not newer than the version that the entry points know.
  virtual int version() const = 0;
  /// Called once, before the first call that needs work done.
  virtual CUresult start() = 0;
  /// At the process's end.
  virtual void stop() = 0;
  /// In the child of a fork, which has no driver.
  virtual void disown_in_child() = 0;

  virtual const std::vector<DeviceDescription>& devices() const = 0;
  /// 0: the device knows no such attribute.
  virtual int attribute(CUdevice device, CUdevice_attribute which) const = 0;
  /// `used`: bytes that this process has allocated.
  virtual CUresult memory_info(Context& context, std::uint64_t used, std::size_t& free,
                               std::size_t& total) = 0;

  virtual Scheduler& scheduler() = 0;
  virtual CUresult make_group(CUcontext owner, CUdevice device, bool primary, unsigned flags,
                              std::shared_ptr<StreamGroup>& group) = 0;
  /// The context has ended: nothing is put into its streams any more.
  virtual void close_group(StreamGroup& group) = 0;
  virtual CUresult limit(Context& context, CUlimit which, std::size_t& value) = 0;
  virtual CUresult set_limit(Context& context, CUlimit which, std::size_t value) = 0;

  /// Fills in the allocation's begin, here and on the device, its pitch and its storage.
  virtual CUresult make_storage(Context& context, const MemoryWish& wish, Allocation& allocation) = 0;
  virtual MemorySharing& memory_sharing() = 0;
  virtual CUresult make_array(Context& context, std::uint64_t bytes, Array& array) = 0;
  /// Fills in the storage of each level, and of the whole if the engine has such.
  virtual CUresult make_mipmap(Context& context, Mipmap& mipmap) = 0;
  /// Fill in the handle and the storage of checked objects (memory/texture.hpp).
  virtual CUresult make_texture(Context& context, TextureObject& object) = 0;
  virtual CUresult make_surface(Context& context, TextureObject& object) = 0;
  /// Null: the engine manages no virtual memory.
  virtual AddressSpace* address_space() { return nullptr; }
  /// Makes kernels of the context their own memory of registered memory, and keeps both the same until the
  /// storage retires. Fills in `mapped`'s begin, here and on the device, and its storage. Asked only of
  /// devices that cannot use the program's own (memory/mapped.hpp).
  virtual CUresult map_registered(Context&, const Allocation& /*registered*/, Allocation& /*mapped*/) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }

  /// Null: refused, with the code and the reason. `size`: where it is known (a file); an image in memory says
  /// its own size.
  virtual std::shared_ptr<Image> load_image(const void* image, std::optional<std::uint64_t> size,
                                            const JitOptions& options, CUresult& code, LoadLog& log) = 0;
  /// Null: refused, with the code and the reason. May wait for a compiler.
  virtual std::shared_ptr<Module> make_module(Driver& driver, std::shared_ptr<Image> image, Context& context,
                                              CUresult& code, LoadLog& log) = 0;
  virtual std::shared_ptr<Linking> make_linking(Context& context, JitOptions options) = 0;
};

/// Opens the engine that this library is built with; the engine defines this function. cuInit calls it until
/// it succeeds. CUDA_ERROR_NO_DEVICE: there is no device; if users need to know, one line on standard error
/// has reported it.
CUresult open_engine(std::unique_ptr<Engine>& engine);

}  // namespace fairgv::cuda
