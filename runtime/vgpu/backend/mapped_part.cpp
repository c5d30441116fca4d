#include "runtime/vgpu/backend/mapped_part.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <string>
#include <utility>

#include "runtime/base/page.hpp"

namespace fairgv::vgpu {

Result<MappedPart> MappedPart::map(int file, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t start = round_down_to_page(offset);
  const auto length = static_cast<std::size_t>(offset + bytes - start);
  if (::posix_fallocate(file, static_cast<off_t>(start), static_cast<off_t>(length)) != 0)
    return Error{"there is no memory for " + std::to_string(bytes) + " bytes of contents"};
  void* const memory =
      ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(start));
  if (memory == MAP_FAILED) return system_error("cannot map the image");
  MappedPart part;
  part.start_ = memory;
  part.length_ = length;
  part.bytes_ = {static_cast<std::byte*>(memory) + (offset - start), static_cast<std::size_t>(bytes)};
  return part;
}

MappedPart& MappedPart::operator=(MappedPart&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(length_, other.length_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedPart::~MappedPart() {
  if (start_ != nullptr) ::munmap(start_, length_);
}

}  // namespace fairgv::vgpu
