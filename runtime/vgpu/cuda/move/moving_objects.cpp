#include "runtime/vgpu/cuda/move/moving_objects.hpp"

#include <cuda.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "runtime/vgpu/cuda/move/contents.hpp"
#include "runtime/vgpu/cuda/move/likeness.hpp"
#include "runtime/vgpu/cuda/move/own_addresses.hpp"
#include "runtime/wire/calls/cuda/modules.hpp"
#include "runtime/wire/codec.hpp"

namespace fairgv::vgpu::cuda {
namespace {

struct CudaState {
  struct Place {
    std::uint64_t object = 0, address = 0;
  };
  std::uint64_t freed_in_order = 0;
  std::uint64_t next_physical = 0;
  std::uint64_t kept_bytes = 0;
  std::uint32_t front_end_reserves = 0;
  std::uint32_t late_errors = 0;
  std::uint32_t arena_is_shared = 0;
  std::vector<Place> places;
  FAIRGV_FIELDS(freed_in_order, next_physical, kept_bytes, front_end_reserves, late_errors, arena_is_shared,
                places)
};

const Object& object_at(const void* object) {
  return *static_cast<const Object*>(object);
}

std::string_view kind_name(ObjectKind kind) {
  constexpr std::array kNames{Context::kName, Stream::kName,  Module::kName,  Function::kName, Array::kName,
                              Mipmap::kName,  Texture::kName, Surface::kName, Linked::kName};
  return kNames.at(static_cast<std::size_t>(kind));
}

/// Why it could not be made, as the driver says it.
std::int32_t error_of(const Object& object) {
  if (object.kind() == ObjectKind::stream) return static_cast<const Stream&>(object).code;
  if (object.kind() == ObjectKind::module) return static_cast<const Module&>(object).code();
  if (object.kind() == ObjectKind::linked) return static_cast<const Linked&>(object).outcome->code;
  return CUDA_SUCCESS;
}

/// 0: it has none that the program knows.
std::uint64_t address_of(const Object& object) {
  if (object.kind() == ObjectKind::module) return memory_of(static_cast<const Module&>(object)).address;
  if (object.kind() == ObjectKind::texture) return static_cast<const Texture&>(object).handle;
  if (object.kind() == ObjectKind::surface) return static_cast<const Surface&>(object).handle;
  return 0;
}

}  // namespace

// ---- the worker that leaves

Result<void> MovingObjects::may_move() {
  const Functions& driver = parts_.driver.functions();
  if (driver.place_next == nullptr) FAIRGV_CHECK(may_be_mapped());
  if (const CUresult fault = parts_.late_errors.fault(); fault != CUDA_SUCCESS)
    return Error{fmt::format("its device has failed for good: {}", describe(driver, fault))};
  if (parts_.allocations.lent().is_in_use())
    return Error{"it shares memory with other processes, which have that of this worker"};
  bool has_context = false;
  parts_.objects.each<Context>([&](const Context&) { has_context = true; });
  if (!has_context && !parts_.ranges.is_empty())
    return Error{"it has ranges of addresses or physical memory, and no context"};
  return {};
}

/// Over a driver that chooses addresses by itself.
Result<void> MovingObjects::may_be_mapped() const {
  if (!has_virtual_memory(parts_.driver.functions()))
    return Error{
        "its CUDA driver has no virtual memory management, by which memory could keep its addresses"};
  for (const auto& record : parts_.journal.records()) {
    wire::cuda::LoadModule load;
    if (record->opcode != wire::cuda::LoadModule::opcode) continue;
    if (!wire::decode(record->call, load)) return Error{"it has loaded a module by a call that is none"};
    const auto context = parts_.objects.get<Context>(load.context);
    const Device& device = context ? context.value()->device : parts_.driver.devices().front();
    if (const auto why = own_addresses(load.image, device.capability())) {
      return Error{
          fmt::format("over its CUDA driver, which chooses addresses by itself, module {} cannot: {}",
                      record->object.index(), *why)};
    }
  }
  return {};
}

bool MovingObjects::at_rest() {
  parts_.memory_waits.give_up();
  return parts_.slow_lane.idle() && parts_.words.at_rest();
}

std::uint64_t MovingObjects::contents_bytes(const void* object) {
  if (object_at(object).kind() != ObjectKind::context) return cuda::contents_bytes(object_at(object));
  const bool is_first = told_.empty();
  if (!told_.insert(object).second) return 0;
  return book_.begin(static_cast<const Context&>(object_at(object)), is_first);
}

Result<void> MovingObjects::read_contents(const void* object, std::span<std::byte> to) {
  if (object_at(object).kind() == ObjectKind::context) return book_.read(to);
  return cuda::read_contents(object_at(object), to);
}

std::vector<std::byte> MovingObjects::state() {
  told_.clear();
  CudaState state;
  state.freed_in_order = parts_.allocations.freed_or_ended();
  state.next_physical = parts_.ranges.next_number();
  state.late_errors = parts_.late_errors.count();
  state.arena_is_shared = parts_.segment.at_wanted_address() ? 1 : 0;
  if (parts_.memory != nullptr) {
    const MemoryAccount::Habits habits = parts_.memory->habits();
    state.front_end_reserves = habits.front_end_reserves ? 1 : 0;
    state.kept_bytes = habits.kept;
  }
  const auto add_place = [&state](wire::ObjectId id, const Object& object) {
    if (const std::uint64_t address = address_of(object); address != 0)
      state.places.push_back({id.raw, address});
  };
  parts_.objects.each_id(add_place);
  for (const Journal::Used& used : parts_.journal.used()) add_place(used.object, object_at(used.it.get()));
  std::vector<std::byte> bytes;
  bytes.resize(wire::encoded_size(state));
  wire::encode(state, bytes.data());
  return bytes;
}

void MovingObjects::each_object(
    const std::function<void(wire::ObjectId, const void* object, std::int32_t error)>& visit) {
  parts_.objects.each_id(
      [&](wire::ObjectId id, const Object& object) { visit(id, &object, error_of(object)); });
}

// ---- the worker that takes over

Result<void> MovingObjects::move_devices(std::span<const std::pair<std::uint32_t, std::uint32_t>> moves,
                                         std::span<const std::uint32_t> forced) {
  const std::vector<Device> before = parts_.driver.devices();
  const auto find = [&before](std::uint32_t number) {
    std::size_t ordinal = 0;
    while (ordinal < before.size() && before[ordinal].facts.device != number) ++ordinal;
    return ordinal;
  };
  for (const auto& [from, to] : moves) {
    const std::size_t place = find(from);
    if (place == before.size()) continue;  // not one of CUDA's: this program has nothing there
    const std::size_t target = find(to);
    if (target == before.size()) return Error{fmt::format("CUDA has no device {} there", to)};
    const bool by_force = std::find(forced.begin(), forced.end(), from) != forced.end();
    if (const auto difference = lacks(before[place].facts, before[target].facts);
        difference && !(by_force && !difference->excludes))
      return refusal_of(from, to, *difference);
    parts_.driver.replace(place, before[target]);
  }
  return {};
}

Result<void> MovingObjects::put_state(std::span<const std::byte> state) {
  CudaState given;
  if (!wire::decode(state, given)) return Error{"an image with a state that is none of CUDA's"};
  if (given.arena_is_shared != 0 && !parts_.segment.at_wanted_address())
    return Error{"the program's own memory would not lie at its addresses there"};
  parts_.allocations.begin_at(given.freed_in_order);
  parts_.ranges.begin_at(given.next_physical);
  parts_.late_errors.begin_at(given.late_errors);
  if (parts_.memory != nullptr) parts_.memory->take_habits({given.front_end_reserves != 0, given.kept_bytes});
  for (const auto& place : given.places) parts_.places.put(wire::ObjectId{place.object}, place.address);
  return {};
}

Result<void> MovingObjects::write_contents(wire::ObjectId object, std::span<const std::byte> from) {
  const auto found = parts_.objects.find_any(object);
  if (found && found->kind() == ObjectKind::context)
    return book_.write(std::static_pointer_cast<Context>(found), from);
  if (!found || cuda::contents_bytes(*found) != from.size())
    return Error{
        fmt::format("an image with {} bytes of contents for object {}", from.size(), object.index())};
  return cuda::write_contents(*found, from);
}

Result<void> MovingObjects::put_arguments(std::span<const std::byte>) {
  return Error{"an image with arguments of a kernel, which CUDA's do not keep"};
}

Result<void> MovingObjects::check_error(wire::ObjectId object, std::int32_t error) {
  const auto found = parts_.objects.find_any(object);
  if (!found) return Error{fmt::format("an image without the call that has made object {}", object.index())};
  const std::int32_t now = error_of(*found);
  if (now == error) return {};
  return Error{fmt::format("{} {} would be another there: the driver answers {} instead of {}",
                           kind_name(found->kind()), object.index(), now, error)};
}

Result<void> MovingObjects::release(std::uint64_t number, wire::ObjectId object) {
  FAIRGV_TRY(released, parts_.objects.take(object));
  released.value()->release();
  parts_.journal.release(number, object, std::weak_ptr<const void>(released.value()));
  return {};
}

}  // namespace fairgv::vgpu::cuda
