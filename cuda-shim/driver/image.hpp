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

/// The bytes of an argument of cuModuleLoadData, as the worker gets them: a fatbin, machine code (ELF), or
/// PTX without its final 0. For a linked program's wrapper, the linked image. `size`: the size if it is
/// known; nothing beyond it is read. CUDA_ERROR_INVALID_IMAGE: the image is damaged, and `log` says how.
CUresult bytes_of_image(const void* image, std::optional<std::uint64_t> size, std::vector<std::byte>& bytes,
                        LoadLog& log);

/// Size of the ELF file that starts at `begin`, in bytes, from its headers. Nothing: not an ELF file of 64
/// bits, or its headers contradict themselves.
std::optional<std::uint64_t> elf_bytes(const std::byte* begin, std::optional<std::uint64_t> size);

/// Whether kernels of the image may print; then their output is fetched for the program's standard output.
bool may_print(const std::vector<std::byte>& image);

}  // namespace fairgv::cuda::remote
