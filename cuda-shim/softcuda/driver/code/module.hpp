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
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/code/module.hpp"
#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"
#include "cuda-shim/softcuda/translate/translate.hpp"

namespace fairgv::cuda::soft {

class Engine;

using softcuda::KernelInfo;
using softcuda::TranslatedModule;

/// PTX text of an argument of cuModuleLoadData: PTX, a fatbin, a wrapper around fatbins. If there is only
/// machine code: CUDA_ERROR_NO_BINARY_FOR_GPU. `size`: the size if it is known (a file); an image in memory
/// says its own size.
CUresult ptx_of_image(const void* image, std::optional<std::uint64_t> size, std::string& ptx, LoadLog& log);

class Image final : public cuda::Image {
 public:
  /// Null: refused, with the code and the reason. `options`: CU_JIT_MAX_REGISTERS counts.
  static std::shared_ptr<Image> of_ptx(std::string_view ptx, const JitOptions& options, CUresult& code,
                                       LoadLog& log);
  explicit Image(TranslatedModule translated);

  const TranslatedModule& translated() const { return translated_; }
  /// The OpenCL program with the kernel, one of this image's: built at the first call, for all kernels
  /// together unless they are too many or that fails. Null: it cannot be built; the reason goes to stderr,
  /// once.
  cl_program program(const OpenClDevice& device, const KernelInfo& kernel);
  const KernelInfo* kernel(std::string_view name) const;
  /// Says on stderr, once, why the kernel or variable of that name cannot be had. False: it is not refused.
  bool say_refusal(std::string_view name);
  const std::vector<std::string>* kernel_names() const override { return &kernel_names_; }

 private:
  const TranslatedModule translated_;
  std::vector<std::string> kernel_names_;
  std::mutex lock_;  // guards the members below
  bool tried_ = false;
  ProgramPtr program_;
  std::map<std::string, ProgramPtr> programs_;  // by kernel, where there is no program_
  std::set<std::string, std::less<>> said_;
};

class Module;

class Function final : public cuda::Function {
 public:
  Function(std::shared_ptr<Module> module, const KernelInfo& info, cl_kernel kernel);
  ~Function() override { clReleaseKernel(kernel_); }

  const KernelInfo& info() const { return info_; }
  /// module() as this engine's class.
  Module& own_module() const;

  CUresult attribute(CUfunction_attribute which, int& value) const override;
  CUresult set_attribute(CUfunction_attribute which, int value) override;
  /// By the attributes of the device.
  CUresult blocks_at_once(std::uint32_t threads, std::uint64_t dynamic_shared, unsigned flags,
                          std::uint64_t& blocks) override;
  CUresult available_shared(std::uint32_t blocks, std::uint32_t threads, std::uint64_t& bytes) override;

  /// The current values of the kernel's arguments, but for those that every launch sets: a driver takes a
  /// copy each time.
  struct Arguments {
    std::mutex lock;                 // held from setting them to the enqueue; guards the members below
    std::uint64_t shared_bytes = 0;  // 0: not set yet
    bool has_data_address = false;
  };
  Arguments& arguments() { return arguments_; }
  cl_kernel kernel() const { return kernel_; }

 private:
  const KernelInfo& info_;  // of the module's image
  const cl_kernel kernel_;
  Arguments arguments_;
  /// -1: not set. A setting that orders nothing else: relaxed.
  std::atomic<int> carveout_{-1};
};

class Module final : public cuda::Module {
 public:
  Module(Driver& driver, Engine& engine, std::shared_ptr<Image> image, CUcontext owner, CUdevice device)
      : cuda::Module(driver, owner, device), engine_(engine), image_(std::move(image)) {}
  /// Called once, before any other thread sees the module.
  CUresult place_variables(Context& context, LoadLog& log);

  Engine& engine() const { return engine_; }
  Image& image() const { return *image_; }
  std::uint64_t data_address() const { return data_ ? data_->begin : 0; }

  CUresult variable(std::string_view name, CUdeviceptr& address, std::size_t& size) override;
  /// There is one memory. All variables of the module are one allocation, and reported as managed.
  CUresult managed_variable(std::string_view name, CUdeviceptr& address, std::size_t& size) override;
  CUresult kernel_names(std::vector<std::string>& names) const override;

 private:
  CUresult make_function(std::string_view name, std::shared_ptr<cuda::Function>& function) override;
  void forget_variables() override;
  bool find_variable(std::string_view name, CUdeviceptr& address, std::size_t& size) const;

  Engine& engine_;
  const std::shared_ptr<Image> image_;
  std::shared_ptr<Allocation> data_;
};

inline Module& Function::own_module() const {
  return static_cast<Module&>(module());
}

}  // namespace fairgv::cuda::soft
