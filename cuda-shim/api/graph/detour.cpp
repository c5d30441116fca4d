#include "cuda-shim/api/graph/detour.hpp"

namespace fairgv::cuda {

struct Detour::Memory {
  Memory(Driver& of_memory, std::shared_ptr<Allocation> made)
      : driver(of_memory), allocation(std::move(made)) {}
  ~Memory() { driver.memory.remove(*allocation); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Driver& driver;
  const std::shared_ptr<Allocation> allocation;
  std::shared_ptr<Memory> smaller;  // launches under way may still use it
};

namespace {

/// Whether this is memory of the program that the device does not know.
bool is_programs(const Place& place) {
  if (place.array) return false;
  return !place.allocation || place.allocation->kind == MemoryKind::registered;
}

CUresult move_in_order(Driver& driver, const std::shared_ptr<Stream>& stream, const Place& to,
                       const Place& from, const Extent& extent, std::shared_ptr<void> keep) {
  return driver.scheduler.run_on_host(
      stream, [to, from, extent, keep = std::move(keep)](CUresult) { move_bytes(to, from, extent); }, false);
}

}  // namespace

CUresult Detour::prepare(Driver& driver, Context& context, const Place& to, const Place& from,
                         const Extent& extent) {
  const std::size_t bytes = bytes_of(extent);
  if (is_programs(to) == is_programs(from)) return CUDA_SUCCESS;
  if (memory_ && memory_->allocation->size >= bytes) return CUDA_SUCCESS;
  std::shared_ptr<Allocation> made;
  const CUresult code = driver.allocate(context, {bytes, MemoryKind::host}, made);
  if (code != CUDA_SUCCESS) return code;
  // Launches under way may still use the smaller memory, so it lives as long as the larger one.
  auto larger = std::make_shared<Memory>(driver, std::move(made));
  larger->smaller = std::move(memory_);
  memory_ = std::move(larger);
  return CUDA_SUCCESS;
}

CUresult Detour::copy(Driver& driver, const std::shared_ptr<Stream>& stream, const Place& to,
                      const Place& from, const Extent& extent) const {
  if (const CUresult code = check_target(driver, to, extent); code != CUDA_SUCCESS) return code;
  const bool to_program = is_programs(to);
  const bool from_program = is_programs(from);
  if (!to_program && !from_program) return driver.scheduler.copy(stream, to, from, extent, true);
  if (to_program && from_program) return move_in_order(driver, stream, to, from, extent, nullptr);
  Place between;
  between.address = memory_->allocation->begin;
  between.pitch = extent.width;
  between.slice = extent.width * extent.height;
  between.side = Side::pinned;
  between.allocation = memory_->allocation;
  if (from_program) {
    const CUresult code = move_in_order(driver, stream, between, from, extent, memory_);
    return code == CUDA_SUCCESS ? driver.scheduler.copy(stream, to, between, extent, true) : code;
  }
  const CUresult code = driver.scheduler.copy(stream, between, from, extent, true);
  return code == CUDA_SUCCESS ? move_in_order(driver, stream, to, between, extent, memory_) : code;
}

}  // namespace fairgv::cuda
