// Texture and surface objects (CUDA Runtime API, "Texture Object Management" and "Surface Object
// Management"). The runtime keeps nothing: descriptions are converted, and converted back from the driver's
// descriptions.
#include <algorithm>
#include <iterator>

#include "cuda-shim/cudart/copy/array_format.hpp"

namespace fairgv::cudart {
namespace {

static_assert(static_cast<int>(cudaResourceTypePitch2D) == static_cast<int>(CU_RESOURCE_TYPE_PITCH2D));
static_assert(static_cast<int>(cudaAddressModeBorder) == static_cast<int>(CU_TR_ADDRESS_MODE_BORDER));
static_assert(static_cast<int>(cudaFilterModeLinear) == static_cast<int>(CU_TR_FILTER_MODE_LINEAR));
static_assert(sizeof(cudaResourceViewDesc) == sizeof(CUDA_RESOURCE_VIEW_DESC));

Status driver_resource(const cudaResourceDesc& resource, CUDA_RESOURCE_DESC& described) {
  described = {};
  described.resType = static_cast<CUresourcetype>(resource.resType);
  described.flags = resource.flags;
  switch (resource.resType) {
    case cudaResourceTypeArray:
      described.res.array.hArray = driver_array(resource.res.array.array);
      break;
    case cudaResourceTypeMipmappedArray:
      described.res.mipmap.hMipmappedArray = driver_array(resource.res.mipmap.mipmap);
      break;
    case cudaResourceTypeLinear: {
      auto& linear = described.res.linear;
      linear.devPtr = std::bit_cast<CUdeviceptr>(resource.res.linear.devPtr);
      linear.sizeInBytes = resource.res.linear.sizeInBytes;
      return driver_format(resource.res.linear.desc, linear.format, linear.numChannels);
    }
    case cudaResourceTypePitch2D: {
      auto& pitched = described.res.pitch2D;
      pitched.devPtr = std::bit_cast<CUdeviceptr>(resource.res.pitch2D.devPtr);
      pitched.width = resource.res.pitch2D.width;
      pitched.height = resource.res.pitch2D.height;
      pitched.pitchInBytes = resource.res.pitch2D.pitchInBytes;
      return driver_format(resource.res.pitch2D.desc, pitched.format, pitched.numChannels);
    }
    default:
      return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

Status runtime_resource(const CUDA_RESOURCE_DESC& described, cudaResourceDesc& resource) {
  resource = {};
  resource.resType = static_cast<cudaResourceType>(described.resType);
  resource.flags = described.flags;
  switch (described.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      resource.res.array.array = std::bit_cast<cudaArray_t>(described.res.array.hArray);
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      resource.res.mipmap.mipmap = std::bit_cast<cudaMipmappedArray_t>(described.res.mipmap.hMipmappedArray);
      break;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = described.res.linear;
      resource.res.linear.devPtr = std::bit_cast<void*>(linear.devPtr);
      resource.res.linear.sizeInBytes = linear.sizeInBytes;
      return runtime_format(linear.format, linear.numChannels, resource.res.linear.desc);
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& pitched = described.res.pitch2D;
      resource.res.pitch2D.devPtr = std::bit_cast<void*>(pitched.devPtr);
      resource.res.pitch2D.width = pitched.width;
      resource.res.pitch2D.height = pitched.height;
      resource.res.pitch2D.pitchInBytes = pitched.pitchInBytes;
      return runtime_format(pitched.format, pitched.numChannels, resource.res.pitch2D.desc);
    }
    default:
      return cudaErrorUnknown;
  }
  return cudaSuccess;
}

// Settings that are fields in the runtime API and flags in the driver's.
struct TextureFlag {
  unsigned int flag;
  int cudaTextureDesc::*field;
};
constexpr TextureFlag kTextureFlags[] = {
    {CU_TRSF_NORMALIZED_COORDINATES, &cudaTextureDesc::normalizedCoords},
    {CU_TRSF_SRGB, &cudaTextureDesc::sRGB},
    {CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, &cudaTextureDesc::disableTrilinearOptimization},
    {CU_TRSF_SEAMLESS_CUBEMAP, &cudaTextureDesc::seamlessCubemap},
};

CUDA_TEXTURE_DESC driver_texture(const cudaTextureDesc& texture) {
  CUDA_TEXTURE_DESC described = {};
  std::transform(std::begin(texture.addressMode), std::end(texture.addressMode),
                 std::begin(described.addressMode),
                 [](cudaTextureAddressMode mode) { return static_cast<CUaddress_mode>(mode); });
  std::copy(std::begin(texture.borderColor), std::end(texture.borderColor),
            std::begin(described.borderColor));
  described.filterMode = static_cast<CUfilter_mode>(texture.filterMode);
  described.flags = texture.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0;
  for (const TextureFlag& entry : kTextureFlags)
    if (texture.*entry.field != 0) described.flags |= entry.flag;
  described.maxAnisotropy = texture.maxAnisotropy;
  described.mipmapFilterMode = static_cast<CUfilter_mode>(texture.mipmapFilterMode);
  described.mipmapLevelBias = texture.mipmapLevelBias;
  described.minMipmapLevelClamp = texture.minMipmapLevelClamp;
  described.maxMipmapLevelClamp = texture.maxMipmapLevelClamp;
  return described;
}

cudaTextureDesc runtime_texture(const CUDA_TEXTURE_DESC& described) {
  cudaTextureDesc texture = {};
  std::transform(std::begin(described.addressMode), std::end(described.addressMode),
                 std::begin(texture.addressMode),
                 [](CUaddress_mode mode) { return static_cast<cudaTextureAddressMode>(mode); });
  std::copy(std::begin(described.borderColor), std::end(described.borderColor),
            std::begin(texture.borderColor));
  texture.filterMode = static_cast<cudaTextureFilterMode>(described.filterMode);
  texture.readMode = (described.flags & CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType
                                                                      : cudaReadModeNormalizedFloat;
  for (const TextureFlag& entry : kTextureFlags)
    texture.*entry.field = (described.flags & entry.flag) != 0 ? 1 : 0;
  texture.maxAnisotropy = described.maxAnisotropy;
  texture.mipmapFilterMode = static_cast<cudaTextureFilterMode>(described.mipmapFilterMode);
  texture.mipmapLevelBias = described.mipmapLevelBias;
  texture.minMipmapLevelClamp = described.minMipmapLevelClamp;
  texture.maxMipmapLevelClamp = described.maxMipmapLevelClamp;
  return texture;
}

}  // namespace

FAIRGV_CALL(kContext, cudaCreateTextureObject,
            (cudaTextureObject_t * object, const cudaResourceDesc* resource, const cudaTextureDesc* texture,
             const cudaResourceViewDesc* view),
            (object, resource, texture, view)) {
  if (object == nullptr || resource == nullptr || texture == nullptr) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC described;
  FAIRGV_RETURN_IF_FAILED(driver_resource(*resource, described));
  const CUDA_TEXTURE_DESC sampling = driver_texture(*texture);
  return pass(driver.cuTexObjectCreate, object, &described, &sampling, view);
}

FAIRGV_CALL(kContext, cudaGetTextureObjectResourceDesc,
            (cudaResourceDesc * resource, cudaTextureObject_t object), (resource, object)) {
  if (resource == nullptr) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC described;
  FAIRGV_RETURN_IF_FAILED(driver.cuTexObjectGetResourceDesc(&described, object));
  return runtime_resource(described, *resource);
}

FAIRGV_CALL(kContext, cudaGetTextureObjectTextureDesc,
            (cudaTextureDesc * texture, cudaTextureObject_t object), (texture, object)) {
  if (texture == nullptr) return cudaErrorInvalidValue;
  CUDA_TEXTURE_DESC described;
  FAIRGV_RETURN_IF_FAILED(driver.cuTexObjectGetTextureDesc(&described, object));
  *texture = runtime_texture(described);
  return cudaSuccess;
}

FAIRGV_CALL(kContext, cudaGetTextureObjectResourceViewDesc,
            (cudaResourceViewDesc * view, cudaTextureObject_t object), (view, object)) {
  return pass(driver.cuTexObjectGetResourceViewDesc, view, object);
}

FAIRGV_CALL(kContext, cudaCreateSurfaceObject,
            (cudaSurfaceObject_t * object, const cudaResourceDesc* resource), (object, resource)) {
  if (object == nullptr || resource == nullptr) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC described;
  FAIRGV_RETURN_IF_FAILED(driver_resource(*resource, described));
  return driver.cuSurfObjectCreate(object, &described);
}

FAIRGV_CALL(kContext, cudaGetSurfaceObjectResourceDesc,
            (cudaResourceDesc * resource, cudaSurfaceObject_t object), (resource, object)) {
  if (resource == nullptr) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC described;
  FAIRGV_RETURN_IF_FAILED(driver.cuSurfObjectGetResourceDesc(&described, object));
  return runtime_resource(described, *resource);
}

}  // namespace fairgv::cudart
