#include "cuda-shim/softcuda/link/containers.hpp"

#include <ar.h>
#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "runtime/fatbin/fatbin.hpp"

namespace fairgv::softcuda::link {
namespace {

std::string_view text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Error damaged(const std::string& what) {
  return Error{"the " + what};
}

std::string_view trimmed(std::string_view field) {
  const std::size_t end = field.find_last_not_of(' ');
  return field.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// "name/" is the name, "/12" its place in the table of long names.
std::string member_name(std::string_view field, std::string_view long_names) {
  if (field.size() < 2 || field[0] != '/') return std::string(field.substr(0, field.find('/')));
  const auto offset = number(field.substr(1));
  if (!offset || *offset >= long_names.size()) return std::string(field);
  const std::string_view name = long_names.substr(*offset);
  return std::string(name.substr(0, name.find_first_of("/\n")));
}

template <typename Value>
std::optional<Value> read_at(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// The bytes of a section; nothing: it does not lie in the file.
std::optional<Bytes> section_bytes(Bytes object, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS) return Bytes{};
  if (section.sh_offset > object.size() || section.sh_size > object.size() - section.sh_offset)
    return std::nullopt;
  return object.subspan(section.sh_offset, section.sh_size);
}

/// One after the other, with padding between them.
Result<std::vector<Bytes>> split_fatbins(Bytes section) {
  std::vector<Bytes> fatbins;
  while (!section.empty()) {
    if (section[0] == std::byte{0}) {
      section = section.subspan(1);
      continue;
    }
    const auto size = fatbin::fatbin_bytes(section);
    if (!size || *size > section.size()) return damaged("object's device code is damaged");
    fatbins.push_back(section.first(*size));
    section = section.subspan(*size);
  }
  return fatbins;
}

}  // namespace

Result<std::vector<Member>> members_of_archive(Bytes archive) {
  if (!text(archive).starts_with(std::string_view(ARMAG, SARMAG))) return damaged("library is no archive");
  archive = archive.subspan(SARMAG);
  std::vector<Member> members;
  std::string_view long_names;
  while (!archive.empty()) {
    const auto header = read_at<ar_hdr>(archive, 0);
    if (!header || std::string_view(header->ar_fmag, sizeof header->ar_fmag) != ARFMAG)
      return damaged("library's archive is damaged");
    archive = archive.subspan(sizeof *header);
    const auto size = number(trimmed({header->ar_size, sizeof header->ar_size}));
    if (!size || *size > archive.size()) return damaged("library's archive is cut short");
    const Bytes bytes = archive.first(*size);
    const std::string_view name = trimmed({header->ar_name, sizeof header->ar_name});
    if (name == "//") {
      long_names = text(bytes);
    } else if (name != "/" && name != "/SYM64/") {
      members.push_back({member_name(name, long_names), bytes});
    }
    archive = archive.subspan(std::min<std::size_t>(*size + *size % 2, archive.size()));
  }
  return members;
}

Result<std::vector<Bytes>> fatbins_of_object(Bytes object) {
  const auto header = read_at<Elf64_Ehdr>(object, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return damaged("object is no ELF file of 64 bits");
  const auto section_at = [&](std::uint64_t index) -> std::optional<Elf64_Shdr> {
    if (header->e_shoff > object.size()) return std::nullopt;
    return read_at<Elf64_Shdr>(object.subspan(header->e_shoff), index * sizeof(Elf64_Shdr));
  };
  if (header->e_shnum != 0 && header->e_shentsize != sizeof(Elf64_Shdr))
    return damaged("object's table of sections is damaged");
  const auto names = section_at(header->e_shstrndx);
  const auto name_bytes = names ? section_bytes(object, *names) : std::nullopt;
  std::vector<Bytes> fatbins;
  for (std::uint64_t index = 0; name_bytes && index < header->e_shnum; ++index) {
    const auto section = section_at(index);
    if (!section) return damaged("object's table of sections is damaged");
    const std::string_view name =
        text(*name_bytes).substr(std::min<std::size_t>(section->sh_name, name_bytes->size()));
    if (name.substr(0, name.find('\0')) != "__nv_relfatbin") continue;
    const auto bytes = section_bytes(object, *section);
    if (!bytes) return damaged("object is cut short");
    FAIRGV_TRY(found, split_fatbins(*bytes));
    fatbins.insert(fatbins.end(), found.value().begin(), found.value().end());
  }
  return fatbins;
}

}  // namespace fairgv::softcuda::link
