#include "cuda-shim/driver/engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/objects.hpp"
#include "cuda-shim/driver/devices/visible.hpp"
#include "cuda-shim/driver/storage.hpp"
#include "runtime/base/page.hpp"
#include "runtime/session/client/arena_remark.hpp"
#include "runtime/session/client/standard_error.hpp"

namespace fairgv::cuda::remote {
namespace {

/// How many allocations are given up, because this program has memory of its own at their addresses, before
/// the request fails.
constexpr std::size_t kMostUnusable = 32;

std::vector<DeviceDescription> describe(const wire::cuda::DevicesReply& devices,
                                        const std::optional<std::vector<std::uint64_t>>& limits) {
  std::vector<DeviceDescription> descriptions;
  for (const wire::cuda::DeviceFacts& facts : devices.devices) {
    DeviceDescription& made = descriptions.emplace_back();
    made.name = facts.name;
    static_assert(sizeof made.uuid.bytes == sizeof facts.uuid);
    std::memcpy(made.uuid.bytes, facts.uuid.data(), sizeof made.uuid.bytes);
    made.pci_bus_id = facts.pci_bus_id;
    made.memory = facts.memory;
    made.sets_conditions = facts.sets_conditions != 0;
    if (limits && facts.device < limits->size()) made.memory = std::min(made.memory, (*limits)[facts.device]);
  }
  return descriptions;
}

/// For the driver's last messages.
constexpr std::chrono::milliseconds kPatience{100};

}  // namespace

CUresult Engine::open(Opened& opened) {
  const auto refuse = [](const std::string& why) {
    static std::atomic<bool> told{false};  // relaxed: one line is enough
    if (!told.exchange(true, std::memory_order_relaxed)) session::say(why);
    return CUDA_ERROR_NO_DEVICE;
  };
  auto identity = session::identity_from_environment();
  if (!identity) return refuse(identity.error().message);
  auto session = session::ClientSession::connect(identity.value(), session::Api::cuda);
  if (!session) return refuse(session.error().message);
  if (const auto remark = session::arena_remark(session.value()->segment())) session::say(*remark);
  auto connection = std::make_unique<Connection>(std::move(session).value());
  auto devices = connection->call(wire::cuda::GetDevices{});
  if (!devices) return refuse("the worker of this process ended before it could say what devices it has");
  if (devices->code != CUDA_SUCCESS) return static_cast<CUresult>(devices->code);
  const char* const wanted = std::getenv("CUDA_VISIBLE_DEVICES");
  auto ordinals = visible_devices(wanted == nullptr ? std::nullopt : std::optional<std::string_view>(wanted),
                                  devices->devices);
  if (ordinals.empty()) return CUDA_ERROR_NO_DEVICE;
  std::vector<wire::cuda::DeviceFacts> visible;
  for (const std::uint32_t ordinal : ordinals) visible.push_back(devices->devices[ordinal]);
  devices->devices = std::move(visible);
  opened = {std::move(connection), std::move(*devices), std::move(ordinals)};
  return CUDA_SUCCESS;
}

Engine::Engine(Opened opened)
    : owned_connection_(std::move(opened.connection)),
      connection(*owned_connection_),
      staging_(connection),
      scheduler_(connection, staging_),
      devices_(std::move(opened.devices)),
      ordinals_(std::move(opened.ordinals)),
      descriptions_(describe(devices_, connection.session().facts().memory_limits)),
      shares_addresses_(devices_.arena_is_shared != 0 && connection.session().segment().at_wanted_address()) {
}

void Engine::stop() {
  connection.session().hear_driver(kPatience);
}

int Engine::version() const {
  return std::min(kDriverVersion, devices_.driver_version);
}

CUresult Engine::memory_info(Context& context, std::uint64_t, std::size_t& free, std::size_t& total) {
  const auto reply = connection.call(wire::cuda::GetMemoryInfo{workers(context.group())->context()});
  if (!reply) return connection.fault();
  const DeviceDescription& device = descriptions_[static_cast<std::size_t>(context.device())];
  total = std::min<std::uint64_t>(reply->total, device.memory);
  free = std::min<std::uint64_t>(reply->free, total);
  return static_cast<CUresult>(reply->code);
}

CUresult Engine::make_group(CUcontext owner, CUdevice device, bool primary, unsigned flags,
                            std::shared_ptr<cuda::StreamGroup>& group) {
  if (const CUresult fault = connection.fault(); fault != CUDA_SUCCESS) return fault;
  const wire::ObjectId id = connection.session().new_object();
  const auto reply = connection.call(
      wire::cuda::CreateContext{id, ordinals_[static_cast<std::size_t>(device)], primary ? 1U : 0U, flags});
  if (!reply) return connection.fault();
  // A refused id names nothing, and is lost: refusals of contexts are few.
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  group = std::make_shared<StreamGroup>(connection, owner, id, *reply);
  return CUDA_SUCCESS;
}

CUresult Engine::limit(Context& context, CUlimit which, std::size_t& value) {
  const auto reply = connection.call(
      wire::cuda::GetLimit{workers(context.group())->context(), static_cast<std::uint32_t>(which)});
  if (!reply) return connection.fault();
  if (reply->code == CUDA_SUCCESS) value = reply->value;
  return static_cast<CUresult>(reply->code);
}

CUresult Engine::set_limit(Context& context, CUlimit which, std::size_t value) {
  const auto reply = connection.call(
      wire::cuda::SetLimit{workers(context.group())->context(), static_cast<std::uint32_t>(which), value});
  return reply ? static_cast<CUresult>(reply->code) : connection.fault();
}

CUresult Engine::make_storage(Context& context, const MemoryWish& wish, Allocation& allocation) {
  if (wish.kind == MemoryKind::host || wish.kind == MemoryKind::managed)
    return make_pinned(context, wish, allocation);
  const auto group = workers(context.group());
  // Kept meanwhile, or the driver would give the same address again.
  std::vector<std::unique_ptr<MemoryStorage>> unusable;
  wire::cuda::AllocateMemory call{group->context(), wish.size, 0, 0};
  if (wish.rows != 0) call = {group->context(), wish.width, wish.rows, wish.element_bytes};
  while (unusable.size() < kMostUnusable) {
    const auto reply = ask_for_memory(context.device(), wish.rows == 0 ? wish.size : wish.width * wish.rows,
                                      [&] { return connection.call(call); });
    if (!reply) return connection.fault();
    if (reply->code != CUDA_SUCCESS && !unusable.empty()) break;
    if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
    auto storage = std::make_unique<MemoryStorage>(group, reply->address);
    const std::uint64_t size = wish.rows == 0 ? wish.size : reply->pitch * wish.rows;
    if (!storage->reserve(size)) {
      unusable.push_back(std::move(storage));
      continue;
    }
    allocation.begin = reply->address;
    allocation.begin_on_device = reply->address;
    allocation.size = size;
    if (wish.rows != 0) allocation.pitch = reply->pitch;
    allocation.storage = std::move(storage);
    return CUDA_SUCCESS;
  }
  say_addresses_taken(unusable.back()->address());
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult Engine::make_pinned(Context& context, const MemoryWish& wish, Allocation& allocation) {
  if (wish.kind == MemoryKind::managed && !shares_addresses_) return CUDA_ERROR_NOT_SUPPORTED;
  if (wish.size > UINT64_MAX - kPageBytes) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto group = workers(context.group());
  const std::uint64_t pages = round_up_to_page(wish.size);
  const auto range = connection.session().allocate(pages);
  if (!range) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto reply = connection.call(wire::cuda::PinArena{group->context(), *range});
  const CUresult code = reply ? static_cast<CUresult>(reply->code) : connection.fault();
  if (code != CUDA_SUCCESS) {
    connection.session().free(*range);
    return code;
  }
  allocation.begin = reinterpret_cast<std::uint64_t>(connection.session().bytes(*range));
  allocation.begin_on_device = reply->address;
  allocation.storage = std::make_unique<MemoryStorage>(group, reply->address, *range);
  return wish.kind == MemoryKind::managed && reply->address != allocation.begin ? CUDA_ERROR_NOT_SUPPORTED
                                                                                : CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::remote

namespace fairgv::cuda {

CUresult open_engine(std::unique_ptr<Engine>& engine) {
  remote::Engine::Opened opened;
  if (const CUresult code = remote::Engine::open(opened); code != CUDA_SUCCESS) return code;
  engine = std::make_unique<remote::Engine>(std::move(opened));
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda
