// The blocks that kernels read of texture and surface objects.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "cuda-shim/api/memory/texture.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"
#include "cuda-shim/softcuda/driver/storage.hpp"
#include "cuda-shim/softcuda/translate/image_block.hpp"

namespace fairgv::cuda::soft {
namespace {

using softcuda::AddressMode;
using softcuda::ChannelFormat;
using softcuda::ImageBlock;

static_assert(static_cast<int>(AddressMode::kWrap) == CU_TR_ADDRESS_MODE_WRAP);
static_assert(static_cast<int>(AddressMode::kClamp) == CU_TR_ADDRESS_MODE_CLAMP);
static_assert(static_cast<int>(AddressMode::kMirror) == CU_TR_ADDRESS_MODE_MIRROR);
static_assert(static_cast<int>(AddressMode::kBorder) == CU_TR_ADDRESS_MODE_BORDER);

/// Of 8 and 16 bits: `normalized`, or as it is.
ChannelFormat channel_format(CUarray_format format, bool normalized, bool srgb) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      if (!normalized) return ChannelFormat::kUnsigned8;
      return srgb ? ChannelFormat::kSrgb8 : ChannelFormat::kNormalized8;
    case CU_AD_FORMAT_SIGNED_INT8:
      return normalized ? ChannelFormat::kNormalizedS8 : ChannelFormat::kSigned8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
      return normalized ? ChannelFormat::kNormalized16 : ChannelFormat::kUnsigned16;
    case CU_AD_FORMAT_SIGNED_INT16:
      return normalized ? ChannelFormat::kNormalizedS16 : ChannelFormat::kSigned16;
    case CU_AD_FORMAT_HALF:
      return ChannelFormat::kHalf;
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT8X4:
      return srgb ? ChannelFormat::kSrgb8 : ChannelFormat::kNormalized8;
    case CU_AD_FORMAT_SNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X4:
      return ChannelFormat::kNormalizedS8;
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_UNORM_INT16X4:
      return ChannelFormat::kNormalized16;
    case CU_AD_FORMAT_SNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X4:
      return ChannelFormat::kNormalizedS16;
    default:
      return ChannelFormat::kWord;
  }
}

std::uint32_t whole(std::size_t extent) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, extent));
}

void place_array(const TextureObject& object, const Array& array, ImageBlock& block) {
  block.address = address_of(array);
  block.row_bytes = array.row_bytes;
  block.slice_bytes = array.row_bytes * array.rows;
  block.width = whole(array.description.Width);
  block.height = whole(array.rows);
  block.depth = whole(array.layers);
  if (!object.view || (array.description.Flags & CUDA_ARRAY3D_LAYERED) == 0) return;
  block.address += object.view->firstLayer * block.slice_bytes;
  block.depth = object.view->lastLayer - object.view->firstLayer + 1;
}

void place_memory(const TextureObject& object, ImageBlock& block) {
  block.address = object.address;
  if (object.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
    block.width = whole(object.resource.res.linear.sizeInBytes / block.texel_bytes);
    return;
  }
  const auto& pitched = object.resource.res.pitch2D;
  block.row_bytes = pitched.pitchInBytes;
  block.width = whole(pitched.width);
  block.height = whole(pitched.height);
}

void describe_sampling(const TextureObject& object, ImageBlock& block) {
  const CUDA_TEXTURE_DESC& sampling = object.sampling;
  const bool normalized = (sampling.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  if (normalized) block.flags |= ImageBlock::kNormalizedCoordinates;
  if (object.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
    // Linear memory is not filtered, and texels outside are 0.
    std::fill(std::begin(block.modes), std::end(block.modes),
              static_cast<std::uint32_t>(AddressMode::kBorder));
    return;
  }
  if (sampling.filterMode == CU_TR_FILTER_MODE_LINEAR) block.flags |= ImageBlock::kLinearFilter;
  for (std::size_t dimension = 0; dimension < 3; ++dimension) {
    const CUaddress_mode wished = sampling.addressMode[dimension];
    const bool repeats = wished == CU_TR_ADDRESS_MODE_WRAP || wished == CU_TR_ADDRESS_MODE_MIRROR;
    block.modes[dimension] =
        static_cast<std::uint32_t>(repeats && !normalized ? CU_TR_ADDRESS_MODE_CLAMP : wished);
  }
  for (std::size_t channel = 0; channel < 4; ++channel)
    block.border[channel] = std::bit_cast<std::uint32_t>(sampling.borderColor[channel]);
}

/// Within what there is; 0 for what is no number.
float within(float level, std::uint32_t levels) {
  return level > 0 ? std::min(level, static_cast<float>(levels - 1)) : 0;
}

/// The blocks of the levels that the texture shows, behind the block at the handle, if they are more than
/// one.
std::vector<ImageBlock> with_levels(const TextureObject& object, ImageBlock block) {
  const auto& levels = object.mipmap->levels;
  const std::size_t first = object.view ? object.view->firstMipmapLevel : 0;
  const std::size_t last = object.view ? object.view->lastMipmapLevel : levels.size() - 1;
  const CUDA_TEXTURE_DESC& sampling = object.sampling;
  block.levels = static_cast<std::uint32_t>(last - first + 1);
  block.level_bias = sampling.mipmapLevelBias;
  block.least_level = within(sampling.minMipmapLevelClamp, block.levels);
  block.most_level = within(sampling.maxMipmapLevelClamp, block.levels);
  if (sampling.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR) block.flags |= ImageBlock::kLinearLevelFilter;
  std::vector<ImageBlock> blocks;
  for (std::size_t level = first; level <= last; ++level) {
    place_array(object, *levels[level], block);
    blocks.push_back(block);
  }
  if (blocks.size() == 1) return blocks;
  ImageBlock base = blocks[softcuda::nearest_level(block, 0)];
  if (softcuda::levels_at(block, 0).weight != 0) base.flags |= ImageBlock::kBetweenLevels;
  blocks.insert(blocks.begin(), base);
  return blocks;
}

CUresult write_blocks(const OpenClDevice& device, const std::vector<ImageBlock>& blocks,
                      TextureObject& object) {
  const std::size_t bytes = blocks.size() * sizeof(ImageBlock);
  DeviceMemory memory = device.allocate_for_programs(bytes);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memcpy(memory.data(), blocks.data(), bytes);
  object.handle = memory.address();
  object.storage = std::make_unique<OwnedMemory>(std::move(memory));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult Engine::make_texture(Context&, TextureObject& object) {
  if ((object.sampling.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const TexelFormat format = format_of(object);
  ImageBlock block;
  block.texel_bytes = static_cast<std::uint32_t>(format.bytes());
  block.channels = format.channels;
  const bool normalized = !format.is_float() && reads_float(object);
  const bool srgb = (object.sampling.flags & CU_TRSF_SRGB) != 0;
  block.format = static_cast<std::uint32_t>(channel_format(format.format, normalized, srgb));
  describe_sampling(object, block);
  if (object.mipmap) return write_blocks(*opencl, with_levels(object, block), object);
  if (object.array) {
    place_array(object, *object.array, block);
  } else {
    place_memory(object, block);
  }
  return write_blocks(*opencl, {block}, object);
}

CUresult Engine::make_surface(Context&, TextureObject& object) {
  const TexelFormat format = format_of(object);
  ImageBlock block;
  block.texel_bytes = static_cast<std::uint32_t>(format.bytes());
  block.channels = format.channels;
  place_array(object, *object.array, block);
  return write_blocks(*opencl, {block}, object);
}

}  // namespace fairgv::cuda::soft
