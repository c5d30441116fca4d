// Arrays and mipmapped arrays, made by the worker's driver.
#include "cuda-shim/api/context.hpp"
#include "cuda-shim/driver/engine.hpp"
#include "cuda-shim/driver/scheduler.hpp"
#include "cuda-shim/driver/storage.hpp"

namespace fairgv::cuda::remote {
namespace {

template <class Call>
void describe(const CUDA_ARRAY3D_DESCRIPTOR& wish, Call& call) {
  call.width = wish.Width;
  call.height = wish.Height;
  call.depth = wish.Depth;
  call.format = static_cast<std::uint32_t>(wish.Format);
  call.channels = wish.NumChannels;
  call.flags = wish.Flags;
}

}  // namespace

CUresult Engine::make_array(Context& context, std::uint64_t, Array& array) {
  const auto group = workers(context.group());
  wire::cuda::CreateArray call;
  call.id = connection.session().new_object();
  call.context = group->context();
  describe(array.description, call);
  const auto reply = ask_for_memory(context.device(), kAnySize, [&] { return connection.call(call); });
  if (!reply) return connection.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  array.storage = std::make_unique<ObjectStorage>(WorkersObject(group, call.id));
  return CUDA_SUCCESS;
}

CUresult Engine::make_mipmap(Context& context, Mipmap& mipmap) {
  const auto group = workers(context.group());
  wire::cuda::CreateMipmap call;
  call.id = connection.session().new_object();
  call.context = group->context();
  describe(mipmap.levels.front()->description, call);
  call.levels = static_cast<std::uint32_t>(mipmap.levels.size());
  const auto reply = ask_for_memory(context.device(), kAnySize, [&] { return connection.call(call); });
  if (!reply) return connection.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  mipmap.storage = std::make_unique<ObjectStorage>(WorkersObject(group, call.id));
  for (std::uint32_t level = 0; level < call.levels; ++level) {
    const wire::ObjectId id = connection.session().new_object();
    if (!connection.send(wire::cuda::NameLevel{id, call.id, level})) return connection.fault();
    mipmap.levels[level]->storage = std::make_unique<ObjectStorage>(WorkersObject(group, id));
  }
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::remote
