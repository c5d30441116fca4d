// The programs and shared libraries that are loaded in this process, and their files.
#pragma once

#include <link.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cuda-shim/redirect/code_writer.hpp"
#include "cuda-shim/redirect/elf_image.hpp"

namespace fairgv::redirect {

struct LoadedObject {
  std::string path;
  std::uintptr_t base = 0;  // what is added to the addresses of the file
  std::vector<Elf64_Phdr> segments;

  bool contains(std::uintptr_t address) const;
  /// Whether all these bytes are code that is mapped from the file.
  bool has_code(std::uintptr_t address, std::size_t size) const;
};

/// All of them, the program first. Takes the dynamic linker's lock for a moment.
std::vector<LoadedObject> loaded_objects();

/// The file of a loaded object, mapped for reading as long as this lives.
class ObjectFile {
 public:
  /// Nothing if the file cannot be read, or is not the one that is loaded: its segments differ.
  static std::optional<ObjectFile> open(const LoadedObject& object);
  ~ObjectFile();
  ObjectFile(ObjectFile&& other) noexcept;
  ObjectFile& operator=(ObjectFile&&) = delete;

  const ElfImage& image() const { return image_; }
  /// The mapping of the file around this address as it is loaded; nothing if there is none.
  std::optional<CodeMapping> mapping_of(const LoadedObject& object, std::uintptr_t address) const;

 private:
  ObjectFile(int file, Bytes bytes, ElfImage image) : file_(file), bytes_(bytes), image_(std::move(image)) {}

  int file_ = -1;
  Bytes bytes_;
  ElfImage image_;
};

}  // namespace fairgv::redirect
