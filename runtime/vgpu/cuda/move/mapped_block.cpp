#include "runtime/vgpu/cuda/move/mapped_block.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "runtime/vgpu/cuda/address_ranges.hpp"
#include "runtime/vgpu/cuda/current_context.hpp"

namespace fairgv::vgpu::cuda {

Result<std::shared_ptr<MappedBlock>> MappedBlock::make(const std::shared_ptr<Context>& context,
                                                       std::uint64_t address, std::uint64_t bytes) {
  auto block = std::make_shared<MappedBlock>(context, address, bytes);
  FAIRGV_CHECK(block->map());
  return block;
}

Result<void> MappedBlock::map() {
  const Functions& driver = context_->driver;
  CUresult code = use(driver, context_->handle);
  CUdeviceptr got = 0;
  if (code == CUDA_SUCCESS) code = driver.cuMemAddressReserve(&got, bytes_, 0, address_, 0);
  if (code == CUDA_SUCCESS && got != address_) {
    driver.cuMemAddressFree(got, bytes_);
    return Error{fmt::format("the driver has no room for {} bytes at {:#x}", bytes_, address_)};
  }
  is_reserved_ = code == CUDA_SUCCESS;
  const CUmemAllocationProp properties = properties_of(context_->device);
  if (code == CUDA_SUCCESS) code = driver.cuMemCreate(&memory_, bytes_, &properties, 0);
  is_made_ = code == CUDA_SUCCESS;
  if (code == CUDA_SUCCESS) code = driver.cuMemMap(address_, bytes_, 0, memory_, 0);
  is_mapped_ = code == CUDA_SUCCESS;
  CUmemAccessDesc wish{};
  wish.location = properties.location;
  wish.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (code == CUDA_SUCCESS) code = driver.cuMemSetAccess(address_, bytes_, &wish, 1);
  if (code == CUDA_SUCCESS) return {};
  return Error{
      fmt::format("the driver does not map {} bytes at {:#x}: {}", bytes_, address_, describe(driver, code))};
}

MappedBlock::~MappedBlock() {
  const Functions& driver = context_->driver;
  use(driver, context_->handle);
  if (is_mapped_) driver.cuMemUnmap(address_, bytes_);
  if (is_made_) driver.cuMemRelease(memory_);
  if (is_reserved_) driver.cuMemAddressFree(address_, bytes_);
}

Result<std::vector<std::shared_ptr<MappedBlock>>> mapped_blocks(const std::shared_ptr<Context>& context,
                                                                std::vector<Extent> memory) {
  const Functions& driver = context->driver;
  const CUmemAllocationProp properties = properties_of(context->device);
  std::size_t granule = 0;
  const CUresult code =
      driver.cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  if (code != CUDA_SUCCESS || granule == 0)
    return Error{"the driver does not say in which pieces it maps memory: " + describe(driver, code)};
  std::ranges::sort(memory, {}, &Extent::address);
  std::vector<std::shared_ptr<MappedBlock>> blocks;
  for (auto first = memory.begin(); first != memory.end();) {
    const std::uint64_t begin = first->address / granule * granule;
    std::uint64_t end = first->address;  // of what lies in the block, not rounded
    auto next = first;
    // All that begins in a granule of what is before it.
    for (; next != memory.end(); ++next) {
      const std::uint64_t rounded = (end + granule - 1) / granule * granule;
      if (next != first && next->address >= rounded) break;
      if (next->address < end || next->bytes > INT64_MAX || next->address > INT64_MAX)
        return Error{"an image with memory that overlaps, or lies nowhere"};
      end = next->address + next->bytes;
    }
    FAIRGV_TRY(block, MappedBlock::make(context, begin, (end - begin + granule - 1) / granule * granule));
    blocks.push_back(std::move(block).value());
    first = next;
  }
  return blocks;
}

}  // namespace fairgv::vgpu::cuda
