#include "cuda-shim/driver/module.hpp"

#include <algorithm>
#include <span>

#include "cuda-shim/api/code/image_source.hpp"
#include "cuda-shim/api/code/library.hpp"
#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/driver/image.hpp"

namespace fairgv::cuda {

std::shared_ptr<Image> load_image(const void* image, std::optional<std::uint64_t> size,
                                  const JitOptions& options, CUresult& code, LoadLog& log) {
  auto loaded = std::make_shared<Image>();
  code = bytes_of_image(image, size, loaded->bytes, log);
  if (code != CUDA_SUCCESS) return nullptr;
  loaded->options = options.numbers;
  loaded->prints = may_print(loaded->bytes);
  return loaded;
}

Module::Module(Driver& driver, Context& context, WorkersObject module)
    : driver_(driver),
      owner_(context.handle()),
      device_(context.device()),
      group_(context.group()),
      module_(std::move(module)) {}

namespace {

/// Has the worker load an image as `module`. Nothing: the call cannot be sent.
std::optional<wire::cuda::ModuleReply> load(Connection& connection, const Image& image, Context& context,
                                            WorkersObject& module) {
  std::vector<wire::cuda::JitOption> options;
  for (const JitNumber& number : image.options) {
    options.push_back({static_cast<std::uint32_t>(number.option), 0, number.value});
  }
  const wire::ObjectId id = connection.session().new_object();
  const Operation loaded(connection, connection.new_event());
  wire::cuda::LoadModule call;
  call.id = id;
  call.context = context.group()->context();
  call.completion = loaded.event();
  call.image = image.bytes;
  call.options = options;
  call.prints = image.prints ? 1 : 0;
  if (!connection.send(call)) return std::nullopt;
  module = WorkersObject(context.group(), id);
  loaded.wait();
  return connection.call(wire::cuda::GetModule{id});
}

}  // namespace

std::shared_ptr<Module> Module::make(Driver& driver, std::shared_ptr<Image> image, Context& context,
                                     CUresult& code, LoadLog& log) {
  Connection& connection = driver.connection;
  if (image->prints) connection.session().kernel_output().expect();
  WorkersObject module;
  auto outcome = driver.ask_for_memory(context.device(), image->bytes.size(),
                                       [&] { return load(connection, *image, context, module); });
  code = outcome ? static_cast<CUresult>(outcome->code) : connection.fault();
  if (!outcome && code == CUDA_SUCCESS) code = CUDA_ERROR_OUT_OF_MEMORY;  // the arena has no room for it
  if (outcome) {
    log.info = std::move(outcome->info_log);
    log.error = std::move(outcome->error_log);
  }
  return code == CUDA_SUCCESS ? std::make_shared<Module>(driver, context, std::move(module)) : nullptr;
}

CUresult Module::function(std::string_view name, CUfunction& function) {
  const std::lock_guard guard(lock_);
  if (const auto known = functions_.find(name); known != functions_.end()) {
    function = known->second;
    return CUDA_SUCCESS;
  }
  Connection& connection = driver_.connection;
  const wire::ObjectId id = connection.session().new_object();
  const auto reply = connection.call(wire::cuda::GetFunction{id, module_.id(), name});
  if (!reply) return connection.fault();
  // An id that is refused names nothing, and is lost: a program asks for few functions that are not there.
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  auto made =
      std::make_shared<Function>(shared_from_this(), std::string(name), WorkersObject(group_, id), *reply);
  function = made->handle();
  driver_.functions.add(std::move(made));
  functions_.emplace(name, function);
  return CUDA_SUCCESS;
}

CUresult Module::variable(std::string_view name, CUdeviceptr& address, std::size_t& size) {
  const std::lock_guard guard(lock_);
  auto known = variables_.find(name);
  if (known == variables_.end()) {
    const auto reply = driver_.connection.call(wire::cuda::GetGlobal{module_.id(), name});
    if (!reply) return driver_.connection.fault();
    if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
    auto reservation = Reservation::make(reply->address, reply->bytes);
    if (!reservation) {
      say_addresses_taken(reply->address);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    auto entered =
        driver_.memory.enter(reply->address, reply->bytes, MemoryKind::variable, owner_, device_, 0);
    if (!entered) return CUDA_ERROR_INVALID_VALUE;
    known = variables_.emplace(name, std::move(entered)).first;
    reservations_.push_back(std::move(*reservation));
  }
  address = known->second->begin;
  size = known->second->size;
  return CUDA_SUCCESS;
}

CUresult Module::kernel_names(std::vector<std::string>& names) {
  const auto reply = driver_.connection.call(wire::cuda::GetFunctionNames{module_.id()});
  if (!reply) return driver_.connection.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  for (auto at = reply->names.begin(); at != reply->names.end();) {
    const auto end = std::find(at, reply->names.end(), '\0');
    names.emplace_back(at, end);
    at = end == reply->names.end() ? end : end + 1;
  }
  return CUDA_SUCCESS;
}

void Module::unload() {
  std::map<std::string, CUfunction, std::less<>> functions;
  std::map<std::string, std::shared_ptr<Allocation>, std::less<>> variables;
  std::vector<Reservation> reservations;
  {
    const std::lock_guard guard(lock_);
    functions.swap(functions_);
    variables.swap(variables_);
    reservations.swap(reservations_);
  }
  for (const auto& [name, handle] : functions) driver_.functions.take(handle);
  for (const auto& [name, variable] : variables) driver_.memory.remove(*variable);
}

namespace {

/// A module of the library in the current context. Null: there is no current context, or the code says why.
std::shared_ptr<Module> module_here(Driver& driver, Library& library, CUresult& code) {
  const auto& stack = context_stack();
  code = CUDA_SUCCESS;
  if (stack.empty() || stack.back()->ended()) return nullptr;
  return library.module_in(driver, *stack.back(), code);
}

}  // namespace

CUresult check_kernel(Driver& driver, Library& library, std::string_view name) {
  CUresult code = CUDA_SUCCESS;
  const auto module = module_here(driver, library, code);
  if (!module) return code;  // without a context nobody knows: its first use will tell
  CUfunction function = nullptr;
  return module->function(name, function);
}

CUresult kernel_names(Driver& driver, Library& library, std::vector<std::string>& names) {
  CUresult code = CUDA_SUCCESS;
  const auto module = module_here(driver, library, code);
  if (module) return module->kernel_names(names);
  return code == CUDA_SUCCESS ? CUDA_ERROR_INVALID_CONTEXT : code;
}

}  // namespace fairgv::cuda
