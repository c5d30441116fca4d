#include "cuda-shim/redirect/exported_functions.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "cuda-shim/redirect/code_writer.hpp"

namespace fairgv::redirect {
namespace {

bool begins_with_any(std::string_view name, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

bool lies_in_segment(const LoadedObject& object, std::uint64_t address, std::size_t size) {
  return std::any_of(object.segments.begin(), object.segments.end(), [&](const Elf64_Phdr& segment) {
    const std::uint64_t offset = address - segment.p_vaddr;
    return segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 && offset <= segment.p_filesz &&
           size <= segment.p_filesz - offset;
  });
}

/// Whether the dynamic linker has made this place read-only when it had relocated the object.
bool is_sealed(const LoadedObject& object, std::uint64_t address) {
  return std::any_of(object.segments.begin(), object.segments.end(), [&](const Elf64_Phdr& segment) {
    return segment.p_type == PT_GNU_RELRO && address - segment.p_vaddr < segment.p_memsz;
  });
}

/// A word of a page that is sealed, or not.
void write_word(std::uintptr_t address, std::uintptr_t value, bool sealed) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* const start = reinterpret_cast<void*>(address - address % page);
  if (sealed && ::mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return;
  // Another thread may read it, and finds the old function or the new one.
  std::atomic_ref(*reinterpret_cast<std::uintptr_t*>(address)).store(value, std::memory_order_relaxed);
  if (sealed) (void)::mprotect(start, page, PROT_READ);
}

/// Changes what the object's relocations have already bound to one of the functions.
void rebind(const LoadedObject& object, std::span<const ExportedFunction> functions) {
  const auto file = ObjectFile::open(object);
  if (!file) return;
  const ElfImage& image = file->image();
  std::vector<std::uint64_t> wanted;  // numbers of symbols
  std::uint64_t number = 0;
  image.for_each_symbol(SHT_DYNSYM, [&](const Symbol& symbol) {
    const bool is_one = !symbol.is_defined() && std::any_of(functions.begin(), functions.end(),
                                                            [&](const ExportedFunction& function) {
                                                              return function.name == symbol.name;
                                                            });
    if (is_one) wanted.push_back(number);
    ++number;
  });
  if (wanted.empty()) return;
  for (const Section& section : image.sections()) {
    if (section.type != SHT_RELA || (section.flags & SHF_ALLOC) == 0) continue;
    for (std::size_t at = 0; section.bytes.size() - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
      Elf64_Rela entry;
      std::memcpy(&entry, section.bytes.data() + at, sizeof entry);
      if (!std::binary_search(wanted.begin(), wanted.end(), ELF64_R_SYM(entry.r_info))) continue;
      const std::uintptr_t place = object.base + entry.r_offset;
      if (place % sizeof(std::uintptr_t) != 0 || !object.contains(place)) continue;
      const std::uintptr_t bound = *reinterpret_cast<const std::uintptr_t*>(place);
      const auto function = std::find_if(functions.begin(), functions.end(),
                                         [&](const ExportedFunction& f) { return f.function == bound; });
      if (function != functions.end())
        write_word(place, function->replacement, is_sealed(object, entry.r_offset));
    }
  }
}

}  // namespace

std::vector<ExportedFunction> exported_functions(const LoadedObject& object, const ObjectFile& file,
                                                 std::span<const std::string_view> beginnings) {
  std::vector<ExportedFunction> functions;
  const Section* const table = file.image().section_of_type(SHT_DYNSYM);
  if (table == nullptr || !lies_in_segment(object, table->address, table->bytes.size())) return functions;
  std::uint64_t offset = 0;
  file.image().for_each_symbol(SHT_DYNSYM, [&](const Symbol& symbol) {
    const std::uint64_t at = std::exchange(offset, offset + sizeof(Elf64_Sym));
    if (!symbol.is_defined() || !symbol.is_function() || symbol.is_internal()) return;
    if (!begins_with_any(symbol.name, beginnings)) return;
    const std::uintptr_t entry = object.base + table->address + at;
    if (std::memcmp(reinterpret_cast<const void*>(entry), table->bytes.data() + at, sizeof(Elf64_Sym)) != 0)
      return;  // changed already, or not the file that is loaded
    functions.push_back({symbol.name, entry, object.base + symbol.address, 0});
  });
  return functions;
}

std::string replace_exports(const LoadedObject& object, const ObjectFile& file,
                            std::span<const ExportedFunction> functions,
                            std::span<const LoadedObject> objects) {
  std::vector<CodeChange> changes;
  for (const ExportedFunction& function : functions) {
    // A symbol's value is added to the object's base, modulo 2^64: it may lie in another object.
    const Elf64_Addr value = function.replacement - object.base;
    CodeChange change{function.entry + offsetof(Elf64_Sym, st_value), std::vector<std::byte>(sizeof value)};
    std::memcpy(change.bytes.data(), &value, sizeof value);
    changes.push_back(std::move(change));
  }
  if (changes.empty()) return {};
  const auto mapping = file.mapping_of(object, changes.front().address);
  if (!mapping) return "its table of symbols is not loaded";
  if (std::string error = write_code(changes, *mapping); !error.empty()) return error;
  for (const LoadedObject& other : objects) {
    if (other.base != object.base) rebind(other, functions);
  }
  return {};
}

}  // namespace fairgv::redirect
