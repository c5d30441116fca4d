#include "tools/fairgv/run/elf_program.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "runtime/base/handle.hpp"

namespace fairgv::tools {
namespace {

static_assert(std::endian::native == std::endian::little, "read_elf() takes little-endian files");

// More than any program has; a table that claims more is not read.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;

/// A file that is read piece by piece, each piece within it.
class File {
 public:
  explicit File(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (file_ && ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode)) {
      size_ = static_cast<std::uint64_t>(status.st_size);
    }
  }

  /// Up to `bytes` of them from `offset` on, as many as there are.
  std::vector<char> read(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset >= size_) return {};
    std::vector<char> content(std::min({bytes, size_ - offset, kMostBytes}));
    const ssize_t got = ::pread(file_.get(), content.data(), content.size(), static_cast<off_t>(offset));
    content.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return content;
  }

  /// A table of `count` entries; empty if it is not whole.
  template <class Entry>
  std::vector<Entry> table(std::uint64_t offset, std::uint64_t count) const {
    if (count > kMostBytes / sizeof(Entry)) return {};
    const std::vector<char> bytes = read(offset, count * sizeof(Entry));
    if (bytes.size() != count * sizeof(Entry)) return {};
    std::vector<Entry> entries(count);
    if (count > 0) std::memcpy(entries.data(), bytes.data(), bytes.size());
    return entries;
  }

 private:
  UniqueFd file_;
  std::uint64_t size_ = 0;
};

/// The text at `offset` of a table of strings; empty if it does not end within it.
std::string text_at(const std::vector<char>& strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const auto begin = strings.begin() + static_cast<std::ptrdiff_t>(offset);
  const auto end = std::find(begin, strings.end(), '\0');
  return end == strings.end() ? std::string() : std::string(begin, end);
}

bool is_ours(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

/// The place in the file of this address of the running program.
std::optional<std::uint64_t> file_offset(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz) {
      return segment.p_offset + (address - segment.p_vaddr);
    }
  }
  return std::nullopt;
}

void read_dynamic(const File& file, const std::vector<Elf64_Phdr>& segments, const Elf64_Phdr& dynamic,
                  ElfProgram& program) {
  const auto entries = file.table<Elf64_Dyn>(dynamic.p_offset, dynamic.p_filesz / sizeof(Elf64_Dyn));
  std::vector<char> strings;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != DT_STRTAB) continue;
    if (const auto offset = file_offset(segments, entry.d_un.d_ptr)) strings = file.read(*offset, kMostBytes);
  }
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) return;
    if (entry.d_tag == DT_NEEDED) program.needed.push_back(text_at(strings, entry.d_un.d_val));
    if (entry.d_tag == DT_RPATH) program.rpath = text_at(strings, entry.d_un.d_val);
    if (entry.d_tag == DT_RUNPATH) program.runpath = text_at(strings, entry.d_un.d_val);
  }
}

bool has_cuda_section(const File& file, const Elf64_Ehdr& header) {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return false;
  const auto sections = file.table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
  if (header.e_shstrndx >= sections.size()) return false;
  const Elf64_Shdr& of_names = sections[header.e_shstrndx];
  const std::vector<char> names = file.read(of_names.sh_offset, of_names.sh_size);
  return std::any_of(sections.begin(), sections.end(), [&](const Elf64_Shdr& section) {
    return text_at(names, section.sh_name) == ".nvFatBinSegment";
  });
}

}  // namespace

std::optional<ElfProgram> read_elf(const std::string& path) {
  const File file(path);
  const auto headers = file.table<Elf64_Ehdr>(0, 1);
  if (headers.empty() || !is_ours(headers[0])) return std::nullopt;
  const Elf64_Ehdr& header = headers[0];
  ElfProgram program;
  if (header.e_phentsize == sizeof(Elf64_Phdr)) {
    const auto segments = file.table<Elf64_Phdr>(header.e_phoff, header.e_phnum);
    for (const Elf64_Phdr& segment : segments) {
      if (segment.p_type == PT_INTERP) program.is_dynamic = true;
      if (segment.p_type == PT_DYNAMIC) read_dynamic(file, segments, segment, program);
    }
  }
  program.has_cuda_code = has_cuda_section(file, header);
  return program;
}

}  // namespace fairgv::tools
