// Archives and host objects with device code: what is found in them, and that damage is an error.
#include "cuda-shim/softcuda/link/containers.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/fatbin/fatbin.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::softcuda::link {
namespace {

Bytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// A container with a payload of these bytes, which says nothing.
std::string fatbin_of(std::size_t bytes) {
  std::string file(fatbin::kFatbinHeaderBytes + bytes, '\1');
  const auto put = [&file](std::size_t at, auto value) {
    std::memcpy(file.data() + at, &value, sizeof value);
  };
  put(0, fatbin::kFatbinMagic);
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{fatbin::kFatbinHeaderBytes});
  put(8, std::uint64_t{bytes});
  return file;
}

/// An object with sections of these names and contents.
std::string object_of(const std::vector<std::pair<std::string, std::string>>& sections) {
  std::string names(1, '\0');
  std::string contents;
  std::vector<Elf64_Shdr> headers(1);
  const auto add = [&](const std::string& name, const std::string& content) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = SHT_PROGBITS;
    header.sh_offset = sizeof(Elf64_Ehdr) + contents.size();
    header.sh_size = content.size();
    names += name + '\0';
    contents += content;
    headers.push_back(header);
  };
  for (const auto& [name, content] : sections) add(name, content);
  names += std::string(".shstrtab") + '\0';
  add(".shstrtab", names);
  headers.back().sh_name = static_cast<Elf64_Word>(names.find(".shstrtab"));
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof header + contents.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file += contents;
  file.append(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr));
  return file;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(width, ' ');
  return text;
}

std::string archive_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string file = "!<arch>\n";
  for (const auto& [name, content] : members) {
    file += padded(name, 16) + padded("0", 12) + padded("0", 6) + padded("0", 6) + padded("644", 8) +
            padded(std::to_string(content.size()), 10) + "`\n" + content;
    if (content.size() % 2 != 0) file += '\n';
  }
  return file;
}

TEST(LinkContainers, FatbinsOfRelocatableCodeAreFoundInObjects) {
  const std::string first = fatbin_of(20);
  const std::string second = fatbin_of(3);
  const std::string object = object_of({{".text", "machine code"},
                                        {".nv_fatbin", fatbin_of(5)},  // whole programs: nothing to link
                                        {"__nv_relfatbin", first + std::string(4, '\0') + second}});
  const auto fatbins = fatbins_of_object(bytes_of(object));
  ASSERT_TRUE(fatbins) << fatbins.error().message;
  ASSERT_EQ(fatbins.value().size(), 2U);
  EXPECT_EQ(fatbins.value()[0].size(), first.size());
  EXPECT_EQ(fatbins.value()[1].size(), second.size());
  EXPECT_EQ(std::memcmp(fatbins.value()[1].data(), second.data(), second.size()), 0);
  const auto none = fatbins_of_object(bytes_of(object_of({{".text", "machine code"}})));
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none.value().empty());
}

TEST(LinkContainers, MembersOfArchivesHaveShortAndLongNames) {
  const std::string archive = archive_of({{"/", "symbols"},
                                          {"//", "a_name_of_many_letters.o/\nanother_long_name.o/\n"},
                                          {"short.o/", "one"},
                                          {"/0", "three"},
                                          {"/26", "four"},
                                          {"bsd.o", ""}});
  const auto members = members_of_archive(bytes_of(archive));
  ASSERT_TRUE(members) << members.error().message;
  std::vector<std::pair<std::string, std::size_t>> found;
  for (const Member& each : members.value()) found.emplace_back(each.name, each.bytes.size());
  EXPECT_EQ(found,
            (std::vector<std::pair<std::string, std::size_t>>{
                {"short.o", 3}, {"a_name_of_many_letters.o", 5}, {"another_long_name.o", 4}, {"bsd.o", 0}}));
}

TEST(LinkContainers, OtherFilesAreRefused) {
  for (const std::string file : {"", "!<arch>", "text",
                                 "\x7f"
                                 "ELF"}) {
    EXPECT_FALSE(members_of_archive(bytes_of(file))) << file;
    EXPECT_FALSE(fatbins_of_object(bytes_of(file))) << file;
  }
  EXPECT_FALSE(members_of_archive(bytes_of("!<arch>\nno header")));
  EXPECT_FALSE(fatbins_of_object(bytes_of(object_of({{"__nv_relfatbin", "no fatbin"}}))));
  std::string fatbin = fatbin_of(20);
  fatbin.pop_back();
  EXPECT_FALSE(fatbins_of_object(bytes_of(object_of({{"__nv_relfatbin", fatbin}}))));
}

// A finding lies inside the file, whatever it says.
TEST(LinkContainers, DamagedFilesAreReadWithinTheirBounds) {
  const std::string object = object_of({{".text", "code"}, {"__nv_relfatbin", fatbin_of(20) + fatbin_of(9)}});
  const std::string archive =
      archive_of({{"//", "a_name_of_many_letters.o/\n"}, {"/0", object}, {"b.o/", object}});
  std::mt19937_64 random(harness::printed_seed());
  const auto expect_within = [](Bytes part, const std::vector<std::byte>& whole) {
    if (part.empty()) return;
    EXPECT_GE(part.data(), whole.data());
    EXPECT_LE(part.data() + part.size(), whole.data() + whole.size());
  };
  int refused = 0;
  for (int time = 0; time < 4000; ++time) {
    const std::string& from = time % 2 == 0 ? object : archive;
    const Bytes all = bytes_of(from);
    // Memory of exactly the file's size, so that AddressSanitizer sees a read one byte too far.
    std::vector<std::byte> file(
        all.begin(),
        all.begin() + static_cast<std::ptrdiff_t>(time % 3 == 0 ? random() % all.size() : all.size()));
    for (unsigned damage = 0; damage < random() % 4 && !file.empty(); ++damage)
      file[random() % file.size()] = static_cast<std::byte>(random());
    const auto fatbins = fatbins_of_object(file);
    const auto members = members_of_archive(file);
    refused += fatbins || members ? 0 : 1;
    if (fatbins) {
      for (const Bytes each : fatbins.value()) expect_within(each, file);
    }
    if (members) {
      for (const Member& each : members.value()) expect_within(each.bytes, file);
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace fairgv::softcuda::link
