// Loaded code as the front end knows it: the image that is sent, the worker's modules, and their functions
// with the facts that never change (CUDA Driver API, "Module Management").
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
#include "cuda-shim/api/code/module.hpp"
#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/driver/image.hpp"
#include "cuda-shim/driver/storage.hpp"

namespace fairgv::cuda::remote {

class Connection;
class Engine;

/// The bytes that the worker gets; only the worker knows their contents.
struct Image final : cuda::Image {
  ImageBytes bytes;
  std::vector<JitNumber> options;
  bool prints = false;

  const std::vector<std::string>* kernel_names() const override { return nullptr; }
};

class Function final : public cuda::Function {
 public:
  Function(std::shared_ptr<cuda::Module> module, Connection& connection, std::string_view name,
           WorkersObject function, const wire::cuda::FunctionReply& reply);

  wire::ObjectId id() const { return function_.id(); }

  CUresult attribute(CUfunction_attribute which, int& value) const override;
  CUresult set_attribute(CUfunction_attribute which, int value) override;
  /// Both ask the worker once for the same arguments.
  CUresult blocks_at_once(std::uint32_t threads, std::uint64_t dynamic_shared, unsigned flags,
                          std::uint64_t& blocks) override;
  CUresult available_shared(std::uint32_t blocks, std::uint32_t threads, std::uint64_t& bytes) override;

 private:
  /// question, threads, blocks, flags, dynamic bytes
  using Question =
      std::tuple<wire::cuda::OccupancyQuestion, std::int32_t, std::int32_t, std::uint32_t, std::uint64_t>;

  void note(CUfunction_attribute which, int value);
  CUresult ask(const Question& question, std::uint64_t& answer);

  Connection& connection_;
  const WorkersObject function_;
  /// By CUfunction_attribute. Relaxed: each orders nothing else.
  std::array<std::atomic<int>, CU_FUNC_ATTRIBUTE_MAX> attributes_{};
  std::mutex lock_;  // guards answers_
  std::map<Question, std::uint64_t> answers_;
};

class Module final : public cuda::Module {
 public:
  /// Null: refused, with the code and the reason. Waits for the worker's compiler.
  static std::shared_ptr<Module> make(Driver& driver, Engine& engine, const Image& image, Context& context,
                                      CUresult& code, LoadLog& log);
  Module(Driver& driver, Engine& engine, Context& context, WorkersObject module);

  CUresult variable(std::string_view name, CUdeviceptr& address, std::size_t& size) override;
  CUresult managed_variable(std::string_view name, CUdeviceptr& address, std::size_t& size) override;
  CUresult kernel_names(std::vector<std::string>& names) const override;

 private:
  struct Variable {
    std::shared_ptr<Allocation> allocation;
    Reservation reservation;  // of its addresses
  };
  /// With the lock.
  CUresult find_variable(std::string_view name, const Variable*& variable);

  CUresult make_function(std::string_view name, std::shared_ptr<cuda::Function>& function) override;
  /// The worker keeps the memory that launches under way need.
  void forget_variables() override;

  Connection& connection_;
  const std::shared_ptr<StreamGroup> group_;
  const WorkersObject module_;
  std::mutex lock_;  // guards the members below
  std::map<std::string, Variable, std::less<>> variables_;
};

}  // namespace fairgv::cuda::remote
