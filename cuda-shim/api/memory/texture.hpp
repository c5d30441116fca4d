// The parts of which texture and surface objects may be made (CUDA Driver API, "Texture Object Management",
// "Surface Object Management").
#pragma once

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {

/// How elements are read, by the view or by the memory itself.
struct TexelFormat {
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  unsigned channels = 1;

  std::size_t channel_bytes() const;
  std::size_t bytes() const { return channel_bytes() * channels; }
  /// Formats that are read as numbers in [0, 1] or [-1, 1], whatever the texture's flags are.
  bool is_normalized() const;
  bool is_float() const { return format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF; }
};

/// False: the format is not stored channel by channel, or has another number of channels.
bool is_stored(const TexelFormat& format);
/// Of a checked object.
TexelFormat format_of(const TextureObject& object);
/// Whether a fetch gives single precision, which linear filters need.
bool reads_float(const TextureObject& object);

/// Checks the program's descriptions, and fills in `array` (and `mipmap`) or `address`.
CUresult check_texture(const Driver& driver, const Context& context, TextureObject& object);
CUresult check_surface(const Driver& driver, TextureObject& object);

}  // namespace fairgv::cuda
