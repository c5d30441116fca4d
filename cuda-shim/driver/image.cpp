#include "cuda-shim/driver/image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "runtime/fatbin/fatbin.hpp"

namespace fairgv::cuda::remote {
namespace {

using fatbin::fatbin_bytes;
using fatbin::kFatbinHeaderBytes;
using fatbin::kFatbinMagic;
using fatbin::kFatbinWrapperMagic;
using fatbin::kLargestPayload;

/// The record that a compiled program registers (fatbinary_section.h of the toolkit).
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;  // 1; 2: linked, with further fatbins
  const void* data;
  const void* const* more;  // version 2: the fatbins of the units, up to a null
};

CUresult refuse(LoadLog& log, std::string reason) {
  log.error = std::move(reason);
  return CUDA_ERROR_INVALID_IMAGE;
}

/// Compares byte by byte: a text may be shorter than the magic, but ends with a zero, which no magic
/// contains.
bool starts_with(const void* image, std::optional<std::uint64_t> size, std::string_view magic) {
  if (size && *size < magic.size()) return false;
  const auto* const at = static_cast<const char*>(image);
  for (std::size_t index = 0; index < magic.size(); ++index) {
    if (at[index] != magic[index]) return false;
  }
  return true;
}

std::string_view text_of(const std::uint32_t& magic) {
  return {reinterpret_cast<const char*>(&magic), sizeof magic};
}

void append(std::vector<std::byte>& bytes, const void* from, std::uint64_t size) {
  const auto* const first = static_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), first, first + size);
}

CUresult append_fatbin(const void* data, std::vector<std::byte>& bytes, LoadLog& log) {
  const auto size = fatbin_bytes({static_cast<const std::byte*>(data), kFatbinHeaderBytes});
  if (!size) return refuse(log, "the wrapper leads to no fatbin");
  if (*size > kLargestPayload) return refuse(log, "the fatbin says that it is longer than any can be");
  append(bytes, data, *size);
  return CUDA_SUCCESS;
}

CUresult append_wrapped(const void* image, ImageBytes& bytes, LoadLog& log) {
  Wrapper wrapper{};
  std::memcpy(&wrapper, image, sizeof wrapper);
  if (wrapper.version != 1 && wrapper.version != 2) {
    return refuse(log, "a fatbin wrapper of version " + std::to_string(wrapper.version) + " is not known");
  }
  if (wrapper.version == 2 && wrapper.more != nullptr) {
    for (const void* const* unit = wrapper.more; *unit != nullptr; ++unit) {
      const CUresult code = append_fatbin(*unit, bytes.units.emplace_back(), log);
      if (code != CUDA_SUCCESS) return code;
    }
  }
  if (wrapper.data != nullptr) return append_fatbin(wrapper.data, bytes.image, log);
  return bytes.units.empty() ? refuse(log, "the wrapper leads to no fatbin") : CUDA_SUCCESS;
}

bool contains(std::span<const std::byte> bytes, std::string_view word) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.find(word) != std::string_view::npos;
}

constexpr std::string_view kPrinting = "vprintf";

}  // namespace

std::optional<std::uint64_t> elf_bytes(const std::byte* begin, std::optional<std::uint64_t> size) {
  Elf64_Ehdr header;
  if (size && *size < sizeof header) return std::nullopt;
  std::memcpy(&header, begin, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  const std::uint64_t most = size.value_or(kLargestPayload);
  std::uint64_t end = sizeof header;
  const auto holds = [&](std::uint64_t offset, std::uint64_t bytes) {
    if (offset > most || bytes > most - offset) return false;
    end = std::max(end, offset + bytes);
    return true;
  };
  if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)) return std::nullopt;
  if (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) return std::nullopt;
  if (!holds(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr))) return std::nullopt;
  if (!holds(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) return std::nullopt;
  for (std::uint64_t at = 0; at < header.e_shnum; ++at) {
    Elf64_Shdr section;
    std::memcpy(&section, begin + header.e_shoff + at * sizeof section, sizeof section);
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    if (!holds(section.sh_offset, section.sh_size)) return std::nullopt;
  }
  return end;
}

CUresult bytes_of_image(const void* image, std::optional<std::uint64_t> size, ImageBytes& taken,
                        LoadLog& log) {
  taken = {};
  std::vector<std::byte>& bytes = taken.image;
  if (!size && starts_with(image, size, text_of(kFatbinWrapperMagic)))
    return append_wrapped(image, taken, log);
  if (starts_with(image, size, text_of(kFatbinMagic))) {
    if (!size) return append_fatbin(image, bytes, log);
    append(bytes, image, *size);
    return CUDA_SUCCESS;
  }
  if (starts_with(image, size, {ELFMAG, SELFMAG})) {
    const auto length = elf_bytes(static_cast<const std::byte*>(image), size);
    if (!length) return refuse(log, "the headers of the machine code contradict themselves");
    append(bytes, image, *length);
    return CUDA_SUCCESS;
  }
  const auto* const text = static_cast<const char*>(image);
  append(bytes, image, size ? ::strnlen(text, *size) : std::strlen(text));
  return CUDA_SUCCESS;
}

bool may_print(const std::vector<std::byte>& image) {
  if (contains(image, kPrinting)) return true;
  const std::uint32_t magic = kFatbinMagic;
  if (!starts_with(image.data(), image.size(), text_of(magic))) return false;
  // Compressed entries hide the string.
  const auto entries = fatbin::read_fatbin(image);
  if (!entries) return false;
  return std::any_of(entries.value().begin(), entries.value().end(), [](const fatbin::FatbinEntry& entry) {
    if (entry.compression == fatbin::FatbinCompression::none) return false;
    const auto unpacked = fatbin::unpack(entry);
    return unpacked && contains(std::as_bytes(std::span(unpacked.value())), kPrinting);
  });
}

}  // namespace fairgv::cuda::remote
