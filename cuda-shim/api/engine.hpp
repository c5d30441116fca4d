// What is beneath the Driver API: devices, memory, code and streams. An engine does what the entry points
// have checked; it never sees a handle of a program, nor an argument that no call may have.
//
// There are two, cuda::soft (cuda-shim/softcuda/driver) and cuda::remote (cuda-shim/driver), each in a
// libcuda.so.1 of its own. This room includes neither: the library that is linked with it defines
// open_engine().
//
// One virtual call per call of a program is the rule on hot paths. What is asked often is therefore data in
// the base classes: scheduler.hpp, code/module.hpp, DeviceDescription here.
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
class Module;
class Scheduler;
class StreamGroup;
struct Allocation;
struct Array;
struct MemoryWish;
struct TextureObject;

/// What never changes of a device.
struct DeviceDescription {
  std::string name;
  CUuuid uuid{};
  std::string pci_bus_id;
  std::uint64_t memory = 0;                // bytes
  std::uint64_t allocatable = UINT64_MAX;  // bytes that may be allocated at once, in sum
};

/// Any thread may call. Devices are those that are there, contexts and objects those of this engine.
class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// By which lines on standard error begin.
  virtual const char* name() const = 0;
  /// As cuDriverGetVersion answers. No newer than what the entry points know.
  virtual int version() const = 0;
  /// Once, before anything is asked for that does work.
  virtual CUresult start() = 0;
  /// At the process's end.
  virtual void stop() = 0;
  /// In the child of a fork, which has no driver.
  virtual void disown_in_child() = 0;

  virtual const std::vector<DeviceDescription>& devices() const = 0;
  /// 0: the device knows no such attribute.
  virtual int attribute(CUdevice device, CUdevice_attribute which) const = 0;
  /// `used`: bytes that this process has.
  virtual CUresult memory_info(Context& context, std::uint64_t used, std::size_t& free,
                               std::size_t& total) = 0;

  virtual Scheduler& scheduler() = 0;
  virtual CUresult make_group(CUcontext owner, CUdevice device, bool primary, unsigned flags,
                              std::shared_ptr<StreamGroup>& group) = 0;
  /// The context has ended: nothing is put into its streams any more.
  virtual void close_group(StreamGroup& group) = 0;
  virtual CUresult limit(Context& context, CUlimit which, std::size_t& value) = 0;
  virtual CUresult set_limit(Context& context, CUlimit which, std::size_t value) = 0;

  /// Fills in where the allocation begins, here and on the device, its pitch and its storage.
  virtual CUresult make_storage(Context& context, const MemoryWish& wish, Allocation& allocation) = 0;
  virtual CUresult make_array(Context& context, std::uint64_t bytes, Array& array) = 0;
  /// Of checked objects (memory/texture.hpp): fill in the handle and the storage.
  virtual CUresult make_texture(Context& context, TextureObject& object) = 0;
  virtual CUresult make_surface(Context& context, TextureObject& object) = 0;
  /// The device's address of what is at `host` in registered memory. CUDA_ERROR_NOT_SUPPORTED: it has none.
  virtual CUresult registered_address(std::uint64_t host, CUdeviceptr& address) const = 0;

  /// Null: refused, with the code and the reason. `size`: where it is known (a file); an image in memory says
  /// its own size.
  virtual std::shared_ptr<Image> load_image(const void* image, std::optional<std::uint64_t> size,
                                            const JitOptions& options, CUresult& code, LoadLog& log) = 0;
  /// Null: refused, with the code and the reason. May wait for a compiler.
  virtual std::shared_ptr<Module> make_module(Driver& driver, std::shared_ptr<Image> image, Context& context,
                                              CUresult& code, LoadLog& log) = 0;
  virtual std::shared_ptr<Linking> make_linking(Context& context, JitOptions options) = 0;
  /// Whether the host may touch the variables of modules (__managed__ ones).
  virtual bool host_sees_variables() const = 0;
};

/// The engine that this library is made with; it defines this function. cuInit calls it until it succeeds.
/// CUDA_ERROR_NO_DEVICE: there is nothing to drive, which one line on standard error has said where people
/// need to know.
CUresult open_engine(std::unique_ptr<Engine>& engine);

}  // namespace fairgv::cuda
