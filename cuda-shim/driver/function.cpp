#include <algorithm>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/driver/module.hpp"

namespace fairgv::cuda {

Function::Function(std::shared_ptr<Module> module, std::string name, WorkersObject function,
                   const wire::cuda::FunctionReply& facts)
    : module_(std::move(module)), name_(std::move(name)), function_(std::move(function)) {
  for (const wire::cuda::ParameterPlace& place : facts.parameters) {
    parameters_.push_back({place.offset, place.bytes});
    parameter_bytes_ = std::max(parameter_bytes_, place.offset + place.bytes);
  }
  const std::size_t known = std::min(attributes_.size(), facts.attributes.size());
  for (std::size_t at = 0; at < known; ++at) {
    attributes_[at].store(facts.attributes[at], std::memory_order_relaxed);
  }
}

std::uint32_t Function::at_least_zero(CUfunction_attribute which) const {
  return static_cast<std::uint32_t>(
      std::max(0, attributes_[static_cast<std::size_t>(which)].load(std::memory_order_relaxed)));
}

CUresult Function::attribute(CUfunction_attribute which, int& value) const {
  if (which < 0 || which >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  value = attributes_[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

CUresult Function::set_attribute(CUfunction_attribute which, int value) {
  if (which < 0 || which >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  Connection& connection = module_->driver().connection;
  const auto reply =
      connection.call(wire::cuda::SetFunctionAttribute{id(), static_cast<std::uint32_t>(which), value});
  if (!reply) return connection.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  attributes_[static_cast<std::size_t>(which)].store(value, std::memory_order_relaxed);
  const std::lock_guard guard(lock_);
  answers_.clear();
  return CUDA_SUCCESS;
}

CUresult Function::ask(const Question& question, std::uint64_t& answer) {
  {
    const std::lock_guard guard(lock_);
    if (const auto known = answers_.find(question); known != answers_.end()) {
      answer = known->second;
      return CUDA_SUCCESS;
    }
  }
  const auto& [which, threads, blocks, flags, dynamic] = question;
  Connection& connection = module_->driver().connection;
  const auto reply = connection.call(wire::cuda::GetOccupancy{id(), which, threads, blocks, flags, dynamic});
  if (!reply) return connection.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  answer = reply->value;
  const std::lock_guard guard(lock_);
  answers_.emplace(question, answer);
  return CUDA_SUCCESS;
}

CUresult Function::blocks_at_once(std::uint32_t threads, std::uint64_t dynamic_shared, unsigned flags,
                                  std::uint64_t& blocks) {
  return ask({wire::cuda::OccupancyQuestion::active_blocks, static_cast<std::int32_t>(threads), 0, flags,
              dynamic_shared},
             blocks);
}

CUresult Function::available_shared(std::uint32_t blocks, std::uint32_t threads, std::uint64_t& bytes) {
  return ask({wire::cuda::OccupancyQuestion::available_dynamic_shared, static_cast<std::int32_t>(threads),
              static_cast<std::int32_t>(blocks), 0, 0},
             bytes);
}

}  // namespace fairgv::cuda
