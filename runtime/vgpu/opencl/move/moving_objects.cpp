#include "runtime/vgpu/opencl/move/moving_objects.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "runtime/vgpu/opencl/commands.hpp"
#include "runtime/vgpu/opencl/move/contents.hpp"
#include "runtime/vgpu/opencl/move/likeness.hpp"
#include "runtime/wire/calls/kernels.hpp"
#include "runtime/wire/calls/programs.hpp"
#include "runtime/wire/calls/session.hpp"
#include "runtime/wire/codec.hpp"

namespace fairgv::vgpu::opencl {
namespace {

struct BackEndState {
  std::uint32_t has_failed_events = 0;
  std::uint32_t front_end_reserves = 0;
  std::uint64_t kept_bytes = 0;
  std::vector<Partition> partitions;
  FAIRGV_FIELDS(has_failed_events, front_end_reserves, kept_bytes, partitions)
};

template <wire::Message M>
std::vector<std::byte> encoded_message(const M& message) {
  std::vector<std::byte> bytes;
  bytes.resize(wire::encoded_size(message));
  wire::encode(message, bytes.data());
  return bytes;
}

const Object& as_object(const void* object) {
  return *static_cast<const Object*>(object);
}

bool names_object(wire::ArgumentKind kind) {
  using Kind = wire::ArgumentKind;
  return kind == Kind::memory || kind == Kind::image || kind == Kind::sampler || kind == Kind::pipe;
}

std::string_view name_of(ObjectKind kind) {
  constexpr std::array kNames{Context::kName, Queue::kName,  Buffer::kName,
                              Program::kName, Kernel::kName, Image::kName,
                              Sampler::kName, Pipe::kName,   std::string_view("command buffer")};
  return kNames.at(static_cast<std::size_t>(kind));
}

}  // namespace

// ---- the worker that leaves

Result<void> MovingObjects::may_move() {
  if (parts_.driver.has_strays())
    return Error{"something is under way on a sub-device that it has let go of; try again"};
  if (!parts_.changed_by.empty())
    return Error{fmt::format("it has called {}, whose effect cannot be seen", parts_.changed_by)};
  bool has_pipes = false;
  parts_.objects.each<Pipe>([&](const Pipe& pipe) { has_pipes = has_pipes || pipe.handle; });
  if (has_pipes) return Error{"it has pipes, whose contents nobody can read"};
  return {};
}

bool MovingObjects::at_rest() {
  parts_.memory_waits.give_up();
  return parts_.slow_lane.idle();
}

std::uint64_t MovingObjects::contents_bytes(const void* object) {
  return opencl::contents_bytes(as_object(object));
}

Result<void> MovingObjects::read_contents(const void* object, std::span<std::byte> to) {
  return opencl::read_contents(as_object(object), device_of(as_object(object)).id, to);
}

std::vector<std::byte> MovingObjects::state() {
  BackEndState state{parts_.has_failed_events ? 1U : 0U, 0, 0, parts_.driver.partitions()};
  if (parts_.memory != nullptr) {
    const MemoryAccount::Habits habits = parts_.memory->habits();
    state.front_end_reserves = habits.front_end_reserves ? 1 : 0;
    state.kept_bytes = habits.kept;
  }
  return encoded_message(state);
}

void MovingObjects::each_object(
    const std::function<void(wire::ObjectId, const void* object, std::int32_t error)>& visit) {
  parts_.objects.each<Program>([](Program& program) { program.settle(); });
  parts_.objects.each_object([&](const Object& object) { visit(object.id, &object, object.error); });
}

/// As one call that sets all of them.
MovableObjects::Arguments MovingObjects::encoded(wire::ObjectId kernel, const ArgumentSet& arguments) const {
  std::vector<wire::ArgumentUpdate> updates;
  std::vector<std::byte> values;
  for (std::uint32_t index = 0; index < arguments.arguments.size(); ++index) {
    const auto& argument = arguments.arguments[index];
    if (argument == nullptr) continue;
    wire::ArgumentUpdate update{index, argument->kind, argument->bytes, 0};
    if (argument->object != nullptr) {
      update.position = argument->object->id.raw;
    } else if (argument->address != nullptr) {
      update.position = static_cast<std::uint64_t>(argument->address - parts_.segment.arena().data());
    } else {
      update.position = values.size();
      values.insert(values.end(), argument->value.begin(), argument->value.end());
    }
    updates.push_back(update);
  }
  wire::SetKernelArguments call;
  call.kernel = kernel;
  call.updates = updates;
  call.values = values;
  return {kernel, &arguments, encoded_message(call)};
}

std::optional<MovableObjects::Arguments> MovingObjects::arguments_of(const Node& command) {
  const auto* const launch = dynamic_cast<const Launch*>(&command);
  if (launch == nullptr) return std::nullopt;
  return encoded(launch->kernel().id, launch->arguments());
}

std::vector<MovableObjects::Arguments> MovingObjects::arguments_of_kernels() {
  std::vector<Arguments> all;
  parts_.objects.each<Kernel>([&](const Kernel& kernel) {
    if (kernel.error == CL_SUCCESS) all.push_back(encoded(kernel.id, *kernel.arguments));
  });
  return all;
}

/// Of the object's context; any will do.
const Device& MovingObjects::device_of(const Object& object) const {
  const auto& context = object.kind() == ObjectKind::image ? *static_cast<const Image&>(object).context
                                                           : *static_cast<const Buffer&>(object).context;
  return parts_.driver.devices()[context.devices.front()];
}

// ---- the same, while it serves

void MovingObjects::prepare_to_leave(bool prepares) {
  writes_.turn(prepares);
  reads_.drop();
  if (parts_.memory != nullptr) parts_.memory->withhold(prepares);
}

std::unordered_set<std::uint64_t> MovingObjects::take_written(std::span<const NodePtr> under_way) {
  auto written = writes_.take();
  for (const NodePtr& node : under_way) {
    if (const auto* const command = dynamic_cast<const QueueCommand*>(node.get()))
      command->note_writes(writes_);
  }
  return written;
}

void MovingObjects::copy_contents(wire::ObjectId object, int file, std::uint64_t offset,
                                  std::shared_ptr<ContentsCopy> copy, Executor::Loop& loop) {
  const auto found = parts_.objects.find_any(object);
  if (!found) return copy->fail();
  reads_.add(found, device_of(*found), file, offset, copy, loop);
}

bool MovingObjects::only_makes(wire::Opcode makes) const {
  return makes == wire::CreateContext::opcode || makes == wire::CreateProgramWithSource::opcode ||
         makes == wire::CreateProgramWithBinary::opcode || makes == wire::CreateProgramWithIl::opcode ||
         makes == wire::CreateProgramWithBuiltInKernels::opcode || makes == wire::LinkProgram::opcode;
}

// ---- the worker that takes over

Result<void> MovingObjects::move_devices(std::span<const std::pair<std::uint32_t, std::uint32_t>> moves,
                                         std::span<const std::uint32_t> forced) {
  const auto roots = parts_.driver.root_devices();
  const std::vector<Device> before(roots.begin(), roots.end());
  for (const auto& [from, to] : moves) {
    if (from >= before.size() || to >= before.size())
      return Error{fmt::format("a move from device {} to {} of {}", from, to, before.size())};
    const bool by_force = std::find(forced.begin(), forced.end(), from) != forced.end();
    if (const auto difference = lacks(before[from].id, before[to].id);
        difference && !(by_force && !difference->excludes))
      return refusal_of(from, to, *difference);
    parts_.driver.replace(from, before[to]);
  }
  return {};
}

Result<void> MovingObjects::put_state(std::span<const std::byte> state) {
  BackEndState given;
  if (!wire::decode(state, given)) return Error{"an image with a state that is none of OpenCL's"};
  parts_.has_failed_events = given.has_failed_events != 0;
  if (parts_.memory != nullptr) parts_.memory->take_habits({given.front_end_reserves != 0, given.kept_bytes});
  return parts_.driver.make_again(given.partitions);
}

void MovingObjects::finish_builds() {
  parts_.slow_lane.wait_until_idle();
}

Result<void> MovingObjects::write_contents(wire::ObjectId object, std::span<const std::byte> from) {
  const auto found = parts_.objects.find_any(object);
  if (!found || opencl::contents_bytes(*found) != from.size())
    return Error{
        fmt::format("an image with {} bytes of contents for object {}", from.size(), object.index())};
  return opencl::write_contents(*found, device_of(*found).id, from);
}

Result<void> MovingObjects::put_arguments(std::span<const std::byte> encoded) {
  wire::SetKernelArguments call;
  if (!wire::decode(encoded, call)) return Error{"an image with arguments that are none"};
  FAIRGV_TRY(kernel, parts_.objects.get<Kernel>(call.kernel));
  if (kernel.value()->error != CL_SUCCESS) return {};
  // An object that the program has released since may be gone: the launch fails then, as it would have.
  std::vector<wire::ArgumentUpdate> updates;
  std::copy_if(call.updates.begin(), call.updates.end(), std::back_inserter(updates),
               [this](const wire::ArgumentUpdate& update) {
                 return !names_object(update.kind) ||
                        parts_.objects.find_any(wire::ObjectId{update.position});
               });
  FAIRGV_TRY(arguments, updated({}, updates, call.values, kernel.value()->takes,
                                {parts_.objects, parts_.segment.arena()}));
  kernel.value()->arguments = std::move(arguments).value();
  return {};
}

Result<void> MovingObjects::check_error(wire::ObjectId object, std::int32_t error) {
  const auto found = parts_.objects.find_any(object);
  if (!found) return Error{fmt::format("an image without the call that has made object {}", object.index())};
  if (found->kind() == ObjectKind::program) static_cast<Program&>(*found).settle();
  if (error == CL_SUCCESS && found->error != CL_SUCCESS) {
    return Error{fmt::format("{} {} cannot be made there: the driver answers {}", name_of(found->kind()),
                             object.index(), found->error)};
  }
  found->error = error;
  return {};
}

Result<void> MovingObjects::release(std::uint64_t number, wire::ObjectId object) {
  FAIRGV_TRY(released, parts_.objects.take(object));
  released.value()->release();
  parts_.journal.release(number, object, std::weak_ptr<const void>(released.value()));
  return {};
}

}  // namespace fairgv::vgpu::opencl
