#include "cuda-shim/redirect/elf_image.hpp"

#include <algorithm>
#include <bit>

namespace fairgv::redirect {
namespace {

static_assert(std::endian::native == std::endian::little, "ElfImage takes little-endian files");

#if defined(__x86_64__)
constexpr std::uint16_t kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kThisMachine = EM_AARCH64;
#else
constexpr std::uint16_t kThisMachine = EM_NONE;
#endif

/// `size` bytes from `offset` on; empty if the file does not have them all.
Bytes part_of(Bytes file, std::uint64_t offset, std::uint64_t size) {
  if (offset > file.size() || size > file.size() - offset) return {};
  return file.subspan(offset, size);
}

/// A table of `count` entries; empty if it is not whole.
template <class Entry>
std::vector<Entry> table_of(Bytes file, std::uint64_t offset, std::uint64_t count) {
  if (count > file.size() / sizeof(Entry)) return {};
  const Bytes bytes = part_of(file, offset, count * sizeof(Entry));
  std::vector<Entry> entries(bytes.size() / sizeof(Entry));
  if (!entries.empty()) std::memcpy(entries.data(), bytes.data(), bytes.size());
  return entries;
}

bool is_of_this_machine(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == kThisMachine &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

}  // namespace

std::string_view ElfImage::text_at(Bytes strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const auto* const begin = reinterpret_cast<const char*>(strings.data()) + offset;
  const void* const end = std::memchr(begin, '\0', strings.size() - offset);
  if (end == nullptr) return {};
  return {begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
}

std::optional<ElfImage> ElfImage::parse(Bytes file) {
  const auto headers = table_of<Elf64_Ehdr>(file, 0, 1);
  if (headers.empty() || !is_of_this_machine(headers[0])) return std::nullopt;
  const Elf64_Ehdr& header = headers[0];
  ElfImage image;
  if (header.e_phentsize == sizeof(Elf64_Phdr))
    image.segments_ = table_of<Elf64_Phdr>(file, header.e_phoff, header.e_phnum);
  if (header.e_shentsize == sizeof(Elf64_Shdr)) image.read_sections(file, header);
  return image;
}

void ElfImage::read_sections(Bytes file, const Elf64_Ehdr& header) {
  // Files with more sections than e_shnum can say have their number in the first one (ELF, "Section Header").
  std::uint64_t count = header.e_shnum;
  std::uint32_t names = header.e_shstrndx;
  if (const auto first = table_of<Elf64_Shdr>(file, header.e_shoff, 1); !first.empty()) {
    if (count == 0) count = first[0].sh_size;
    if (names == SHN_XINDEX) names = first[0].sh_link;
  }
  const auto entries = table_of<Elf64_Shdr>(file, header.e_shoff, count);
  Bytes texts;
  if (names < entries.size()) texts = part_of(file, entries[names].sh_offset, entries[names].sh_size);
  sections_.reserve(entries.size());
  for (const Elf64_Shdr& entry : entries) {
    const bool in_file = entry.sh_type != SHT_NULL && entry.sh_type != SHT_NOBITS;
    sections_.push_back({text_at(texts, entry.sh_name), entry.sh_type, entry.sh_flags, entry.sh_addr,
                         entry.sh_link, in_file ? part_of(file, entry.sh_offset, entry.sh_size) : Bytes{}});
  }
}

const Section* ElfImage::section_named(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& section) { return section.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

const Section* ElfImage::section_of_type(std::uint32_t type) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& section) { return section.type == type; });
  return found == sections_.end() ? nullptr : &*found;
}

Bytes ElfImage::code(std::uint64_t address, std::uint64_t size) const {
  for (const Section& section : sections_) {
    if (!section.holds_code() || address < section.address) continue;
    if (const Bytes found = part_of(section.bytes, address - section.address, size); !found.empty())
      return found;
  }
  return {};
}

bool ElfImage::needs(std::string_view beginning) const {
  const Section* const dynamic = section_of_type(SHT_DYNAMIC);
  const Section* const strings = dynamic != nullptr ? section(dynamic->link) : nullptr;
  if (strings == nullptr) return false;
  for (std::size_t at = 0; dynamic->bytes.size() - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, dynamic->bytes.data() + at, sizeof entry);
    if (entry.d_tag == DT_NULL) return false;
    if (entry.d_tag == DT_NEEDED && text_at(strings->bytes, entry.d_un.d_val).starts_with(beginning))
      return true;
  }
  return false;
}

}  // namespace fairgv::redirect
