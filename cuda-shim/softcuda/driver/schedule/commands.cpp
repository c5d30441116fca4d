#include "cuda-shim/softcuda/driver/schedule/commands.hpp"

#include <utility>

#include "cuda-shim/api/memory/word.hpp"
#include "cuda-shim/api/shared/signal.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"
#include "cuda-shim/softcuda/driver/launch/short_work.hpp"

namespace fairgv::cuda::soft {

std::shared_ptr<cuda::Stream> Commands::legacy(const std::shared_ptr<cuda::StreamGroup>& group) {
  return engine_.operations.legacy(share(group));
}

std::shared_ptr<cuda::Stream> Commands::make_stream(const std::shared_ptr<cuda::StreamGroup>& group,
                                                    StreamKind kind, unsigned flags, int priority) {
  return engine_.operations.make_stream(share(group), kind, flags, priority);
}

void Commands::dissolve(cuda::StreamGroup& group) {
  engine_.operations.dissolve(static_cast<StreamGroup&>(group));
}

void Commands::forget(const std::shared_ptr<cuda::Stream>& stream) {
  engine_.operations.forget(share(stream));
}

std::shared_ptr<cuda::Operation> Commands::mark(const std::shared_ptr<cuda::Stream>& stream,
                                                const std::shared_ptr<cuda::Operation>& behind) {
  const auto other = std::static_pointer_cast<Operation>(behind);
  return engine_.operations.submit(own(stream), nullptr, {&other, 1});
}

CUresult Commands::run_on_host(const std::shared_ptr<cuda::Stream>& stream,
                               std::function<void(CUresult)> function, bool despite_fault) {
  const std::weak_ptr<cuda::StreamGroup> group = stream->group();
  auto work = [group, function = std::move(function)] {
    const auto alive = group.lock();
    function(alive ? alive->fault() : CUDA_SUCCESS);
    return CUDA_SUCCESS;
  };
  engine_.operations.submit(own(stream), std::move(work), {}, despite_fault, true);
  return CUDA_SUCCESS;
}

CUresult Commands::synchronize(const std::shared_ptr<cuda::Stream>& stream) {
  return engine_.operations.synchronize(own(stream));
}

CUresult Commands::synchronize(cuda::StreamGroup& group) {
  return engine_.operations.synchronize(static_cast<StreamGroup&>(group));
}

CUresult Commands::query(const std::shared_ptr<cuda::Stream>& stream) {
  return engine_.operations.query(own(stream));
}

void Commands::free_in_order(const std::shared_ptr<cuda::Stream>& stream, const std::shared_ptr<Allocation>&,
                             std::function<void()> forget) {
  auto work = [forget = std::move(forget)] {
    forget();
    return CUDA_SUCCESS;
  };
  engine_.operations.submit(own(stream), std::move(work), {}, true);
}

CUresult Commands::write_word(const std::shared_ptr<cuda::Stream>& stream, const Word& word,
                              std::uint64_t value) {
  submit_short(engine_, share(stream), [&engine = engine_, word, value] {
    wire::cuda::store_word(reinterpret_cast<std::byte*>(word.address), word.bytes, value);
    engine.operations.look_at_waits();
    return CUDA_SUCCESS;
  });
  return CUDA_SUCCESS;
}

CUresult Commands::wait_for_word(const std::shared_ptr<cuda::Stream>& stream, const Word& word,
                                 const WordTest& test) {
  // The memory is kept: a program that frees it meanwhile must not have this process fall.
  engine_.operations.submit_wait(own(stream), [word, test] {
    auto* const address = reinterpret_cast<std::byte*>(word.address);
    return wire::cuda::passes(test.comparison, word.bytes, wire::cuda::load_word(address, word.bytes),
                              test.value);
  });
  return CUDA_SUCCESS;
}

CUresult Commands::hold(const std::shared_ptr<cuda::Stream>& stream, const std::shared_ptr<Signal>& until) {
  engine_.operations.submit_wait(own(stream), [until] { return until->is_set(); });
  until->then([&operations = engine_.operations] { operations.look_at_waits(); });
  return CUDA_SUCCESS;
}

void Commands::give_up_waits(cuda::StreamGroup& group) {
  engine_.operations.give_up_waits(static_cast<StreamGroup&>(group));
}

}  // namespace fairgv::cuda::soft
