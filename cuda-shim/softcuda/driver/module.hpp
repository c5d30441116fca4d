// Loaded code: an image (translated once, built when it is first needed), the modules that instantiate it in
// contexts with variables of their own, and their functions (CUDA Driver API, "Module Management", "Library
// Management").
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"
#include "cuda-shim/softcuda/translate/translate.hpp"

namespace fairgv::cuda {

class Context;
class Driver;

using softcuda::KernelInfo;
using softcuda::TranslatedModule;

using ParameterPlace = softcuda::Parameter;

/// Translated at the load, compiled for the device at first use.
inline constexpr CUmoduleLoadingMode kLoadingMode = CU_MODULE_LAZY_LOADING;

/// There is one memory.
inline constexpr bool kHostSeesVariables = true;

/// PTX text of anything that cuModuleLoadData takes: PTX, a fatbin, a wrapper around fatbins. Machine code
/// only: CUDA_ERROR_NO_BINARY_FOR_GPU. `size`: where it is known (a file); an image in memory says its own
/// size.
CUresult ptx_of_image(const void* image, std::optional<std::uint64_t> size, std::string& ptx, LoadLog& log);

class Image {
 public:
  /// Null: refused, with the code and the reason.
  static std::shared_ptr<Image> of_ptx(std::string_view ptx, CUresult& code, LoadLog& log);
  explicit Image(TranslatedModule translated) : translated_(std::move(translated)) {}

  const TranslatedModule& translated() const { return translated_; }
  /// Builds the OpenCL program at the first call. Null: it cannot be built; the reason goes to stderr, once.
  cl_program program(const OpenClDevice& device);
  const KernelInfo* kernel(std::string_view name) const;

 private:
  const TranslatedModule translated_;
  std::mutex lock_;
  bool tried_ = false;
  ProgramPtr program_;
};

class Module;

class Function {
 public:
  Function(std::shared_ptr<Module> module, const KernelInfo& info, cl_kernel kernel)
      : module_(std::move(module)), info_(info), kernel_(kernel) {}
  ~Function() { clReleaseKernel(kernel_); }
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  const KernelInfo& info() const { return info_; }
  Module& module() const { return *module_; }
  CUfunction handle() { return reinterpret_cast<CUfunction>(this); }

  const std::string& name() const { return info_.name; }
  const std::vector<ParameterPlace>& parameters() const { return info_.parameters; }
  std::uint64_t parameter_bytes() const { return info_.parameter_bytes; }
  CUresult attribute(CUfunction_attribute which, int& value) const;
  CUresult set_attribute(CUfunction_attribute which, int value);
  /// Threads per block that a launch may have.
  std::uint32_t largest_block() const;
  /// Threads in a dimension that it must have; 0: any number.
  std::uint32_t required_threads(std::size_t dimension) const { return info_.required_threads[dimension]; }
  /// Bytes of dynamic shared memory that a launch may ask for.
  std::uint64_t largest_dynamic_shared() const;
  /// Blocks that a multiprocessor holds at once, by the attributes of the device.
  CUresult blocks_at_once(std::uint32_t threads, std::uint64_t dynamic_shared, unsigned flags,
                          std::uint64_t& blocks) const;
  /// Bytes of dynamic shared memory with which that many blocks still fit.
  CUresult available_shared(std::uint32_t blocks, std::uint32_t threads, std::uint64_t& bytes) const;

  /// What the kernel's arguments are, but for those that every launch sets: a driver takes a copy each time.
  struct Arguments {
    std::mutex lock;                 // held from setting them to the enqueue; guards what follows
    std::uint64_t shared_bytes = 0;  // 0: not set yet
    bool has_data_address = false;
  };
  Arguments& arguments() { return arguments_; }
  cl_kernel kernel() const { return kernel_; }

 private:
  const std::shared_ptr<Module> module_;
  const KernelInfo& info_;  // of the module's image
  const cl_kernel kernel_;
  Arguments arguments_;
  /// Bytes, -1: not set. Settings stand for themselves: relaxed.
  std::atomic<int> dynamic_shared_{-1};
  std::atomic<int> carveout_{-1};
};

class Module : public std::enable_shared_from_this<Module> {
 public:
  /// Null: refused, with the code and the reason.
  static std::shared_ptr<Module> make(Driver& driver, std::shared_ptr<Image> image, Context& context,
                                      CUresult& code, LoadLog& log);
  Module(Driver& driver, std::shared_ptr<Image> image, CUcontext owner, CUdevice device)
      : driver_(driver), image_(std::move(image)), owner_(owner), device_(device) {}

  Driver& driver() const { return driver_; }
  CUdevice device() const { return device_; }
  CUresult kernel_names(std::vector<std::string>& names) const;

  CUcontext owner() const { return owner_; }
  CUmodule handle() { return reinterpret_cast<CUmodule>(this); }
  Image& image() const { return *image_; }
  std::uint64_t data_address() const { return data_ ? data_->begin : 0; }

  /// CUDA_ERROR_NOT_FOUND: there is none of that name.
  CUresult function(std::string_view name, CUfunction& function);
  CUresult variable(std::string_view name, CUdeviceptr& address, std::size_t& size) const;
  /// Ends its functions' handles and frees its variables. Launches under way keep what they need.
  void unload();

 private:
  CUresult place_variables(Context& context, LoadLog& log);

  Driver& driver_;
  const std::shared_ptr<Image> image_;
  const CUcontext owner_;
  const CUdevice device_;
  std::shared_ptr<Allocation> data_;
  std::mutex lock_;
  std::map<std::string, CUfunction, std::less<>> functions_;
};

}  // namespace fairgv::cuda
