// Images as programs hand them over: how long they are, because the calls that take them do not say, and what
// they are made of. Pure, but for reading the program's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda::remote {

/// The bytes of whatever cuModuleLoadData takes, as the worker is to get them: a fatbin, machine code (ELF),
/// or PTX without its final 0. Of a linked program's wrapper it is the linked image. `size`: where it is
/// known; nothing beyond it is read. CUDA_ERROR_INVALID_IMAGE: it is damaged, and `log` says how.
CUresult bytes_of_image(const void* image, std::optional<std::uint64_t> size, std::vector<std::byte>& bytes,
                        LoadLog& log);

/// Bytes of the ELF file that begins with these, from its headers. Nothing: it is none of 64 bits, or its
/// headers contradict themselves.
std::optional<std::uint64_t> elf_bytes(const std::byte* begin, std::optional<std::uint64_t> size);

/// Whether kernels of it may print: then the program's standard output is looked after.
bool may_print(const std::vector<std::byte>& image);

}  // namespace fairgv::cuda::remote
