// An ELF file of this machine's kind (64 bits, little-endian), read by hand. Nothing in it is believed before
// it is checked against the file's size: a broken table is an empty table. Pure logic; the views that it
// gives are good as long as the bytes of the file are there.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace fairgv::redirect {

using Bytes = std::span<const std::byte>;

struct Section {
  std::string_view name;
  std::uint32_t type = SHT_NULL;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;  // of the program as it was linked, without the place where it is loaded
  std::uint32_t link = 0;     // number of the section that it refers to
  Bytes bytes;                // empty if it has none in the file, or not all of them

  bool holds_code() const { return type == SHT_PROGBITS && (flags & SHF_EXECINSTR) != 0; }
};

struct Symbol {
  std::string_view name;
  std::uint64_t address = 0;  // as it was linked
  std::uint64_t size = 0;
  std::uint16_t section = SHN_UNDEF;
  std::uint8_t info = 0;
  std::uint8_t other = 0;

  bool is_defined() const { return section != SHN_UNDEF && section < SHN_LORESERVE; }
  bool is_function() const { return ELF64_ST_TYPE(info) == STT_FUNC; }
  /// No other object of the process can refer to it.
  bool is_internal() const {
    return ELF64_ST_BIND(info) == STB_LOCAL || ELF64_ST_VISIBILITY(other) == STV_HIDDEN ||
           ELF64_ST_VISIBILITY(other) == STV_INTERNAL;
  }
};

class ElfImage {
 public:
  /// Nothing if the bytes are no program or shared library of this machine's kind.
  static std::optional<ElfImage> parse(Bytes file);

  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  const std::vector<Section>& sections() const { return sections_; }
  /// By number; nothing if there is no such section.
  const Section* section(std::uint32_t number) const {
    return number < sections_.size() ? &sections_[number] : nullptr;
  }
  const Section* section_named(std::string_view name) const;
  /// The first section of this type (SHT_SYMTAB, SHT_DYNSYM, SHT_DYNAMIC).
  const Section* section_of_type(std::uint32_t type) const;

  /// The code from this address on, `size` bytes of it; empty if they are not all in one section of code.
  Bytes code(std::uint64_t address, std::uint64_t size) const;

  /// Calls visit(const Symbol&) for each whole entry of the table of this type.
  template <class Visit>
  void for_each_symbol(std::uint32_t table_type, const Visit& visit) const {
    const Section* const table = section_of_type(table_type);
    const Section* const strings = table != nullptr ? section(table->link) : nullptr;
    if (strings == nullptr) return;
    for (std::size_t at = 0; table->bytes.size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
      Elf64_Sym entry;
      std::memcpy(&entry, table->bytes.data() + at, sizeof entry);
      visit(Symbol{text_at(strings->bytes, entry.st_name), entry.st_value, entry.st_size, entry.st_shndx,
                   entry.st_info, entry.st_other});
    }
  }

  /// Whether the object asks for a library (DT_NEEDED) whose name begins so.
  bool needs(std::string_view beginning) const;

 private:
  /// The text at `offset` of a table of strings; empty if it does not end within the table.
  static std::string_view text_at(Bytes strings, std::uint64_t offset);
  void read_sections(Bytes file, const Elf64_Ehdr& header);

  std::vector<Elf64_Phdr> segments_;
  std::vector<Section> sections_;
};

}  // namespace fairgv::redirect
