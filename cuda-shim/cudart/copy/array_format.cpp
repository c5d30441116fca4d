#include "cuda-shim/cudart/copy/array_format.hpp"

#include <algorithm>
#include <iterator>

namespace fairgv::cudart {
namespace {

struct PlainFormat {
  cudaChannelFormatKind kind;
  int bits;
  CUarray_format format;
};

constexpr PlainFormat kPlain[] = {
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

// Formats that the kind alone determines: the bits of the channels are those of one normalised element.
struct KindFormat {
  cudaChannelFormatKind kind;
  int bits;
  unsigned int count;
  CUarray_format format;
};

constexpr KindFormat kNormalized[] = {
    {cudaChannelFormatKindUnsignedNormalized8X1, 8, 1, CU_AD_FORMAT_UNORM_INT8X1},
    {cudaChannelFormatKindUnsignedNormalized8X2, 8, 2, CU_AD_FORMAT_UNORM_INT8X2},
    {cudaChannelFormatKindUnsignedNormalized8X4, 8, 4, CU_AD_FORMAT_UNORM_INT8X4},
    {cudaChannelFormatKindUnsignedNormalized16X1, 16, 1, CU_AD_FORMAT_UNORM_INT16X1},
    {cudaChannelFormatKindUnsignedNormalized16X2, 16, 2, CU_AD_FORMAT_UNORM_INT16X2},
    {cudaChannelFormatKindUnsignedNormalized16X4, 16, 4, CU_AD_FORMAT_UNORM_INT16X4},
    {cudaChannelFormatKindSignedNormalized8X1, 8, 1, CU_AD_FORMAT_SNORM_INT8X1},
    {cudaChannelFormatKindSignedNormalized8X2, 8, 2, CU_AD_FORMAT_SNORM_INT8X2},
    {cudaChannelFormatKindSignedNormalized8X4, 8, 4, CU_AD_FORMAT_SNORM_INT8X4},
    {cudaChannelFormatKindSignedNormalized16X1, 16, 1, CU_AD_FORMAT_SNORM_INT16X1},
    {cudaChannelFormatKindSignedNormalized16X2, 16, 2, CU_AD_FORMAT_SNORM_INT16X2},
    {cudaChannelFormatKindSignedNormalized16X4, 16, 4, CU_AD_FORMAT_SNORM_INT16X4},
};

}  // namespace

Status driver_format(const cudaChannelFormatDesc& channels, CUarray_format& format, unsigned int& count) {
  const int bits[4] = {channels.x, channels.y, channels.z, channels.w};
  // One, two or four channels of the same width, the rest zero.
  count = static_cast<unsigned int>(std::find(std::begin(bits), std::end(bits), 0) - std::begin(bits));
  if (count == 0 || count == 3) return cudaErrorInvalidChannelDescriptor;
  for (unsigned int i = 0; i < 4; ++i)
    if (bits[i] != (i < count ? bits[0] : 0)) return cudaErrorInvalidChannelDescriptor;
  for (const PlainFormat& plain : kPlain) {
    if (plain.kind != channels.f || plain.bits != bits[0]) continue;
    format = plain.format;
    return cudaSuccess;
  }
  for (const KindFormat& normalized : kNormalized) {
    if (normalized.kind != channels.f) continue;
    if (normalized.bits != bits[0] || normalized.count != count) return cudaErrorInvalidChannelDescriptor;
    format = normalized.format;
    return cudaSuccess;
  }
  return channels.f > cudaChannelFormatKindNone ? cudaErrorNotSupported : cudaErrorInvalidChannelDescriptor;
}

Status runtime_format(CUarray_format format, unsigned int count, cudaChannelFormatDesc& channels) {
  const auto describe = [&](int bits, cudaChannelFormatKind kind) {
    channels = {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
    return cudaSuccess;
  };
  for (const PlainFormat& plain : kPlain)
    if (plain.format == format) return describe(plain.bits, plain.kind);
  for (const KindFormat& normalized : kNormalized)
    if (normalized.format == format) return describe(normalized.bits, normalized.kind);
  return cudaErrorNotSupported;
}

std::size_t element_bytes(CUarray_format format, unsigned int count) {
  cudaChannelFormatDesc channels{};
  if (runtime_format(format, count, channels).failed()) return 0;
  return static_cast<std::size_t>(channels.x) / 8 * count;
}

}  // namespace fairgv::cudart
