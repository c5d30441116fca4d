// Functions: looking them up, their attributes, and launching them.
#include <fmt/core.h>

#include <functional>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/handlers.hpp"
#include "runtime/vgpu/graph/command_kind.hpp"
#include "runtime/vgpu/issue/kernel_name.hpp"

namespace fairgv::vgpu::cuda {
namespace {

std::vector<std::int32_t> attributes_of(const Functions& driver, CUfunction function) {
  std::vector<std::int32_t> attributes(CU_FUNC_ATTRIBUTE_MAX);
  for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; ++i) {
    int value = 0;
    if (driver.cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(i), function) == CUDA_SUCCESS) {
      attributes[static_cast<std::size_t>(i)] = value;
    }
  }
  return attributes;
}

/// The layout of all parameters as the driver has it.
CUresult read_parameters(const Functions& driver, CUfunction function, std::vector<ParameterPlace>& places) {
  for (std::size_t index = 0;; ++index) {
    ParameterPlace place;
    const CUresult code = driver.cuFuncGetParamInfo(function, index, &place.offset, &place.bytes);
    if (code == CUDA_ERROR_INVALID_VALUE) return CUDA_SUCCESS;  // there is no such parameter
    if (code != CUDA_SUCCESS) return code;
    places.push_back(place);
  }
}

/// Takes over what the rewriting knows of the function, if its module was rewritten.
void apply_slicing(const Functions& driver, Function& function, const Loaded& module,
                   const std::string& symbol, bool never) {
  const auto entry = module.entries.find(symbol);
  if (entry == module.entries.end()) {
    function.why_whole = module.why_whole.empty() ? "its text is not known" : module.why_whole;
    return;
  }
  const slicing::SlicedEntry& known = entry->second;
  function.part_handle = function.handle;
  function.hidden = known.hidden;
  const bool has_part = !known.hidden || driver.cuModuleGetFunction(&function.part_handle, module.handle,
                                                                    known.part_name.c_str()) == CUDA_SUCCESS;
  function.is_sliceable = known.sliceable && has_part && !never;
  if (!known.sliceable) function.why_whole = known.reason;
  if (!has_part) function.why_whole = "the driver has nothing that could run its parts";
  if (never) function.why_whole = "the configuration names it in never_slice";
}

}  // namespace

Result<wire::cuda::FunctionReply> Handlers::handle(const wire::cuda::GetFunction& call) {
  FAIRGV_TRY(module, objects_.get<Module>(call.module));
  wire::cuda::FunctionReply reply;
  reply.code = module.value()->code();
  if (reply.code != CUDA_SUCCESS) return reply;
  auto function = std::make_shared<Function>();
  function->module = module.value();
  const std::string symbol(call.symbol);
  CUresult code = use(functions(), module.value()->context->handle);
  if (code == CUDA_SUCCESS) {
    code = functions().cuModuleGetFunction(&function->handle, module.value()->loaded->handle, symbol.c_str());
  }
  if (code == CUDA_SUCCESS) code = read_parameters(functions(), function->handle, function->parameters);
  if (code != CUDA_SUCCESS) {
    reply.code = code;
    return reply;
  }
  function->name = kernel_name(symbol);
  function->kind_number = kind_from({call.module.raw, std::hash<std::string_view>()(call.symbol)});
  const bool never = settings_.never_slice.contains(symbol) || settings_.never_slice.contains(function->name);
  apply_slicing(functions(), *function, *module.value()->loaded, symbol, never);
  reply.attributes = attributes_of(functions(), function->handle);
  for (const ParameterPlace& place : function->parameters) {
    function->parameter_bytes =
        std::max<std::uint64_t>(function->parameter_bytes, place.offset + place.bytes);
    reply.parameters.push_back({place.offset, place.bytes});
  }
  FAIRGV_CHECK(objects_.insert(call.id, std::move(function)));
  return reply;
}

Result<wire::cuda::CodeReply> Handlers::handle(const wire::cuda::SetFunctionAttribute& call) {
  FAIRGV_TRY(function, objects_.get<Function>(call.function));
  CUresult code = use(functions(), function.value()->module->context->handle);
  if (code == CUDA_SUCCESS) {
    const Function& of = *function.value();
    const auto attribute = static_cast<CUfunction_attribute>(call.attribute);
    code = functions().cuFuncSetAttribute(of.handle, attribute, call.value);
    if (code == CUDA_SUCCESS && of.is_sliceable && of.part_handle != of.handle)
      code = functions().cuFuncSetAttribute(of.part_handle, attribute, call.value);
  }
  return wire::cuda::CodeReply{code};
}

Result<wire::cuda::OccupancyReply> Handlers::handle(const wire::cuda::GetOccupancy& call) {
  FAIRGV_TRY(function, objects_.get<Function>(call.function));
  wire::cuda::OccupancyReply reply;
  CUresult code = use(functions(), function.value()->module->context->handle);
  if (code == CUDA_SUCCESS && call.question == wire::cuda::OccupancyQuestion::active_blocks) {
    int blocks = 0;
    code = functions().cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, function.value()->handle, call.block_threads, call.dynamic_bytes, call.flags);
    reply.value = static_cast<std::uint64_t>(blocks);
  } else if (code == CUDA_SUCCESS) {
    std::size_t bytes = 0;
    code = functions().cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function.value()->handle, call.blocks,
                                                               call.block_threads);
    reply.value = bytes;
  }
  reply.code = code;
  return reply;
}

Result<void> Handlers::handle(const wire::cuda::Launch& call) {
  FAIRGV_TRY(found, stream(call.command.queue));
  FAIRGV_TRY(function, objects_.get<Function>(call.function));
  if (call.parameters.size() < function.value()->parameter_bytes) {
    return Error{fmt::format("{} bytes of parameters for a function that takes {}", call.parameters.size(),
                             function.value()->parameter_bytes)};
  }
  const auto has_zero = [](const wire::cuda::Grid& grid) {
    return grid.x == 0 || grid.y == 0 || grid.z == 0;
  };
  if (has_zero(call.grid) || has_zero(call.block)) return Error{"a launch of no threads"};
  return enqueue(*found.value(),
                 std::make_shared<Launch>(found.value(), function.value(), call, late_errors_), call.command);
}

}  // namespace fairgv::vgpu::cuda
