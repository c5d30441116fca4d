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

#include "../translate/translate.hpp"
#include "cuda.hpp"
#include "memory_table.hpp"
#include "opencl_device.hpp"

namespace fairgv::softcuda {

class Driver;

/// What is said about loading; it goes into the program's log buffers ("CUjit_option").
struct LoadLog {
  std::string error;
};

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

  CUresult attribute(const OpenClDevice& device, CUfunction_attribute which, int& value) const;
  CUresult set_attribute(const OpenClDevice& device, CUfunction_attribute which, int value);
  /// Threads per block that a launch may have.
  std::uint32_t largest_block(const OpenClDevice& device) const;
  /// Bytes of dynamic shared memory that a launch may ask for.
  std::uint64_t largest_dynamic_shared(const OpenClDevice& device) const;

  /// Guards the arguments of the kernel between setting them and the enqueue.
  std::mutex& arguments_lock() { return arguments_lock_; }
  cl_kernel kernel() const { return kernel_; }

 private:
  const std::shared_ptr<Module> module_;
  const KernelInfo& info_;  // of the module's image
  const cl_kernel kernel_;
  std::mutex arguments_lock_;
  /// Bytes, -1: not set. Settings stand for themselves: relaxed.
  std::atomic<int> dynamic_shared_{-1};
  std::atomic<int> carveout_{-1};
};

class Module : public std::enable_shared_from_this<Module> {
 public:
  /// Null: refused, with the code and the reason.
  static std::shared_ptr<Module> make(Driver& driver, std::shared_ptr<Image> image, CUcontext owner,
                                      CUresult& code, LoadLog& log);
  Module(Driver& driver, std::shared_ptr<Image> image, CUcontext owner)
      : driver_(driver), image_(std::move(image)), owner_(owner) {}

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
  CUresult place_variables(LoadLog& log);

  Driver& driver_;
  const std::shared_ptr<Image> image_;
  const CUcontext owner_;
  std::shared_ptr<Allocation> data_;
  std::mutex lock_;
  std::map<std::string, CUfunction, std::less<>> functions_;
};

/// Code that is loaded for all contexts at once (cuLibraryLoadData): it becomes a module where it is first
/// used.
class Library : public std::enable_shared_from_this<Library> {
 public:
  explicit Library(std::shared_ptr<Image> image) : image_(std::move(image)) {}
  CUlibrary handle() { return reinterpret_cast<CUlibrary>(this); }
  Image& image() const { return *image_; }

  std::shared_ptr<Module> module_in(Driver& driver, CUcontext context, CUresult& code);
  /// CUDA_ERROR_NOT_FOUND: there is none of that name.
  CUresult kernel(Driver& driver, std::string_view name, CUkernel& kernel);
  void unload(Driver& driver);
  /// The context's instance goes with the context.
  void leave(CUcontext context);

 private:
  const std::shared_ptr<Image> image_;
  std::mutex lock_;
  std::map<CUcontext, std::shared_ptr<Module>> modules_;
  std::map<std::string, CUkernel, std::less<>> kernels_;
};

/// A library's kernel, of no context (CUkernel).
struct LibraryKernel {
  std::shared_ptr<Library> library;
  const KernelInfo& info;
};

class Context;

/// The function of a CUfunction, or of a CUkernel that was cast to one: then its instance in the context.
/// Null: the code says why.
std::shared_ptr<Function> find_function(Driver& driver, Context& context, CUfunction handle, CUresult& code);

/// cuFuncGetParamInfo and cuKernelGetParamInfo.
CUresult parameter_info(const KernelInfo& info, std::size_t index, std::size_t* offset, std::size_t* size);

}  // namespace fairgv::softcuda
