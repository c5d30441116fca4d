#include "cuda-shim/api/memory/virtual/virtual_memory.hpp"

#include <iterator>
#include <utility>
#include <vector>

#include "runtime/base/page.hpp"

namespace fairgv::cuda {

struct VirtualMemory::Physical {
  Physical(MemoryTable& of_driver, const CUmemAllocationProp& of_creation, std::uint64_t bytes)
      : memory(of_driver), properties(of_creation), size(bytes) {}
  ~Physical() {
    storage.reset();
    memory.discharge(size);
  }
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;

  MemoryTable& memory;  // where it is charged
  const CUmemAllocationProp properties;
  const std::uint64_t size;
  std::unique_ptr<Storage> storage;
  CUmemGenericAllocationHandle handle = 0;
  std::uint64_t uses = 1;  // of the handle
  CUdevice device() const { return properties.location.id; }
};

namespace {

bool ends_beyond_all(std::uint64_t address, std::uint64_t size) {
  return size > UINT64_MAX - address;
}

}  // namespace

CUresult VirtualMemory::granularity(CUdevice device, CUmemAllocationGranularity_flags which,
                                    std::size_t& bytes) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(lock_);
  std::uint64_t granularity = 0;
  const CUresult code = space_->granularity(device, which, granularity);
  if (code == CUDA_SUCCESS) bytes = granularity;
  return code;
}

CUresult VirtualMemory::reserve(const RangeWish& wish, CUdeviceptr& address) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const bool is_power = (wish.alignment & (wish.alignment - 1)) == 0;
  if (wish.size == 0 || wish.size % kPageBytes != 0 || wish.address % kPageBytes != 0 || !is_power)
    return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(lock_);
  std::uint64_t reserved = 0;
  if (const CUresult code = space_->reserve(wish, reserved); code != CUDA_SUCCESS) return code;
  ranges_.emplace(reserved, wish.size);
  address = reserved;
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::free(CUdeviceptr address, std::size_t size) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(lock_);
  const auto found = ranges_.find(address);
  if (found == ranges_.end() || found->second != size || !is_free(address, size))
    return CUDA_ERROR_INVALID_VALUE;
  const CUresult code = space_->give_back(address, size);
  if (code == CUDA_SUCCESS) ranges_.erase(found);
  return code;
}

CUresult VirtualMemory::create(const CUmemAllocationProp& properties, std::size_t size, std::uint64_t most,
                               CUmemGenericAllocationHandle& handle) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(lock_);
  const CUdevice device = properties.location.id;
  if (size == 0 || !is_granular(device, 0, size)) return CUDA_ERROR_INVALID_VALUE;
  if (!memory_.charge(size, most)) return CUDA_ERROR_OUT_OF_MEMORY;
  auto made = std::make_shared<Physical>(memory_, properties, size);  // which is charged from now on
  if (const CUresult code = space_->make_physical(device, size, made->storage); code != CUDA_SUCCESS)
    return code;
  made->handle = next_handle_++;
  handle = made->handle;
  handles_.emplace(handle, std::move(made));
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::release(CUmemGenericAllocationHandle handle) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(lock_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return CUDA_ERROR_INVALID_VALUE;
  if (--found->second->uses == 0) handles_.erase(found);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::retain(CUdeviceptr address, CUmemGenericAllocationHandle& handle) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(lock_);
  const auto found = mapping_at(address);
  if (found == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
  const auto& physical = found->second.physical;
  ++physical->uses;
  handle = physical->handle;
  handles_.emplace(handle, physical);  // if it had been released
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::properties(CUmemGenericAllocationHandle handle, CUmemAllocationProp& properties) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(lock_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return CUDA_ERROR_INVALID_VALUE;
  properties = found->second->properties;
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::map(CUdeviceptr address, std::size_t size, CUmemGenericAllocationHandle handle) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(lock_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return CUDA_ERROR_INVALID_VALUE;
  const auto& physical = found->second;
  if (size == 0 || size > physical->size || !is_granular(physical->device(), address, size))
    return CUDA_ERROR_INVALID_VALUE;
  auto range = ranges_.upper_bound(address);
  if (range == ranges_.begin()) return CUDA_ERROR_INVALID_VALUE;
  --range;
  const std::uint64_t offset = address - range->first;
  if (offset >= range->second || size > range->second - offset || !is_free(address, size))
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult code = space_->map(address, size, *physical->storage); code != CUDA_SUCCESS) return code;
  auto entry = std::make_shared<Allocation>();
  entry->begin = address;
  entry->begin_on_device = address;
  entry->size = size;
  entry->kind = MemoryKind::ranged;
  entry->device = physical->device();
  entry->range_begin = range->first;
  entry->range_size = range->second;
  entry->physical = handle;
  memory_.add(entry);
  mappings_.emplace(address, Mapping{physical, std::move(entry)});
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::unmap(CUdeviceptr address, std::size_t size) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(lock_);
  const auto [first, last] = whole(address, size);
  if (first == last) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult code = space_->unmap(address, size); code != CUDA_SUCCESS) return code;
  for (auto at = first; at != last; ++at) memory_.remove(*at->second.entry);
  mappings_.erase(first, last);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::set_access(CUdeviceptr address, std::size_t size,
                                   std::span<const CUmemAccessDesc> wishes) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(lock_);
  const auto [first, last] = whole(address, size);
  if (first == last) return CUDA_ERROR_INVALID_VALUE;
  // No device has peers here: a device has access to its own memory alone.
  for (const CUmemAccessDesc& wish : wishes) {
    for (auto at = first; at != last; ++at) {
      if (at->second.physical->device() != wish.location.id) return CUDA_ERROR_INVALID_DEVICE;
    }
  }
  for (const CUmemAccessDesc& wish : wishes) {
    const CUresult code = space_->set_access(address, size, wish.location.id, wish.flags);
    if (code != CUDA_SUCCESS) return code;
    for (auto at = first; at != last; ++at)
      at->second.entry->access.store(wish.flags, std::memory_order_relaxed);
  }
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::access(CUdeviceptr address, CUdevice device, CUmemAccess_flags& flags) {
  if (space_ == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard guard(lock_);
  const auto found = mapping_at(address);
  if (found == mappings_.end()) return CUDA_ERROR_INVALID_VALUE;
  flags = found->second.physical->device() == device
              ? found->second.entry->access.load(std::memory_order_relaxed)
              : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

std::pair<VirtualMemory::Mappings::iterator, VirtualMemory::Mappings::iterator> VirtualMemory::whole(
    std::uint64_t address, std::uint64_t size) {
  const auto none = std::pair(mappings_.end(), mappings_.end());
  if (size == 0 || ends_beyond_all(address, size)) return none;
  const auto first = mappings_.find(address);
  auto last = first;
  std::uint64_t end = address;
  for (; last != mappings_.end() && last->first == end && end < address + size; ++last)
    end += last->second.entry->size;
  return end == address + size ? std::pair(first, last) : none;
}

VirtualMemory::Mappings::iterator VirtualMemory::mapping_at(std::uint64_t address) {
  auto at = mappings_.upper_bound(address);
  if (at == mappings_.begin()) return mappings_.end();
  --at;
  return address - at->first < at->second.entry->size ? at : mappings_.end();
}

/// Whether nothing is mapped there.
bool VirtualMemory::is_free(std::uint64_t address, std::uint64_t size) {
  if (mapping_at(address) != mappings_.end()) return false;
  const auto next = mappings_.lower_bound(address);
  return next == mappings_.end() || next->first - address >= size;
}

bool VirtualMemory::is_granular(CUdevice device, std::uint64_t address, std::uint64_t size) {
  std::uint64_t bytes = 0;
  return space_->granularity(device, CU_MEM_ALLOC_GRANULARITY_MINIMUM, bytes) == CUDA_SUCCESS && bytes != 0 &&
         address % bytes == 0 && size % bytes == 0;
}

}  // namespace fairgv::cuda
