// Finds NVIDIA's runtime library in a program or shared library that it was linked into (nvcc's default,
// libcudart_static.a), and its functions. Pure logic.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cuda-shim/redirect/elf_image.hpp"

namespace fairgv::redirect {

struct RuntimeFunction {
  std::string_view name;
  std::uint64_t address = 0;  // as it was linked
  Bytes code;                 // as in the file: its own bytes, and the padding up to the next symbol
};

struct StaticRuntime {
  enum class Kind {
    kNone,     // no runtime in it, or one that it shares with others
    kFound,    // `functions` and `release` are known
    kUnknown,  // a runtime of another release than 12 and 13
    kStripped  // a runtime, but no symbols that would say where its functions are
  };
  Kind kind = Kind::kNone;
  int release = 0;                         // 12 or 13: whose signatures and structures the program has
  std::vector<RuntimeFunction> functions;  // all that have a name of the runtime, by address
};

/// Views into the image's file.
StaticRuntime find_static_runtime(const ElfImage& image);

/// The release whose runtime has these functions and names this version (13000 for CUDA 13.0; nothing if the
/// code does not tell): 12, 13, or 0 for neither.
int release_of(const std::vector<RuntimeFunction>& functions, std::optional<std::uint32_t> version);

}  // namespace fairgv::redirect
