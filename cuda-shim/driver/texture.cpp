// Texture and surface objects, made by the worker's driver. Only their handles need a reply.
#include <algorithm>
#include <iterator>

#include "cuda-shim/api/memory/texture.hpp"
#include "cuda-shim/driver/storage.hpp"

#include "cuda-shim/driver/engine.hpp"

namespace fairgv::cuda::remote {
namespace {

wire::cuda::TextureMemory memory_of(const TextureObject& object) {
  wire::cuda::TextureMemory memory;
  memory.kind = static_cast<std::uint32_t>(object.resource.resType);
  if (object.mipmap) {
    memory.address = static_cast<const ObjectStorage&>(*object.mipmap->storage).id().raw;
    return memory;
  }
  if (object.array) {
    memory.address = id_of(*object.array).raw;
    return memory;
  }
  memory.address = object.address;
  if (object.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
    const auto& linear = object.resource.res.linear;
    memory.format = static_cast<std::uint32_t>(linear.format);
    memory.channels = linear.numChannels;
    memory.bytes = linear.sizeInBytes;
    return memory;
  }
  const auto& pitched = object.resource.res.pitch2D;
  memory.format = static_cast<std::uint32_t>(pitched.format);
  memory.channels = pitched.numChannels;
  memory.width = pitched.width;
  memory.height = pitched.height;
  memory.pitch = pitched.pitchInBytes;
  return memory;
}

wire::cuda::TextureSampling sampling_of(const CUDA_TEXTURE_DESC& said) {
  wire::cuda::TextureSampling sampling;
  std::transform(std::begin(said.addressMode), std::end(said.addressMode), std::begin(sampling.address_modes),
                 [](CUaddress_mode mode) { return static_cast<std::uint32_t>(mode); });
  sampling.filter = static_cast<std::uint32_t>(said.filterMode);
  sampling.mipmap_filter = static_cast<std::uint32_t>(said.mipmapFilterMode);
  sampling.flags = said.flags;
  sampling.most_anisotropy = said.maxAnisotropy;
  sampling.level_bias = said.mipmapLevelBias;
  sampling.least_level = said.minMipmapLevelClamp;
  sampling.most_level = said.maxMipmapLevelClamp;
  std::copy(std::begin(said.borderColor), std::end(said.borderColor), std::begin(sampling.border));
  return sampling;
}

wire::cuda::TextureView view_of(const CUDA_RESOURCE_VIEW_DESC& said) {
  wire::cuda::TextureView view;
  view.is_given = 1;
  view.format = static_cast<std::uint32_t>(said.format);
  view.width = said.width;
  view.height = said.height;
  view.depth = said.depth;
  view.first_level = said.firstMipmapLevel;
  view.last_level = said.lastMipmapLevel;
  view.first_layer = said.firstLayer;
  view.last_layer = said.lastLayer;
  return view;
}

/// Sends a call with a new id.
template <class Call>
CUresult make(Connection& connection, Context& context, Call call, TextureObject& object) {
  const auto group = workers(context.group());
  call.id = connection.session().new_object();
  call.context = group->context();
  const auto reply = connection.call(call);
  if (!reply) return connection.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  object.handle = reply->handle;
  object.storage = std::make_unique<ObjectStorage>(WorkersObject(group, call.id));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult Engine::make_texture(Context& context, TextureObject& object) {
  wire::cuda::CreateTexture call;
  call.memory = memory_of(object);
  call.sampling = sampling_of(object.sampling);
  if (object.view) call.view = view_of(*object.view);
  return make(connection, context, call, object);
}

CUresult Engine::make_surface(Context& context, TextureObject& object) {
  wire::cuda::CreateSurface call;
  call.array = id_of(*object.array);
  return make(connection, context, call, object);
}

}  // namespace fairgv::cuda::remote
