#include "runtime/base/handle.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace fairgv {

void UniqueFd::reset(int fd) {
  const int old = std::exchange(fd_, fd);
  // close() is not repeated on EINTR: on Linux the descriptor is gone either way.
  if (old >= 0) ::close(old);
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

Result<Mapping> Mapping::shared(int fd, uint64_t bytes, uint64_t wanted_address) {
  constexpr int kProtection = PROT_READ | PROT_WRITE;
  constexpr int kFlags = MAP_SHARED | MAP_NORESERVE;
  void* address = MAP_FAILED;
  if (wanted_address != 0) {
    void* const wanted = reinterpret_cast<void*>(wanted_address);
    address = ::mmap(wanted, bytes, kProtection, kFlags | MAP_FIXED_NOREPLACE, fd, 0);
  }
  if (address == MAP_FAILED) address = ::mmap(nullptr, bytes, kProtection, kFlags, fd, 0);
  if (address == MAP_FAILED) {
    return system_error("cannot map " + std::to_string(bytes) +
                        " bytes of shared memory (is the address space limited by 'ulimit -v'?)");
  }
  Mapping mapping(static_cast<std::byte*>(address), bytes);
  if (::madvise(address, bytes, MADV_DONTDUMP) != 0) {
    return system_error("cannot keep shared memory out of core dumps");
  }
  return mapping;
}

void Mapping::reset() {
  if (data_ != nullptr) ::munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace fairgv
