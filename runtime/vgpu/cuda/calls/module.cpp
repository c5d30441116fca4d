// Modules and links: made on the slow lane, because compilers take long.
#include <fmt/core.h>

#include <array>
#include <cstring>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/handlers.hpp"
#include "runtime/vgpu/cuda/module_image.hpp"

namespace fairgv::vgpu::cuda {
namespace {

/// The compiler's log is kept up to so many bytes.
constexpr std::size_t kLogBytes = 16 << 10;

/// The options of a load or a link: the program's, and the worker's own logs.
class JitOptions {
 public:
  explicit JitOptions(std::span<const wire::cuda::JitOption> given) {
    for (const auto& [option, reserved, value] : given) {
      const auto number = static_cast<CUjit_option>(option);
      if (number != CU_JIT_GLOBAL_SYMBOL_ADDRESSES && number != CU_JIT_GLOBAL_SYMBOL_NAMES &&
          !is_log(number)) {
        add(number, value);
      }
    }
    add(CU_JIT_INFO_LOG_BUFFER, reinterpret_cast<std::uintptr_t>(info_.data()));
    add(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, info_.size());
    add(CU_JIT_ERROR_LOG_BUFFER, reinterpret_cast<std::uintptr_t>(error_.data()));
    add(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error_.size());
  }
  JitOptions(const JitOptions&) = delete;
  JitOptions& operator=(const JitOptions&) = delete;

  unsigned count() const { return static_cast<unsigned>(names_.size()); }
  CUjit_option* names() { return names_.data(); }
  void** values() { return values_.data(); }
  std::string info_log() const { return text(info_); }
  std::string error_log() const { return text(error_); }

 private:
  static bool is_log(CUjit_option option) {
    return option == CU_JIT_INFO_LOG_BUFFER || option == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
           option == CU_JIT_ERROR_LOG_BUFFER || option == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
  }
  static std::string text(const std::vector<char>& log) {
    return {log.data(), ::strnlen(log.data(), log.size())};
  }
  void add(CUjit_option name, std::uint64_t value) {
    names_.push_back(name);
    values_.push_back(reinterpret_cast<void*>(value));
  }

  std::vector<char> info_ = std::vector<char>(kLogBytes), error_ = std::vector<char>(kLogBytes);
  std::vector<CUjit_option> names_;
  std::vector<void*> values_;
};

/// An image with a 0 behind it, which drivers look for at the end of a text.
std::vector<std::byte> ended_copy(std::span<const std::byte> image) {
  std::vector<std::byte> copy(image.begin(), image.end());
  copy.push_back(std::byte{0});
  return copy;
}

struct Load {
  std::shared_ptr<Context> context;
  std::shared_ptr<Loaded> loaded;
  std::vector<std::byte> image;
  std::vector<wire::cuda::JitOption> options;
  bool slicing;
  std::uint64_t place;  // of its variables; 0: anywhere

  void operator()() const {
    Loaded& to = *loaded;
    to.code = use(context->driver, context->handle);
    if (to.code == CUDA_SUCCESS && !load_sliced(to)) load(to, image.data(), image.size());
    to.done.store(true, std::memory_order_release);
  }

  /// False: the image is to be loaded as it is.
  bool load_sliced(Loaded& to) const {
    if (!slicing) {
      to.why_whole = "slicing is off";
      return false;
    }
    auto sliced = sliced_image(std::span(image).first(image.size() - 1), context->device.capability());
    if (auto* const whole = std::get_if<WholeImage>(&sliced)) {
      to.why_whole = std::move(whole->why);
      return false;
    }
    auto& module = std::get<slicing::SlicedModule>(sliced);
    load(to, module.text.c_str(), module.text.size() + 1);
    if (to.code != CUDA_SUCCESS) {
      to.why_whole = "the driver does not take its rewritten PTX";
      return false;
    }
    for (slicing::SlicedEntry& entry : module.entries) {
      if (entry.hidden) to.part_names.insert(entry.part_name);
      to.entries.emplace(entry.name, std::move(entry));
    }
    return true;
  }

  void load(Loaded& to, const void* bytes, std::size_t size) const {
    JitOptions jit(options);
    const PlacedNext placed(context->driver, place);
    to.code = context->driver.cuModuleLoadDataEx(&to.handle, bytes, jit.count(), jit.names(), jit.values());
    to.info_log = jit.info_log();
    to.error_log = jit.error_log();
    to.bytes = size;
  }
};

struct LinkJob {
  std::shared_ptr<Context> context;
  std::shared_ptr<LinkedImage> outcome;
  std::vector<wire::cuda::LinkInput> inputs;
  std::vector<wire::cuda::JitOption> options;

  void operator()() {
    outcome->code = use(context->driver, context->handle);
    if (outcome->code == CUDA_SUCCESS) outcome->code = link();
    outcome->done.store(true, std::memory_order_release);
  }

  CUresult link() {
    const Functions& driver = context->driver;
    JitOptions jit(options);
    CUlinkState state = nullptr;
    CUresult code = driver.cuLinkCreate(jit.count(), jit.names(), jit.values(), &state);
    if (code != CUDA_SUCCESS) return code;
    for (wire::cuda::LinkInput& input : inputs) {
      if (code != CUDA_SUCCESS) break;
      input.data.push_back(std::byte{0});
      const bool is_text = input.type == CU_JIT_INPUT_PTX;
      code = driver.cuLinkAddData(state, static_cast<CUjitInputType>(input.type), input.data.data(),
                                  input.data.size() - (is_text ? 0 : 1), input.name.c_str(), 0, nullptr,
                                  nullptr);
    }
    void* image = nullptr;
    std::size_t bytes = 0;
    if (code == CUDA_SUCCESS) code = driver.cuLinkComplete(state, &image, &bytes);
    if (code == CUDA_SUCCESS) {
      const auto* const first = static_cast<const std::byte*>(image);
      outcome->image.assign(first, first + bytes);
    }
    driver.cuLinkDestroy(state);
    outcome->info_log = jit.info_log();
    outcome->error_log = jit.error_log();
    return code;
  }
};

}  // namespace

template <class Job>
Result<void> Handlers::run_slowly(wire::EventId completion, Job job) {
  FAIRGV_TRY(node, executor_.begin_host_work(completion));
  slow_lane_.run([this, node = std::move(node).value(), job = std::move(job)]() mutable {
    job();
    executor_.end_host_work(*node, kComplete);
  });
  return {};
}

Result<void> Handlers::handle(const wire::cuda::LoadModule& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  auto module = std::make_shared<Module>();
  module->context = context.value();
  module->loaded = std::make_shared<Loaded>();
  if (call.prints != 0) module->context->prints = true;
  FAIRGV_TRY(charged, charge(*module->context, call.image.size()));
  auto loaded = module->loaded;
  FAIRGV_CHECK(objects_.insert(call.id, module));
  if (!charged.value()) {
    return run_slowly(call.completion, [loaded] {
      loaded->code = CUDA_ERROR_OUT_OF_MEMORY;
      loaded->done.store(true, std::memory_order_release);
    });
  }
  module->charge = std::move(*charged.value());
  return run_slowly(call.completion, Load{module->context,
                                          std::move(loaded),
                                          ended_copy(call.image),
                                          {call.options.begin(), call.options.end()},
                                          settings_.slicing,
                                          places_.take(call.id)});
}

Result<wire::cuda::ModuleReply> Handlers::handle(const wire::cuda::GetModule& call) {
  FAIRGV_TRY(module, objects_.get<Module>(call.module));
  wire::cuda::ModuleReply reply;
  reply.code = module.value()->code();
  if (reply.code == CUDA_ERROR_NOT_READY) return reply;
  reply.info_log = module.value()->loaded->info_log;
  reply.error_log = module.value()->loaded->error_log;
  return reply;
}

Result<wire::cuda::NamesReply> Handlers::handle(const wire::cuda::GetFunctionNames& call) {
  FAIRGV_TRY(module, objects_.get<Module>(call.module));
  wire::cuda::NamesReply reply;
  CUresult code = module.value()->code();
  const Functions& driver = functions();
  const bool can = driver.cuModuleGetFunctionCount != nullptr &&
                   driver.cuModuleEnumerateFunctions != nullptr && driver.cuFuncGetName != nullptr;
  if (code == CUDA_SUCCESS && !can) code = CUDA_ERROR_NOT_SUPPORTED;
  unsigned count = 0;
  const CUmodule handle = module.value()->loaded->handle;
  if (code == CUDA_SUCCESS) code = use(driver, module.value()->context->handle);
  if (code == CUDA_SUCCESS) code = driver.cuModuleGetFunctionCount(&count, handle);
  std::vector<CUfunction> all(count);
  if (code == CUDA_SUCCESS && count != 0) code = driver.cuModuleEnumerateFunctions(all.data(), count, handle);
  for (const CUfunction function : all) {
    const char* name = nullptr;
    if (code != CUDA_SUCCESS || driver.cuFuncGetName(&name, function) != CUDA_SUCCESS) continue;
    if (module.value()->loaded->part_names.contains(name)) continue;  // ours
    reply.names.insert(reply.names.end(), name, name + std::strlen(name) + 1);
  }
  reply.code = code;
  return reply;
}

Result<wire::cuda::AddressReply> Handlers::handle(const wire::cuda::GetGlobal& call) {
  FAIRGV_TRY(module, objects_.get<Module>(call.module));
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  CUresult code = module.value()->code();
  if (code == CUDA_SUCCESS) code = use(functions(), module.value()->context->handle);
  if (code == CUDA_SUCCESS) {
    code = functions().cuModuleGetGlobal(&address, &bytes, module.value()->loaded->handle,
                                         std::string(call.symbol).c_str());
  }
  return wire::cuda::AddressReply{code, address, bytes};
}

Result<void> Handlers::handle(const wire::cuda::Link& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  auto linked = std::make_shared<Linked>();
  linked->outcome = std::make_shared<LinkedImage>();
  auto outcome = linked->outcome;
  FAIRGV_CHECK(objects_.insert(call.id, std::move(linked)));
  return run_slowly(
      call.completion,
      LinkJob{context.value(), std::move(outcome), call.inputs, {call.options.begin(), call.options.end()}});
}

Result<wire::cuda::LinkedReply> Handlers::handle(const wire::cuda::GetLinked& call) {
  FAIRGV_TRY(linked, objects_.get<Linked>(call.id));
  wire::cuda::LinkedReply reply;
  const LinkedImage& outcome = *linked.value()->outcome;
  reply.code = CUDA_ERROR_NOT_READY;
  if (!outcome.done.load(std::memory_order_acquire)) return reply;
  reply.code = outcome.code;
  reply.info_log = outcome.info_log;
  reply.error_log = outcome.error_log;
  reply.image = outcome.image;
  return reply;
}

}  // namespace fairgv::vgpu::cuda
