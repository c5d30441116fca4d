#include "cuda-shim/driver/engine.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/memory/ranges.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {
namespace {

/// Relaxed: written by the first cuInit, for everybody who asks later.
std::atomic<int> g_version{kDriverVersion};

/// Allocations that are given up because this program has memory of its own at their addresses, before one
/// fails.
constexpr std::size_t kMostUnusable = 32;

}  // namespace

CUresult Engine::open(Opened& opened) {
  const auto refuse = [](const std::string& why) {
    static std::atomic<bool> told{false};  // relaxed: one line is enough
    if (!told.exchange(true, std::memory_order_relaxed)) say(why);
    return CUDA_ERROR_NO_DEVICE;
  };
  auto identity = session::identity_from_environment();
  if (!identity) return refuse(identity.error().message);
  auto session = session::ClientSession::connect(identity.value(), session::Api::cuda);
  if (!session) return refuse(session.error().message);
  if (const auto remark = session.value()->arena_remark()) say(*remark);
  auto connection = std::make_unique<Connection>(std::move(session).value());
  auto devices = connection->call(wire::cuda::GetDevices{});
  if (!devices) return refuse("the worker of this process ended before it could say what devices it has");
  if (devices->code != CUDA_SUCCESS) return static_cast<CUresult>(devices->code);
  if (devices->devices.empty()) return CUDA_ERROR_NO_DEVICE;
  g_version.store(std::min(kDriverVersion, devices->driver_version), std::memory_order_relaxed);
  opened = {std::move(connection), std::move(*devices)};
  return CUDA_SUCCESS;
}

Engine::Engine(Opened opened)
    : owned_connection_(std::move(opened.connection)),
      connection(*owned_connection_),
      scheduler(connection),
      staging(connection),
      devices_(std::move(opened.devices)),
      shares_addresses_(devices_.arena_is_shared != 0 && connection.session().arena_at_wanted_address()) {}

int Engine::version() {
  return g_version.load(std::memory_order_relaxed);
}

CUuuid Engine::device_uuid(CUdevice device) const {
  CUuuid uuid{};
  static_assert(sizeof uuid.bytes == sizeof facts(0).uuid);
  std::memcpy(uuid.bytes, facts(device).uuid.data(), sizeof uuid.bytes);
  return uuid;
}

std::uint64_t Engine::device_memory(CUdevice device) const {
  const wire::cuda::DeviceFacts& known = facts(device);
  const auto& limits = connection.session().memory_limits();
  if (!limits || known.device >= limits->size()) return known.memory;
  return std::min(known.memory, (*limits)[known.device]);
}

CUresult Engine::memory_info(Context& context, std::uint64_t, std::size_t& free, std::size_t& total) {
  const auto reply = connection.call(wire::cuda::GetMemoryInfo{context.group()->context()});
  if (!reply) return connection.fault();
  total = std::min<std::uint64_t>(reply->total, device_memory(context.device()));
  free = std::min<std::uint64_t>(reply->free, total);
  return static_cast<CUresult>(reply->code);
}

CUresult Engine::make_group(CUcontext owner, CUdevice device, bool primary, unsigned flags,
                            std::shared_ptr<StreamGroup>& group) {
  if (const CUresult fault = connection.fault(); fault != CUDA_SUCCESS) return fault;
  const wire::ObjectId id = connection.session().new_object();
  const auto reply = connection.call(
      wire::cuda::CreateContext{id, static_cast<std::uint32_t>(device), primary ? 1U : 0U, flags});
  if (!reply) return connection.fault();
  // An id that is refused names nothing, and is lost: refusals of contexts are few.
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  group = std::make_shared<StreamGroup>(connection, owner, id, *reply);
  return CUDA_SUCCESS;
}

CUresult Engine::limit(Context& context, CUlimit which, std::size_t& value) {
  const auto reply =
      connection.call(wire::cuda::GetLimit{context.group()->context(), static_cast<std::uint32_t>(which)});
  if (!reply) return connection.fault();
  if (reply->code == CUDA_SUCCESS) value = reply->value;
  return static_cast<CUresult>(reply->code);
}

CUresult Engine::set_limit(Context& context, CUlimit which, std::size_t value) {
  const auto reply = connection.call(
      wire::cuda::SetLimit{context.group()->context(), static_cast<std::uint32_t>(which), value});
  return reply ? static_cast<CUresult>(reply->code) : connection.fault();
}

CUresult Engine::make_storage(Context& context, const MemoryWish& wish, Allocation& allocation) {
  if (wish.kind == MemoryKind::host || wish.kind == MemoryKind::managed)
    return make_pinned(context, wish, allocation);
  const auto& group = context.group();
  // Kept meanwhile, or the driver would give the same again.
  std::vector<Storage> unusable;
  wire::cuda::AllocateMemory call{group->context(), wish.size, 0, 0};
  if (wish.rows != 0) call = {group->context(), wish.width, wish.rows, wish.element_bytes};
  while (unusable.size() < kMostUnusable) {
    const auto reply = ask_for_memory(context.device(), wish.rows == 0 ? wish.size : wish.width * wish.rows,
                                      [&] { return connection.call(call); });
    if (!reply) return connection.fault();
    if (reply->code != CUDA_SUCCESS && !unusable.empty()) break;
    if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
    Storage storage(group, reply->address);
    const std::uint64_t size = wish.rows == 0 ? wish.size : reply->pitch * wish.rows;
    if (!storage.reserve(size)) {
      unusable.push_back(std::move(storage));
      continue;
    }
    allocation.begin = reply->address;
    allocation.size = size;
    if (wish.rows != 0) allocation.pitch = reply->pitch;
    allocation.storage = std::move(storage);
    return CUDA_SUCCESS;
  }
  say_addresses_taken(unusable.back().address());
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult Engine::make_pinned(Context& context, const MemoryWish& wish, Allocation& allocation) {
  if (wish.kind == MemoryKind::managed && !shares_addresses_) return CUDA_ERROR_NOT_SUPPORTED;
  if (wish.size > UINT64_MAX - kPage) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::uint64_t pages = (wish.size + kPage - 1) / kPage * kPage;
  const auto range = connection.session().allocate(pages);
  if (!range) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto reply = connection.call(wire::cuda::PinArena{context.group()->context(), *range});
  const CUresult code = reply ? static_cast<CUresult>(reply->code) : connection.fault();
  if (code != CUDA_SUCCESS) {
    connection.session().free(*range);
    return code;
  }
  allocation.begin = reinterpret_cast<std::uint64_t>(connection.session().bytes(*range));
  allocation.storage = Storage(context.group(), reply->address, *range);
  return wish.kind == MemoryKind::managed && reply->address != allocation.begin ? CUDA_ERROR_NOT_SUPPORTED
                                                                                : CUDA_SUCCESS;
}

CUresult Engine::make_array(Context& context, std::uint64_t, Array& array) {
  const CUDA_ARRAY3D_DESCRIPTOR& wish = array.description;
  const wire::ObjectId id = connection.session().new_object();
  wire::cuda::CreateArray call;
  call.id = id;
  call.context = context.group()->context();
  call.width = wish.Width;
  call.height = wish.Height;
  call.depth = wish.Depth;
  call.format = static_cast<std::uint32_t>(wish.Format);
  call.channels = wish.NumChannels;
  call.flags = wish.Flags;
  const auto reply = ask_for_memory(context.device(), kAnySize, [&] { return connection.call(call); });
  if (!reply) return connection.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  array.storage = ArrayStorage(context.group(), id);
  return CUDA_SUCCESS;
}

CUresult Engine::device_address(const Allocation& allocation, std::uint64_t host,
                                CUdeviceptr& address) const {
  if (allocation.kind == MemoryKind::registered) {
    static std::atomic<bool> told{false};  // relaxed: one line is enough
    if (!told.exchange(true, std::memory_order_relaxed)) {
      say("kernels cannot use memory of cuMemHostRegister (cudaHostRegister) through FairGV: allocate it "
          "with "
          "cuMemHostAlloc (cudaMallocHost) instead");
    }
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  address = allocation.storage.is_pinned() ? allocation.storage.address() + (host - allocation.begin) : host;
  return CUDA_SUCCESS;
}

void free_in_order(Driver& driver, const std::shared_ptr<Stream>& stream,
                   const std::shared_ptr<Allocation>& allocation) {
  if (allocation->storage.is_pinned()) {
    driver.scheduler.synchronize(stream);  // the worker unpins at once
  } else {
    wire::cuda::EnqueueFreeMemory call;
    call.command = stream->command();
    call.address = allocation->storage.address();
    driver.connection.note_free();
    driver.connection.enqueue(call);
    stream->note_command();
    allocation->storage.disown();
  }
  driver.memory.remove(*allocation);
  discharge_pool(driver, *allocation);
}

}  // namespace fairgv::cuda
