// Texture and surface objects. The driver checks their parts; memory is only named, not charged.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/handlers.hpp"

namespace fairgv::vgpu::cuda {
namespace {

CUDA_RESOURCE_DESC linear_memory(const wire::cuda::TextureMemory& memory) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = static_cast<CUresourcetype>(memory.kind);
  if (resource.resType == CU_RESOURCE_TYPE_LINEAR) {
    auto& linear = resource.res.linear;
    linear.devPtr = memory.address;
    linear.format = static_cast<CUarray_format>(memory.format);
    linear.numChannels = memory.channels;
    linear.sizeInBytes = memory.bytes;
    return resource;
  }
  auto& pitched = resource.res.pitch2D;
  pitched.devPtr = memory.address;
  pitched.format = static_cast<CUarray_format>(memory.format);
  pitched.numChannels = memory.channels;
  pitched.width = memory.width;
  pitched.height = memory.height;
  pitched.pitchInBytes = memory.pitch;
  return resource;
}

CUDA_RESOURCE_DESC whole_array(const Array& array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array.handle;
  return resource;
}

CUDA_TEXTURE_DESC sampling_of(const wire::cuda::TextureSampling& said) {
  CUDA_TEXTURE_DESC sampling{};
  std::transform(std::begin(said.address_modes), std::end(said.address_modes),
                 std::begin(sampling.addressMode),
                 [](std::uint32_t mode) { return static_cast<CUaddress_mode>(mode); });
  sampling.filterMode = static_cast<CUfilter_mode>(said.filter);
  sampling.flags = said.flags;
  sampling.maxAnisotropy = said.most_anisotropy;
  sampling.mipmapFilterMode = static_cast<CUfilter_mode>(said.mipmap_filter);
  sampling.mipmapLevelBias = said.level_bias;
  sampling.minMipmapLevelClamp = said.least_level;
  sampling.maxMipmapLevelClamp = said.most_level;
  std::copy(std::begin(said.border), std::end(said.border), std::begin(sampling.borderColor));
  return sampling;
}

CUDA_RESOURCE_VIEW_DESC view_of(const wire::cuda::TextureView& said) {
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = static_cast<CUresourceViewFormat>(said.format);
  view.width = said.width;
  view.height = said.height;
  view.depth = said.depth;
  view.firstMipmapLevel = said.first_level;
  view.lastMipmapLevel = said.last_level;
  view.firstLayer = said.first_layer;
  view.lastLayer = said.last_layer;
  return view;
}

}  // namespace

Result<wire::cuda::TextureReply> Handlers::handle(const wire::cuda::CreateTexture& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  auto texture = std::make_shared<Texture>();
  texture->context = std::move(context).value();
  CUDA_RESOURCE_DESC resource{};
  if (call.memory.kind == CU_RESOURCE_TYPE_ARRAY) {
    FAIRGV_TRY(array, objects_.get<Array>(wire::ObjectId{call.memory.address}));
    texture->array = std::move(array).value();
    resource = whole_array(*texture->array);
  } else if (call.memory.kind == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
    FAIRGV_TRY(mipmap, objects_.get<Mipmap>(wire::ObjectId{call.memory.address}));
    texture->mipmap = std::move(mipmap).value();
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = texture->mipmap->handle;
  } else if (call.memory.kind == CU_RESOURCE_TYPE_LINEAR || call.memory.kind == CU_RESOURCE_TYPE_PITCH2D) {
    resource = linear_memory(call.memory);
  } else {
    return Error{fmt::format("a texture of resource type {}", call.memory.kind)};
  }
  const CUDA_TEXTURE_DESC sampling = sampling_of(call.sampling);
  const CUDA_RESOURCE_VIEW_DESC view = view_of(call.view);
  const std::uint64_t place = places_.take(call.id);
  CUresult code = use(functions(), texture->context->handle);
  if (code == CUDA_SUCCESS) {
    const PlacedNext placed(functions(), place);
    code = functions().cuTexObjectCreate(&texture->handle, &resource, &sampling,
                                         call.view.is_given != 0 ? &view : nullptr);
  }
  if (code != CUDA_SUCCESS) return wire::cuda::TextureReply{code};
  texture->is_made = true;
  if (place != 0 && texture->handle != place) return Error{"the driver gives it another handle there"};
  const std::uint64_t handle = texture->handle;
  FAIRGV_CHECK(objects_.insert(call.id, std::move(texture)));
  return wire::cuda::TextureReply{CUDA_SUCCESS, handle};
}

Result<wire::cuda::TextureReply> Handlers::handle(const wire::cuda::CreateSurface& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  FAIRGV_TRY(array, objects_.get<Array>(call.array));
  auto surface = std::make_shared<Surface>();
  surface->context = std::move(context).value();
  surface->array = std::move(array).value();
  const CUDA_RESOURCE_DESC resource = whole_array(*surface->array);
  const std::uint64_t place = places_.take(call.id);
  CUresult code = use(functions(), surface->context->handle);
  if (code == CUDA_SUCCESS) {
    const PlacedNext placed(functions(), place);
    code = functions().cuSurfObjectCreate(&surface->handle, &resource);
  }
  if (code != CUDA_SUCCESS) return wire::cuda::TextureReply{code};
  surface->is_made = true;
  if (place != 0 && surface->handle != place) return Error{"the driver gives it another handle there"};
  const std::uint64_t handle = surface->handle;
  FAIRGV_CHECK(objects_.insert(call.id, std::move(surface)));
  return wire::cuda::TextureReply{CUDA_SUCCESS, handle};
}

}  // namespace fairgv::vgpu::cuda
