// Loaded code: images, the modules that instantiate them in contexts, and their functions (CUDA Driver API,
// "Module Management", "Library Management").
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda-shim/api/code/prepared_launch.hpp"
#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

class Context;
class Driver;
class Module;

/// Code is translated or sent at the load, and compiled for the device when it is needed. This is the default
/// of NVIDIA's driver.
inline constexpr CUmoduleLoadingMode kLoadingMode = CU_MODULE_LAZY_LOADING;

/// Kept as long as a library may have to load it again.
class Image {
 public:
  Image() = default;
  virtual ~Image() = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  /// Null: the names are unknown until the image is loaded into a context.
  virtual const std::vector<std::string>* kernel_names() const = 0;
};

struct ParameterPlace {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // bytes
};

/// The facts of a function that never change. Every launch reads them.
struct FunctionFacts {
  std::string name;
  std::vector<ParameterPlace> parameters;
  std::uint64_t parameter_bytes = 0;
  std::uint32_t largest_block = 0;  // threads per block that a launch may have
  /// Threads that a block must have in each dimension; 0: any number. An engine that does not know them
  /// refuses the launch later.
  std::uint32_t required_threads[3] = {};
};

class Function {
 public:
  virtual ~Function() = default;
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  CUfunction handle() { return reinterpret_cast<CUfunction>(this); }
  Module& module() const { return *module_; }
  const FunctionFacts& facts() const { return facts_; }
  /// Bytes of dynamic shared memory that a launch may ask for.
  std::uint64_t largest_dynamic_shared() const {
    return largest_dynamic_shared_.load(std::memory_order_relaxed);
  }

  /// For the launch calls of the first releases.
  PreparedLaunch prepared;

  virtual CUresult attribute(CUfunction_attribute which, int& value) const = 0;
  virtual CUresult set_attribute(CUfunction_attribute which, int value) = 0;
  /// Blocks that a multiprocessor holds at once.
  virtual CUresult blocks_at_once(std::uint32_t threads, std::uint64_t dynamic_shared, unsigned flags,
                                  std::uint64_t& blocks) = 0;
  /// Bytes of dynamic shared memory with which that many blocks still fit.
  virtual CUresult available_shared(std::uint32_t blocks, std::uint32_t threads, std::uint64_t& bytes) = 0;

 protected:
  Function(std::shared_ptr<Module> module, FunctionFacts facts)
      : module_(std::move(module)), facts_(std::move(facts)) {}
  void set_largest_dynamic_shared(std::uint64_t bytes) {
    largest_dynamic_shared_.store(bytes, std::memory_order_relaxed);
  }

 private:
  const std::shared_ptr<Module> module_;
  const FunctionFacts facts_;
  /// A setting that orders nothing else: relaxed.
  std::atomic<std::uint64_t> largest_dynamic_shared_{0};
};

class Module : public std::enable_shared_from_this<Module> {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  CUmodule handle() { return reinterpret_cast<CUmodule>(this); }
  CUcontext owner() const { return owner_; }
  CUdevice device() const { return device_; }

  /// CUDA_ERROR_NOT_FOUND: there is no function of that name.
  CUresult function(std::string_view name, CUfunction& function);
  virtual CUresult variable(std::string_view name, CUdeviceptr& address, std::size_t& size) = 0;
  /// The same of a variable that the program may touch from now on (__managed__).
  virtual CUresult managed_variable(std::string_view name, CUdeviceptr& address, std::size_t& size) = 0;
  virtual CUresult kernel_names(std::vector<std::string>& names) const = 0;
  /// Ends its functions' handles and forgets its variables. Launches under way keep what they need.
  void unload();

 protected:
  Module(Driver& driver, CUcontext owner, CUdevice device)
      : driver_(driver), owner_(owner), device_(device) {}
  Driver& driver() const { return driver_; }

 private:
  virtual CUresult make_function(std::string_view name, std::shared_ptr<Function>& function) = 0;
  virtual void forget_variables() = 0;

  Driver& driver_;
  const CUcontext owner_;
  const CUdevice device_;
  std::mutex lock_;  // guards functions_
  std::map<std::string, CUfunction, std::less<>> functions_;
};

}  // namespace fairgv::cuda
