// Images as programs hand them over: their length, which the calls that take them do not say, and their kind.
// Pure, but for reading the program's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda::remote {

/// The meaning of an argument of cuModuleLoadData.
struct ImageBytes {
  std::vector<std::byte> image;  // a fatbin, machine code (ELF), or PTX without its final 0
  /// The fatbins of the units of a linked program (nvcc -rdc=true), of which `image` is the linked code.
  std::vector<std::vector<std::byte>> units;
};

/// As the worker gets them. `size`: the size if it is known; nothing beyond it is read.
/// CUDA_ERROR_INVALID_IMAGE: the image is damaged, and `log` says how.
CUresult bytes_of_image(const void* image, std::optional<std::uint64_t> size, ImageBytes& bytes,
                        LoadLog& log);

/// Size of the ELF file that starts at `begin`, in bytes, from its headers. Nothing: not an ELF file of 64
/// bits, or its headers contradict themselves.
std::optional<std::uint64_t> elf_bytes(const std::byte* begin, std::optional<std::uint64_t> size);

/// Whether kernels of the image may print; then their output is fetched for the program's standard output.
bool may_print(const std::vector<std::byte>& image);

}  // namespace fairgv::cuda::remote
