// Images in memory say their own length.
#include "cuda-shim/driver/image.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/fatbin/fatbin.hpp"

namespace {

using fairgv::cuda::LoadLog;
using fairgv::cuda::remote::bytes_of_image;
using fairgv::cuda::remote::elf_bytes;
using fairgv::cuda::remote::ImageBytes;
using fairgv::cuda::remote::may_print;

ImageBytes all_taken(const void* image, std::optional<std::uint64_t> size = std::nullopt,
                     CUresult expected = CUDA_SUCCESS) {
  ImageBytes bytes;
  LoadLog log;
  EXPECT_EQ(expected, bytes_of_image(image, size, bytes, log));
  EXPECT_EQ(expected == CUDA_SUCCESS, log.error.empty());
  return bytes;
}

std::vector<std::byte> taken(const void* image, std::optional<std::uint64_t> size = std::nullopt,
                             CUresult expected = CUDA_SUCCESS) {
  return all_taken(image, size, expected).image;
}

/// A file of one section, followed by bytes that are not part of the file.
std::vector<std::byte> small_elf() {
  std::vector<std::byte> file(400, std::byte{0x55});
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 1;
  Elf64_Shdr section{};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = 200;
  section.sh_size = 100;
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, &section, sizeof section);
  return file;
}

void put_section_size(std::vector<std::byte>& file, std::uint64_t size) {
  std::memcpy(file.data() + sizeof(Elf64_Ehdr) + offsetof(Elf64_Shdr, sh_size), &size, sizeof size);
}

/// A container with one stored entry of so many bytes of content.
std::vector<std::byte> small_fatbin(const std::string& content) {
  constexpr std::uint32_t kEntryHeader = 64;
  std::vector<std::byte> file(fairgv::fatbin::kFatbinHeaderBytes + kEntryHeader + content.size());
  const auto put = [&file](std::size_t at, auto value) {
    std::memcpy(file.data() + at, &value, sizeof value);
  };
  put(0, fairgv::fatbin::kFatbinMagic);
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{16});
  put(8, std::uint64_t{kEntryHeader + content.size()});
  put(16, std::uint16_t{1});
  put(20, kEntryHeader);
  put(24, std::uint64_t{content.size()});
  std::memcpy(file.data() + 16 + kEntryHeader, content.data(), content.size());
  return file;
}

}  // namespace

TEST(Images, TextEndsWithItsZero) {
  EXPECT_EQ(5U, taken("hello").size());
  EXPECT_EQ(3U, taken("hello", 3).size());
  EXPECT_EQ(0U, taken("").size());
}

TEST(Images, MachineCodeEndsBehindItsLastSection) {
  auto file = small_elf();
  EXPECT_EQ(300U, taken(file.data()).size());
  EXPECT_EQ(300U, elf_bytes(file.data(), file.size()));
  EXPECT_FALSE(elf_bytes(file.data(), 250)) << "a file that is cut short";
  EXPECT_FALSE(elf_bytes(file.data(), 20));
  put_section_size(file, UINT64_MAX);
  EXPECT_FALSE(elf_bytes(file.data(), std::nullopt)) << "a size that overflows";
  taken(file.data(), std::nullopt, CUDA_ERROR_INVALID_IMAGE);
}

TEST(Images, FatbinsAreTakenFromWrappersOfBothVersions) {
  const auto first = small_fatbin("first");
  const auto second = small_fatbin("and the second");
  struct {
    std::uint32_t magic, version;
    const void* data;
    const void* const* more;
  } wrapper{fairgv::fatbin::kFatbinWrapperMagic, 1, first.data(), nullptr};
  EXPECT_EQ(first, taken(&wrapper));
  EXPECT_EQ(first, taken(first.data()));
  EXPECT_TRUE(all_taken(&wrapper).units.empty());
  const void* const more[] = {second.data(), first.data(), nullptr};
  const std::vector<std::vector<std::byte>> units{second, first};
  wrapper.version = 2;
  wrapper.more = more;
  EXPECT_EQ(first, taken(&wrapper)) << "the linked code";
  EXPECT_EQ(units, all_taken(&wrapper).units);
  wrapper.data = nullptr;
  EXPECT_TRUE(taken(&wrapper).empty());
  EXPECT_EQ(units, all_taken(&wrapper).units);
  const void* const none[] = {nullptr};
  wrapper.more = none;
  all_taken(&wrapper, std::nullopt, CUDA_ERROR_INVALID_IMAGE);
  wrapper.version = 7;
  taken(&wrapper, std::nullopt, CUDA_ERROR_INVALID_IMAGE);
}

TEST(Images, ThatMayPrintAreFound) {
  EXPECT_TRUE(may_print(small_fatbin(".extern .func vprintf")));
  EXPECT_FALSE(may_print(small_fatbin("nothing of the kind")));
  EXPECT_FALSE(may_print({}));
}
