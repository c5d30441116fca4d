#include "cuda-shim/api/graph/conditional/condition.hpp"

#include <utility>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/memory/copy.hpp"
#include "runtime/wire/calls/cuda/word.hpp"

namespace fairgv::cuda {
namespace {

constexpr std::size_t kBytes = sizeof(std::uint32_t);

std::byte* bytes_of(const Allocation& word) {
  return reinterpret_cast<std::byte*>(word.begin);
}

}  // namespace

CUresult Condition::make(Driver& driver, Context& context, const std::shared_ptr<Graph>& graph,
                         std::optional<std::uint32_t> default_value, std::shared_ptr<Condition>& condition) {
  std::shared_ptr<Allocation> word;
  const CUresult code = driver.allocate(context, {kBytes, MemoryKind::host}, word);
  if (code != CUDA_SUCCESS) return code;
  wire::cuda::store_word(bytes_of(*word), kBytes, 0);
  condition = std::make_shared<Condition>(driver, std::move(word), graph, default_value);
  return CUDA_SUCCESS;
}

Condition::Condition(Driver& driver, std::shared_ptr<Allocation> word, std::weak_ptr<Graph> graph,
                     std::optional<std::uint32_t> default_value)
    : driver_(driver), word_(std::move(word)), graph_(std::move(graph)), default_(default_value) {}

Condition::~Condition() {
  driver_.memory.remove(*word_);
}

std::uint32_t Condition::value() const {
  return static_cast<std::uint32_t>(wire::cuda::load_word(bytes_of(*word_), kBytes));
}

CUresult Condition::assign_default(Driver& driver, const std::shared_ptr<Stream>& stream) const {
  if (!default_) return CUDA_SUCCESS;
  return fill(driver, stream, {word_->begin, 0, *default_, kBytes, 1, 1});
}

}  // namespace fairgv::cuda
