// Texture and surface objects of the CUDA front end. They are named by ids like every object; kernels get the
// driver's own handle, which the worker answers.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/cuda/types.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire::cuda {

/// CUDA_RESOURCE_DESC.
struct TextureMemory {
  std::uint32_t kind = 0;      // CUresourcetype
  std::uint32_t format = 0;    // CUarray_format; of memory that is no array
  std::uint32_t channels = 0;  // the same
  std::uint32_t reserved = 0;
  std::uint64_t address = 0;  // the raw id of an array or a mipmapped array, or a CUdeviceptr
  std::uint64_t bytes = 0;    // of linear memory
  std::uint64_t width = 0, height = 0, pitch = 0;
};

/// The array or the mipmapped array that the memory is, or none.
constexpr ObjectId object_named_in(const TextureMemory& memory) {
  constexpr std::uint32_t kMipmappedArray = 1;  // CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, behind that of arrays
  return memory.kind <= kMipmappedArray ? ObjectId{memory.address} : ObjectId{};
}

/// CUDA_TEXTURE_DESC.
struct TextureSampling {
  std::uint32_t address_modes[3] = {0, 0, 0};   // CUaddress_mode
  std::uint32_t filter = 0, mipmap_filter = 0;  // CUfilter_mode
  std::uint32_t flags = 0;
  std::uint32_t most_anisotropy = 0;
  float level_bias = 0, least_level = 0, most_level = 0;
  float border[4] = {0, 0, 0, 0};
};

/// CUDA_RESOURCE_VIEW_DESC.
struct TextureView {
  std::uint32_t is_given = 0;
  std::uint32_t format = 0;  // CUresourceViewFormat
  std::uint64_t width = 0, height = 0, depth = 0;
  std::uint32_t first_level = 0, last_level = 0, first_layer = 0, last_layer = 0;
};

struct TextureReply {
  ResultCode code = 0;
  std::uint64_t handle = 0;  // CUtexObject or CUsurfObject, for kernels' parameters
  FAIRGV_FIELDS(code, handle)
};

/// An id that is refused names nothing. The array lives at least as long as the object.
struct CreateTexture {
  FAIRGV_CALL(CudaCreateTexture, 0x1047, TextureReply)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  TextureMemory memory;
  TextureSampling sampling;
  TextureView view;
  FAIRGV_FIELDS(id, context, memory, sampling, view)
};

/// The same of a surface object.
struct CreateSurface {
  FAIRGV_CALL(CudaCreateSurface, 0x1048, TextureReply)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  ObjectId array;
  FAIRGV_FIELDS(id, context, array)
};

using TextureCalls = TypeList<CreateTexture, CreateSurface>;

}  // namespace fairgv::wire::cuda
