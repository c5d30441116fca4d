#include "cuda-shim/driver/module.hpp"

#include <algorithm>
#include <span>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/driver/engine.hpp"
#include "cuda-shim/driver/image.hpp"
#include "cuda-shim/driver/linking.hpp"

namespace fairgv::cuda::remote {

std::shared_ptr<cuda::Image> Engine::load_image(const void* image, std::optional<std::uint64_t> size,
                                                const JitOptions& options, CUresult& code, LoadLog& log) {
  auto loaded = std::make_shared<Image>();
  code = bytes_of_image(image, size, loaded->bytes, log);
  if (code != CUDA_SUCCESS) return nullptr;
  loaded->options = options.numbers;
  const auto& units = loaded->bytes.units;
  loaded->prints = may_print(loaded->bytes.image) || std::any_of(units.begin(), units.end(), may_print);
  return loaded;
}

std::shared_ptr<cuda::Module> Engine::make_module(Driver& driver, std::shared_ptr<cuda::Image> image,
                                                  Context& context, CUresult& code, LoadLog& log) {
  return Module::make(driver, *this, static_cast<const Image&>(*image), context, code, log);
}

Module::Module(Driver& driver, Engine& engine, Context& context, WorkersObject module)
    : cuda::Module(driver, context.handle(), context.device()),
      connection_(engine.connection),
      group_(workers(context.group())),
      module_(std::move(module)) {}

namespace {

/// Has the worker load `bytes`, the image's or what they were linked to, as `module`. Nothing: the call
/// cannot be sent.
std::optional<wire::cuda::ModuleReply> load(Connection& connection, const Image& image,
                                            const std::vector<std::byte>& bytes, Context& context,
                                            WorkersObject& module) {
  std::vector<wire::cuda::JitOption> options;
  for (const JitNumber& number : image.options) {
    options.push_back({static_cast<std::uint32_t>(number.option), 0, number.value});
  }
  const auto group = workers(context.group());
  const wire::ObjectId id = connection.session().new_object();
  const Operation loaded(connection, connection.new_event());
  wire::cuda::LoadModule call;
  call.id = id;
  call.context = group->context();
  call.completion = loaded.event();
  call.image = bytes;
  call.options = options;
  call.prints = image.prints ? 1 : 0;
  if (!connection.send(call)) return std::nullopt;
  module = WorkersObject(group, id);
  loaded.wait();
  return connection.call(wire::cuda::GetModule{id});
}

/// Whether the driver beneath may take the units of a program where it does not take their linked code: that
/// is machine code for another device, or nothing.
bool may_take_units(const Image& image, CUresult code) {
  return !image.bytes.units.empty() &&
         (code == CUDA_ERROR_NO_BINARY_FOR_GPU || code == CUDA_ERROR_INVALID_IMAGE);
}

std::optional<wire::cuda::LinkedReply> link_units(const Image& image, Context& context) {
  std::vector<wire::cuda::LinkInput> inputs;
  for (const std::vector<std::byte>& unit : image.bytes.units) {
    wire::cuda::LinkInput& input = inputs.emplace_back();
    input.type = CU_JIT_INPUT_FATBINARY;
    input.name = "unit " + std::to_string(inputs.size());
    input.data = unit;
  }
  return link_by_worker(workers(context.group()), std::move(inputs), image.options);
}

/// The image's linked code, or else what the driver beneath links of its units.
std::optional<wire::cuda::ModuleReply> load_or_link(Connection& connection, const Image& image,
                                                    Context& context, WorkersObject& module) {
  if (!image.bytes.image.empty() || image.bytes.units.empty()) {
    auto loaded = load(connection, image, image.bytes.image, context, module);
    if (!loaded || !may_take_units(image, static_cast<CUresult>(loaded->code))) return loaded;
  }
  auto linked = link_units(image, context);
  if (!linked) return std::nullopt;
  if (linked->code == CUDA_SUCCESS) return load(connection, image, linked->image, context, module);
  wire::cuda::ModuleReply refused;
  refused.code = linked->code;
  refused.info_log = std::move(linked->info_log);
  refused.error_log = std::move(linked->error_log);
  return refused;
}

}  // namespace

std::shared_ptr<Module> Module::make(Driver& driver, Engine& engine, const Image& image, Context& context,
                                     CUresult& code, LoadLog& log) {
  Connection& connection = engine.connection;
  if (image.prints) connection.session().kernel_output().expect();
  WorkersObject module;
  auto outcome = engine.ask_for_memory(context.device(), image.bytes.image.size(),
                                       [&] { return load_or_link(connection, image, context, module); });
  code = outcome ? static_cast<CUresult>(outcome->code) : connection.fault();
  if (!outcome && code == CUDA_SUCCESS) code = CUDA_ERROR_OUT_OF_MEMORY;  // the arena has no room
  if (outcome) {
    log.info = std::move(outcome->info_log);
    log.error = std::move(outcome->error_log);
  }
  return code == CUDA_SUCCESS ? std::make_shared<Module>(driver, engine, context, std::move(module))
                              : nullptr;
}

CUresult Module::make_function(std::string_view name, std::shared_ptr<cuda::Function>& function) {
  const wire::ObjectId id = connection_.session().new_object();
  const auto reply = connection_.call(wire::cuda::GetFunction{id, module_.id(), name});
  if (!reply) return connection_.fault();
  // A refused id names nothing, and is lost: a program asks for few missing functions.
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  function =
      std::make_shared<Function>(shared_from_this(), connection_, name, WorkersObject(group_, id), *reply);
  return CUDA_SUCCESS;
}

CUresult Module::find_variable(std::string_view name, const Variable*& variable) {
  auto known = variables_.find(name);
  if (known == variables_.end()) {
    const auto reply = connection_.call(wire::cuda::GetGlobal{module_.id(), name});
    if (!reply) return connection_.fault();
    if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
    auto reservation = Reservation::make(reply->address, reply->bytes);
    if (!reservation) {
      say_addresses_taken(reply->address);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    auto entered =
        driver().memory.enter(reply->address, reply->bytes, MemoryKind::variable, owner(), device(), 0);
    if (!entered) return CUDA_ERROR_INVALID_VALUE;
    known = variables_.emplace(name, Variable{std::move(entered), std::move(*reservation)}).first;
  }
  variable = &known->second;
  return CUDA_SUCCESS;
}

CUresult Module::variable(std::string_view name, CUdeviceptr& address, std::size_t& size) {
  const std::lock_guard guard(lock_);
  const Variable* found = nullptr;
  if (const CUresult code = find_variable(name, found); code != CUDA_SUCCESS) return code;
  address = found->allocation->begin;
  size = found->allocation->size;
  return CUDA_SUCCESS;
}

CUresult Module::managed_variable(std::string_view name, CUdeviceptr& address, std::size_t& size) {
  const std::lock_guard guard(lock_);
  const Variable* found = nullptr;
  if (const CUresult code = find_variable(name, found); code != CUDA_SUCCESS) return code;
  Allocation& allocation = *found->allocation;
  if (!found->reservation.open()) return CUDA_ERROR_OUT_OF_MEMORY;
  const CUresult code = connection_.mirrors().add(
      group_, {Mirrored::Kind::variable, allocation.begin, allocation.begin, allocation.size});
  if (code != CUDA_SUCCESS) return code;
  allocation.host_sees_it.store(true, std::memory_order_relaxed);
  address = allocation.begin;
  size = allocation.size;
  return CUDA_SUCCESS;
}

CUresult Module::kernel_names(std::vector<std::string>& names) const {
  const auto reply = connection_.call(wire::cuda::GetFunctionNames{module_.id()});
  if (!reply) return connection_.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  for (auto at = reply->names.begin(); at != reply->names.end();) {
    const auto end = std::find(at, reply->names.end(), '\0');
    names.emplace_back(at, end);
    at = end == reply->names.end() ? end : end + 1;
  }
  return CUDA_SUCCESS;
}

void Module::forget_variables() {
  std::map<std::string, Variable, std::less<>> variables;
  {
    const std::lock_guard guard(lock_);
    variables.swap(variables_);
  }
  for (const auto& [name, variable] : variables) {
    if (variable.allocation->host_sees_it.load(std::memory_order_relaxed))
      connection_.mirrors().remove(variable.allocation->begin);
    driver().memory.remove(*variable.allocation);
  }
}

}  // namespace fairgv::cuda::remote
