#include <algorithm>

#include "cuda-shim/driver/connection.hpp"
#include "cuda-shim/driver/module.hpp"

namespace fairgv::cuda::remote {

namespace {

FunctionFacts facts_of(std::string_view name, const wire::cuda::FunctionReply& reply) {
  FunctionFacts facts;
  facts.name = name;
  for (const wire::cuda::ParameterPlace& place : reply.parameters) {
    facts.parameters.push_back({place.offset, place.bytes});
    facts.parameter_bytes = std::max(facts.parameter_bytes, place.offset + place.bytes);
  }
  constexpr std::size_t kLargestBlock = CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
  if (reply.attributes.size() > kLargestBlock)
    facts.largest_block = static_cast<std::uint32_t>(std::max(0, reply.attributes[kLargestBlock]));
  // A .reqntid is unknown here: the driver beneath refuses other blocks, late.
  return facts;
}

}  // namespace

Function::Function(std::shared_ptr<cuda::Module> module, Connection& connection, std::string_view name,
                   WorkersObject function, const wire::cuda::FunctionReply& reply)
    : cuda::Function(std::move(module), facts_of(name, reply)),
      connection_(connection),
      function_(std::move(function)) {
  const std::size_t known = std::min(attributes_.size(), reply.attributes.size());
  for (std::size_t at = 0; at < known; ++at)
    note(static_cast<CUfunction_attribute>(at), reply.attributes[at]);
}

void Function::note(CUfunction_attribute which, int value) {
  attributes_[static_cast<std::size_t>(which)].store(value, std::memory_order_relaxed);
  if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    set_largest_dynamic_shared(static_cast<std::uint64_t>(std::max(0, value)));
}

CUresult Function::attribute(CUfunction_attribute which, int& value) const {
  if (which < 0 || which >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  value = attributes_[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

CUresult Function::set_attribute(CUfunction_attribute which, int value) {
  if (which < 0 || which >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  const auto reply =
      connection_.call(wire::cuda::SetFunctionAttribute{id(), static_cast<std::uint32_t>(which), value});
  if (!reply) return connection_.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  note(which, value);
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
  const auto reply = connection_.call(wire::cuda::GetOccupancy{id(), which, threads, blocks, flags, dynamic});
  if (!reply) return connection_.fault();
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

}  // namespace fairgv::cuda::remote
