#include "cuda-shim/api/code/launch.hpp"

#include <span>

#include "cuda-shim/driver/module.hpp"
#include "cuda-shim/driver/scheduler.hpp"

namespace fairgv::cuda::remote {
namespace {

wire::cuda::Grid grid_of(const std::uint32_t (&sides)[3]) {
  return {sides[0], sides[1], sides[2]};
}

}  // namespace

CUresult Scheduler::launch(const std::shared_ptr<cuda::Stream>& to, std::shared_ptr<cuda::Function> function,
                           const LaunchShape& shape, std::vector<std::uint64_t> parameters) {
  Stream& stream = workers(to);
  wire::cuda::Launch call;
  call.command = stream.command();
  call.function = static_cast<const Function&>(*function).id();
  call.grid = grid_of(shape.grid);
  call.block = grid_of(shape.block);
  call.cluster = grid_of(shape.cluster);
  call.shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared);
  call.is_cooperative = shape.cooperative ? 1 : 0;
  call.parameters = std::as_bytes(std::span(parameters)).first(function->facts().parameter_bytes);
  const CUresult code = connection_.enqueue(call);
  if (code == CUDA_SUCCESS) stream.note_command();
  return code;
}

}  // namespace fairgv::cuda::remote
