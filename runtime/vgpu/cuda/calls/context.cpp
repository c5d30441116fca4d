// Devices, contexts and streams.
#include <fmt/core.h>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/handlers.hpp"

namespace fairgv::vgpu::cuda {
namespace {

/// Makes the driver's context. It is current on the calling thread if that succeeds.
CUresult make_handle(Context& context, unsigned flags) {
  const Functions& driver = context.driver;
  const CUresult code = context.is_primary
                            ? driver.cuDevicePrimaryCtxRetain(&context.handle, context.device.handle)
                            : driver.create_context(&context.handle, flags, context.device.handle);
  if (code != CUDA_SUCCESS) {
    context.handle = nullptr;
    return code;
  }
  current_context() = nullptr;  // the driver may have changed it
  return use(driver, context.handle);
}

}  // namespace

Result<wire::cuda::DevicesReply> Handlers::handle(const wire::cuda::GetDevices&) {
  wire::cuda::DevicesReply reply;
  reply.driver_version = driver_.version();
  reply.arena_is_shared = segment_.at_wanted_address() ? 1 : 0;
  for (const Device* device : devices()) reply.devices.push_back(device->facts);
  if (reply.devices.empty()) reply.code = CUDA_ERROR_NO_DEVICE;
  return reply;
}

/// Those that the program may use: their places here are the ordinals that it sees.
std::vector<const Device*> Handlers::devices() const {
  std::vector<const Device*> list;
  for (const Device& device : driver_.devices()) {
    if (settings_.access.may_use(device.facts.device)) list.push_back(&device);
  }
  return list;
}

Result<wire::cuda::ContextReply> Handlers::handle(const wire::cuda::CreateContext& call) {
  const std::vector<const Device*> usable = devices();
  wire::cuda::ContextReply reply;
  if (call.ordinal >= driver_.devices().size()) return Error{fmt::format("no device {}", call.ordinal)};
  if (call.ordinal >= usable.size()) {
    reply.code = CUDA_ERROR_DEVICE_UNAVAILABLE;
    return reply;
  }
  const Device& device = *usable[call.ordinal];
  std::shared_ptr<Context> context;
  if (call.is_primary != 0) context = primary_contexts_[device.handle].lock();
  if (!context) {
    context = std::make_shared<Context>(functions(), device, call.is_primary != 0);
    context->ends = ends_ ? &*ends_ : nullptr;
    context->issued = &words_.issued();
    if (const CUresult code = make_handle(*context, call.flags); code != CUDA_SUCCESS) {
      reply.code = code;
      return reply;
    }
    if (call.is_primary != 0) primary_contexts_[device.handle] = context;
  }
  if (const CUresult code = use(functions(), context->handle); code != CUDA_SUCCESS) {
    reply.code = code;
    return reply;
  }
  unsigned version = 0;
  functions().cuCtxGetApiVersion(context->handle, &version);
  reply.api_version = version;
  functions().cuCtxGetStreamPriorityRange(&reply.least_priority, &reply.greatest_priority);
  FAIRGV_CHECK(objects_.insert(call.id, std::move(context)));
  return reply;
}

Result<wire::cuda::LimitReply> Handlers::handle(const wire::cuda::GetLimit& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  std::size_t value = 0;
  CUresult code = use(functions(), context.value()->handle);
  if (code == CUDA_SUCCESS) code = functions().cuCtxGetLimit(&value, static_cast<CUlimit>(call.limit));
  return wire::cuda::LimitReply{code, value};
}

Result<wire::cuda::LimitReply> Handlers::handle(const wire::cuda::SetLimit& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  std::size_t value = call.value;
  // Its heap was made with this limit, which cannot be set any more.
  if (call.limit == CU_LIMIT_MALLOC_HEAP_SIZE && loop().is_restoring() && context.value()->has_placed_heap)
    return wire::cuda::LimitReply{CUDA_SUCCESS, value};
  CUresult code = use(functions(), context.value()->handle);
  if (code == CUDA_SUCCESS) code = functions().cuCtxSetLimit(static_cast<CUlimit>(call.limit), value);
  if (code == CUDA_SUCCESS) code = functions().cuCtxGetLimit(&value, static_cast<CUlimit>(call.limit));
  return wire::cuda::LimitReply{code, value};
}

Result<void> Handlers::handle(const wire::cuda::CreateStream& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  if (call.kind > wire::cuda::StreamKind::non_blocking) return Error{"a stream of no known kind"};
  auto stream = std::make_shared<Stream>();
  stream->context = std::move(context).value();
  stream->stream_kind = call.kind;
  stream->lane = std::make_shared<Lane>(true, stream->context->device.facts.device, Clock::host);
  stream->code = use(functions(), stream->context->handle);
  if (stream->code == CUDA_SUCCESS) {
    // The driver's streams are all independent: the command graph orders them.
    stream->code =
        functions().cuStreamCreateWithPriority(&stream->handle, CU_STREAM_NON_BLOCKING, call.priority);
  }
  if (stream->code != CUDA_SUCCESS) stream->handle = nullptr;
  Context& owner = *stream->context;
  std::erase_if(owner.blocking, [](const auto& other) { return other.expired(); });
  if (call.kind == wire::cuda::StreamKind::legacy) {
    // The program has released the one before it, if it is made again.
    if (!loop().is_restoring() && objects_.get<Stream>(owner.legacy_id))
      return Error{"a second legacy stream in one context"};
    if (auto former = owner.legacy.lock()) {
      // Released with commands that have not ended, or are not forgotten yet: new commands come after them.
      stream->last = former->last;
      owner.blocking.push_back(std::move(former));
    }
    owner.legacy = stream;
    owner.legacy_id = call.id;
  } else if (call.kind == wire::cuda::StreamKind::blocking) {
    owner.blocking.push_back(stream);
  }
  return objects_.insert(call.id, std::move(stream));
}

Result<void> Handlers::handle(const wire::ReleaseObject& call) {
  executor_.note_release();
  FAIRGV_TRY(released, objects_.take(call.id));
  released.value()->release();
  journal().release(loop().request().number, call.id, std::weak_ptr<const void>(released.value()));
  return {};
}

}  // namespace fairgv::vgpu::cuda
