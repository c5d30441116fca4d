#include "cuda-shim/driver/memory/registered.hpp"

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/memory/mapped.hpp"
#include "cuda-shim/api/memory/program_pages.hpp"
#include "cuda-shim/driver/engine.hpp"

namespace fairgv::cuda::remote {

CUresult Engine::map_registered(Context& context, const Allocation& registered, Allocation& mapped) {
  const bool read_only = is_read_only(registered);
  if (!make_present(registered.begin, registered.size, !read_only)) return CUDA_ERROR_INVALID_VALUE;
  const MemoryWish wish{registered.size};
  if (const CUresult code = make_storage(context, wish, mapped); code != CUDA_SUCCESS) return code;
  const auto kind = read_only ? Mirrored::Kind::read_only : Mirrored::Kind::registered;
  const auto group = workers(context.group());
  const CUresult code =
      connection.mirrors().add(group, {kind, registered.begin, mapped.begin_on_device, registered.size});
  if (code != CUDA_SUCCESS) return code;
  mapped.storage =
      std::make_unique<MirroredStorage>(scheduler_, group, mapped.begin_on_device, std::move(mapped.storage));
  return CUDA_SUCCESS;
}

std::shared_ptr<Allocation> mapped_for(const cuda::Stream& stream, const Allocation* registered) {
  if (registered == nullptr || registered->kind != MemoryKind::registered) return nullptr;
  return Driver::get().memory.mapped(*registered, stream.group()->owner());
}

CUresult settle_registered(Scheduler& scheduler, const std::shared_ptr<cuda::Stream>& stream,
                           const Extent& extent, Place& place) {
  const auto allocation = place.allocation;
  if (!allocation || allocation->kind != MemoryKind::registered) return CUDA_SUCCESS;
  // The program's bytes are always right if kernels write none.
  if (is_read_only(*allocation)) return CUDA_SUCCESS;
  if (!Driver::get().memory.is_mapped(*allocation)) return CUDA_SUCCESS;
  const auto mapped = mapped_for(*stream, allocation.get());
  const std::uint64_t offset = place.address - allocation->begin;
  const auto span = span_of(extent, place.pitch, place.slice);
  const bool is_within = mapped && span && offset <= mapped->size && *span <= mapped->size - offset;
  if (!is_within) return scheduler.synchronize(stream);
  place.address = mapped->begin + offset;
  place.allocation = mapped;
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::remote
