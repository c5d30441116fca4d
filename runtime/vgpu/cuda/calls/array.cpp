// Arrays and mipmapped arrays, charged before they are made.
#include <fmt/core.h>

#include <algorithm>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/handlers.hpp"
#include "runtime/wire/calls/cuda/facts.hpp"
#include "runtime/wire/calls/cuda/levels.hpp"

namespace fairgv::vgpu::cuda {
namespace {

/// Of all elements of `levels` levels; the largest number if it does not fit 64 bits.
template <class Call>
std::uint64_t bytes_of(const Call& call, unsigned levels) {
  const std::uint64_t channel = wire::cuda::channel_bytes(static_cast<CUarray_format>(call.format));
  const bool layers = (call.flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  std::uint64_t total = 0;
  for (unsigned level = 0; level < levels; ++level) {
    const auto extents = wire::cuda::level_extents({call.width, call.height, call.depth}, layers, level);
    std::uint64_t bytes = std::max<std::uint64_t>(channel, 1) * call.channels;
    for (const std::uint64_t extent : {extents.width, extents.height, extents.depth}) {
      if (__builtin_mul_overflow(bytes, std::max<std::uint64_t>(extent, 1), &bytes)) return UINT64_MAX;
    }
    if (__builtin_add_overflow(total, bytes, &total)) return UINT64_MAX;
  }
  return total;
}

template <class Call>
CUDA_ARRAY3D_DESCRIPTOR description_of(const Call& call) {
  CUDA_ARRAY3D_DESCRIPTOR description{};
  description.Width = call.width;
  description.Height = call.height;
  description.Depth = call.depth;
  description.Format = static_cast<CUarray_format>(call.format);
  description.NumChannels = call.channels;
  description.Flags = call.flags;
  return description;
}

/// With all levels, or not at all.
CUresult make_mipmap(const Functions& driver, unsigned levels, Mipmap& mipmap) {
  if (driver.cuMipmappedArrayCreate == nullptr || driver.cuMipmappedArrayDestroy == nullptr ||
      driver.cuMipmappedArrayGetLevel == nullptr) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  CUresult code = use(driver, mipmap.context->handle);
  if (code == CUDA_SUCCESS) code = driver.cuMipmappedArrayCreate(&mipmap.handle, &mipmap.description, levels);
  if (code != CUDA_SUCCESS) {
    mipmap.handle = nullptr;
    return code;
  }
  mipmap.levels.resize(levels);
  for (unsigned level = 0; level < levels && code == CUDA_SUCCESS; ++level)
    code = driver.cuMipmappedArrayGetLevel(&mipmap.levels[level], mipmap.handle, level);
  return code;
}

}  // namespace

Result<wire::cuda::CodeReply> Handlers::handle(const wire::cuda::CreateArray& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  FAIRGV_TRY(charged, charge(*context.value(), bytes_of(call, 1)));
  if (!charged.value()) return wire::cuda::CodeReply{CUDA_ERROR_OUT_OF_MEMORY};
  auto array = std::make_shared<Array>();
  array->context = std::move(context).value();
  array->charge = std::move(*charged.value());
  array->description = description_of(call);
  CUresult code = use(functions(), array->context->handle);
  if (code == CUDA_SUCCESS) code = functions().cuArray3DCreate(&array->handle, &array->description);
  if (code != CUDA_SUCCESS) {
    array->handle = nullptr;
    return wire::cuda::CodeReply{code};
  }
  FAIRGV_CHECK(objects_.insert(call.id, std::move(array)));
  return wire::cuda::CodeReply{CUDA_SUCCESS};
}

Result<wire::cuda::CodeReply> Handlers::handle(const wire::cuda::CreateMipmap& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  const bool layers = (call.flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  const unsigned most = wire::cuda::most_levels({call.width, call.height, call.depth}, layers);
  if (call.levels == 0 || call.levels > most)
    return Error{fmt::format("a mipmapped array of {} levels, of which it can have {}", call.levels, most)};
  FAIRGV_TRY(charged, charge(*context.value(), bytes_of(call, call.levels)));
  if (!charged.value()) return wire::cuda::CodeReply{CUDA_ERROR_OUT_OF_MEMORY};
  auto mipmap = std::make_shared<Mipmap>();
  mipmap->context = std::move(context).value();
  mipmap->charge = std::move(*charged.value());
  mipmap->description = description_of(call);
  const CUresult code = make_mipmap(functions(), call.levels, *mipmap);
  if (code != CUDA_SUCCESS) return wire::cuda::CodeReply{code};
  FAIRGV_CHECK(objects_.insert(call.id, std::move(mipmap)));
  return wire::cuda::CodeReply{CUDA_SUCCESS};
}

Result<void> Handlers::handle(const wire::cuda::NameLevel& call) {
  FAIRGV_TRY(mipmap, objects_.get<Mipmap>(call.mipmap));
  if (call.level >= mipmap.value()->levels.size())
    return Error{fmt::format("level {} of {}", call.level, mipmap.value()->levels.size())};
  auto array = std::make_shared<Array>();
  array->context = mipmap.value()->context;
  array->handle = mipmap.value()->levels[call.level];
  array->mipmap = std::move(mipmap).value();
  return objects_.insert(call.id, std::move(array));
}

}  // namespace fairgv::vgpu::cuda
