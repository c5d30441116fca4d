#include "runtime/vgpu/cuda/address_ranges.hpp"

namespace fairgv::vgpu::cuda {

CUmemAllocationProp properties_of(const Device& device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device.handle;
  return properties;
}

CUresult AddressRanges::reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted,
                                std::uint64_t& address) {
  if (is_full()) return CUDA_ERROR_OUT_OF_MEMORY;
  CUdeviceptr reserved = 0;
  const CUresult code = driver_.cuMemAddressReserve(&reserved, bytes, alignment, wanted, 0);
  if (code != CUDA_SUCCESS) return code;
  ranges_.emplace(reserved, bytes);
  address = reserved;
  return CUDA_SUCCESS;
}

CUresult AddressRanges::free(std::uint64_t address, std::uint64_t bytes) {
  const CUresult code = driver_.cuMemAddressFree(address, bytes);
  if (code == CUDA_SUCCESS) ranges_.erase(address);
  return code;
}

CUresult AddressRanges::create(const Device& device, std::uint64_t bytes, MemoryCharge charge,
                               std::uint64_t& number) {
  if (is_full()) return CUDA_ERROR_OUT_OF_MEMORY;
  const CUmemAllocationProp properties = properties_of(device);
  CUmemGenericAllocationHandle handle = 0;
  const CUresult code = driver_.cuMemCreate(&handle, bytes, &properties, 0);
  if (code != CUDA_SUCCESS) return code;
  number = next_number_++;
  auto memory = std::make_shared<Physical>(driver_, handle, std::move(charge));
  memory->number = number;
  memory->bytes = bytes;
  memory->device = device.facts.device;
  physical_.emplace(number, std::move(memory));
  return CUDA_SUCCESS;
}

CUresult AddressRanges::map(std::uint64_t number, std::uint64_t address, std::uint64_t bytes) {
  if (is_full()) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto& memory = physical_.at(number);
  const CUresult code = driver_.cuMemMap(address, bytes, 0, memory->handle, 0);
  if (code == CUDA_SUCCESS) mapped_.insert_or_assign(address, Mapping{memory, bytes, {}});
  return code;
}

CUresult AddressRanges::unmap(std::uint64_t address, std::uint64_t bytes) {
  const CUresult code = driver_.cuMemUnmap(address, bytes);
  if (code != CUDA_SUCCESS) return code;
  auto mapping = mapped_.lower_bound(address);
  while (mapping != mapped_.end() && mapping->first - address < bytes) mapping = mapped_.erase(mapping);
  return CUDA_SUCCESS;
}

CUresult AddressRanges::set_access(std::uint64_t address, std::uint64_t bytes, const Device& device,
                                   std::uint32_t flags) {
  CUmemAccessDesc wish{};
  wish.location = properties_of(device).location;
  wish.flags = static_cast<CUmemAccess_flags>(flags);
  const CUresult code = driver_.cuMemSetAccess(address, bytes, &wish, 1);
  if (code != CUDA_SUCCESS) return code;
  for (auto mapping = mapped_.lower_bound(address);
       mapping != mapped_.end() && mapping->first - address < bytes; ++mapping)
    mapping->second.access[device.facts.device] = flags;
  return CUDA_SUCCESS;
}

std::map<std::uint64_t, std::shared_ptr<AddressRanges::Physical>> AddressRanges::all_physical() const {
  std::map<std::uint64_t, std::shared_ptr<Physical>> all(physical_.begin(), physical_.end());
  for (const auto& [address, mapping] : mapped_) all.emplace(mapping.memory->number, mapping.memory);
  return all;
}

}  // namespace fairgv::vgpu::cuda
