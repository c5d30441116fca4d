// Loaded code as the front end knows it: the image that is sent, the worker's modules, and their functions
// with what never changes of them (CUDA Driver API, "Module Management").
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/driver/storage.hpp"

namespace fairgv::cuda {

class Context;
class Driver;

struct ParameterPlace {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // bytes
};

/// What NVIDIA's driver does unless it is told otherwise.
inline constexpr CUmoduleLoadingMode kLoadingMode = CU_MODULE_LAZY_LOADING;

/// Variables of modules are the worker's memory: a __managed__ one cannot be handed out.
inline constexpr bool kHostSeesVariables = false;

/// Kept as long as a library may have to load it again.
struct Image {
  std::vector<std::byte> bytes;
  std::vector<JitNumber> options;
  bool prints = false;
};

class Module;

class Function {
 public:
  Function(std::shared_ptr<Module> module, std::string name, WorkersObject function,
           const wire::cuda::FunctionReply& facts);

  wire::ObjectId id() const { return function_.id(); }
  CUfunction handle() { return reinterpret_cast<CUfunction>(this); }
  Module& module() const { return *module_; }
  const std::string& name() const { return name_; }
  const std::vector<ParameterPlace>& parameters() const { return parameters_; }
  std::uint64_t parameter_bytes() const { return parameter_bytes_; }

  CUresult attribute(CUfunction_attribute which, int& value) const;
  CUresult set_attribute(CUfunction_attribute which, int value);
  /// Threads per block that a launch may have.
  std::uint32_t largest_block() const { return at_least_zero(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK); }
  /// Of a .reqntid nothing is told: the driver beneath refuses other blocks, late.
  std::uint32_t required_threads(std::size_t) const { return 0; }
  /// Bytes of dynamic shared memory that a launch may ask for.
  std::uint64_t largest_dynamic_shared() const {
    return at_least_zero(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  }
  /// Both are asked once for the same arguments.
  CUresult blocks_at_once(std::uint32_t threads, std::uint64_t dynamic_shared, unsigned flags,
                          std::uint64_t& blocks);
  CUresult available_shared(std::uint32_t blocks, std::uint32_t threads, std::uint64_t& bytes);

 private:
  /// question, threads, blocks, flags, dynamic bytes
  using Question =
      std::tuple<wire::cuda::OccupancyQuestion, std::int32_t, std::int32_t, std::uint32_t, std::uint64_t>;

  std::uint32_t at_least_zero(CUfunction_attribute which) const;
  CUresult ask(const Question& question, std::uint64_t& answer);

  const std::shared_ptr<Module> module_;
  const std::string name_;
  const WorkersObject function_;
  std::vector<ParameterPlace> parameters_;
  std::uint64_t parameter_bytes_ = 0;
  /// By CUfunction_attribute. Relaxed: each stands for itself.
  std::array<std::atomic<int>, CU_FUNC_ATTRIBUTE_MAX> attributes_{};
  std::mutex lock_;  // guards answers_
  std::map<Question, std::uint64_t> answers_;
};

class Module : public std::enable_shared_from_this<Module> {
 public:
  /// Null: refused, with the code and the reason. Waits for the worker's compiler.
  static std::shared_ptr<Module> make(Driver& driver, std::shared_ptr<Image> image, Context& context,
                                      CUresult& code, LoadLog& log);
  Module(Driver& driver, Context& context, WorkersObject module);

  CUmodule handle() { return reinterpret_cast<CUmodule>(this); }
  CUcontext owner() const { return owner_; }
  CUdevice device() const { return device_; }
  Driver& driver() const { return driver_; }
  wire::ObjectId id() const { return module_.id(); }

  /// CUDA_ERROR_NOT_FOUND: there is none of that name.
  CUresult function(std::string_view name, CUfunction& function);
  CUresult variable(std::string_view name, CUdeviceptr& address, std::size_t& size);
  CUresult kernel_names(std::vector<std::string>& names);
  /// Ends the handles of its functions and forgets its variables. The worker keeps what launches under way
  /// need.
  void unload();

 private:
  Driver& driver_;
  const CUcontext owner_;
  const CUdevice device_;
  const std::shared_ptr<StreamGroup> group_;
  const WorkersObject module_;
  std::mutex lock_;  // guards what follows
  std::map<std::string, CUfunction, std::less<>> functions_;
  std::map<std::string, std::shared_ptr<Allocation>, std::less<>> variables_;
  std::vector<Reservation> reservations_;  // of the variables' addresses
};

}  // namespace fairgv::cuda
