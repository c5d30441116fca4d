#include "cuda-shim/softcuda/driver/device/host_address_space.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace fairgv::cuda::soft {
namespace {

/// As on NVIDIA's devices, so that programs that take it for granted work.
constexpr std::uint64_t kGranularity = std::uint64_t{2} << 20U;

void* at(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Shared pages, at an address where nobody touches them. No file: a program may have more physical memory
/// than a process may have files.
class SharedPages final : public Storage {
 public:
  SharedPages(void* home, std::uint64_t size) : home_(home), size_(size) {}
  ~SharedPages() override { ::munmap(home_, size_); }

  void* home() const { return home_; }

 private:
  void* const home_;
  const std::uint64_t size_;
};

/// 0: the system has no such addresses.
std::uint64_t reserve_at(std::uint64_t wanted, std::uint64_t size) {
  void* const got = ::mmap(at(wanted), size, PROT_NONE, kNothing | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return 0;
  if (got == at(wanted)) return wanted;
  ::munmap(got, size);  // a kernel before 4.17 takes the address as a hint
  return 0;
}

std::uint64_t reserve_anywhere(std::uint64_t size, std::uint64_t alignment) {
  std::uint64_t room = 0;
  if (__builtin_add_overflow(size, alignment, &room)) return 0;
  void* const got = ::mmap(nullptr, room, PROT_NONE, kNothing, -1, 0);
  if (got == MAP_FAILED) return 0;
  const auto begin = reinterpret_cast<std::uint64_t>(got);
  const std::uint64_t aligned = (begin + alignment - 1) / alignment * alignment;
  if (aligned != begin) ::munmap(got, aligned - begin);
  ::munmap(at(aligned + size), begin + room - (aligned + size));
  return aligned;
}

}  // namespace

CUresult HostAddressSpace::granularity(CUdevice, CUmemAllocationGranularity_flags, std::uint64_t& bytes) {
  bytes = kGranularity;
  return CUDA_SUCCESS;
}

CUresult HostAddressSpace::reserve(const RangeWish& wish, std::uint64_t& address) {
  const std::uint64_t alignment = std::max(wish.alignment, kGranularity);
  address = wish.address != 0 && wish.address % alignment == 0 ? reserve_at(wish.address, wish.size) : 0;
  if (address == 0) address = reserve_anywhere(wish.size, alignment);
  return address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult HostAddressSpace::give_back(std::uint64_t address, std::uint64_t size) {
  return ::munmap(at(address), size) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult HostAddressSpace::make_physical(CUdevice, std::uint64_t size, std::unique_ptr<Storage>& memory) {
  void* const home = ::mmap(nullptr, size, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (home == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  memory = std::make_unique<SharedPages>(home, size);
  return CUDA_SUCCESS;
}

CUresult HostAddressSpace::map(std::uint64_t address, std::uint64_t size, const Storage& memory) {
  // An old size of 0 maps shared pages a second time (mremap(2)), with the access of the first: none.
  void* const home = static_cast<const SharedPages&>(memory).home();
  void* const got = ::mremap(home, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, at(address));
  if (got == at(address)) return CUDA_SUCCESS;
  unmap(address, size);  // the system may have given up the range for what it could not do
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult HostAddressSpace::unmap(std::uint64_t address, std::uint64_t size) {
  void* const got = ::mmap(at(address), size, PROT_NONE, kNothing | MAP_FIXED, -1, 0);
  return got == at(address) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult HostAddressSpace::set_access(std::uint64_t address, std::uint64_t size, CUdevice,
                                      CUmemAccess_flags flags) {
  int access = PROT_NONE;
  if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) access = PROT_READ;
  if (flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) access |= PROT_WRITE;
  return ::mprotect(at(address), size, access) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

}  // namespace fairgv::cuda::soft
