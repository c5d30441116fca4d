#include "cuda-shim/redirect/loaded_object.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairgv::redirect {
namespace {

int add_object(dl_phdr_info* info, std::size_t, void* objects) {
  auto& found = *static_cast<std::vector<LoadedObject>*>(objects);
  // The dynamic linker knows no name of the program.
  std::string path = found.empty() ? "/proc/self/exe" : info->dlpi_name;
  found.push_back({std::move(path), info->dlpi_addr, {info->dlpi_phdr, info->dlpi_phdr + info->dlpi_phnum}});
  return 0;
}

bool are_equal(std::span<const Elf64_Phdr> some, std::span<const Elf64_Phdr> others) {
  return some.size() == others.size() && !some.empty() &&
         std::memcmp(some.data(), others.data(), some.size_bytes()) == 0;
}

}  // namespace

bool LoadedObject::contains(std::uintptr_t address) const {
  return std::any_of(segments.begin(), segments.end(), [&](const Elf64_Phdr& segment) {
    const std::uintptr_t begin = base + segment.p_vaddr;
    return segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz;
  });
}

bool LoadedObject::has_code(std::uintptr_t address, std::size_t size) const {
  return std::any_of(segments.begin(), segments.end(), [&](const Elf64_Phdr& segment) {
    const std::uintptr_t offset = address - (base + segment.p_vaddr);
    return segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && (segment.p_flags & PF_R) != 0 &&
           offset <= segment.p_filesz && size <= segment.p_filesz - offset;
  });
}

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> objects;
  ::dl_iterate_phdr(add_object, &objects);
  return objects;
}

std::optional<ObjectFile> ObjectFile::open(const LoadedObject& object) {
  const int file = ::open(object.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  void* mapped = MAP_FAILED;
  std::size_t size = 0;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    size = static_cast<std::size_t>(status.st_size);
    mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  if (mapped == MAP_FAILED) {
    ::close(file);
    return std::nullopt;
  }
  const Bytes bytes(static_cast<const std::byte*>(mapped), size);
  auto image = ElfImage::parse(bytes);
  ObjectFile opened(file, bytes, image ? std::move(*image) : ElfImage());
  if (!are_equal(opened.image_.segments(), object.segments)) return std::nullopt;
  return opened;
}

ObjectFile::ObjectFile(ObjectFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      bytes_(std::exchange(other.bytes_, {})),
      image_(std::move(other.image_)) {}

ObjectFile::~ObjectFile() {
  if (file_ < 0) return;
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  ::close(file_);
}

std::optional<CodeMapping> ObjectFile::mapping_of(const LoadedObject& object, std::uintptr_t address) const {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const Elf64_Phdr& segment : object.segments) {
    const std::uintptr_t start = object.base + segment.p_vaddr;
    if (segment.p_type != PT_LOAD) continue;
    if (address < start || address - start >= segment.p_filesz) continue;
    const std::uintptr_t before = start % page;
    const std::uintptr_t end = start + segment.p_filesz;
    CodeMapping mapping;
    mapping.begin = start - before;
    mapping.end = end + (page - end % page) % page;
    mapping.protection = ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0) |
                         ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0);
    mapping.file = file_;
    mapping.offset = segment.p_offset - before;
    return mapping;
  }
  return std::nullopt;
}

}  // namespace fairgv::redirect
