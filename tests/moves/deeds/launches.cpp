#include <algorithm>
#include <cstring>

#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

/// Rounds of all work-items of a launch together.
constexpr std::uint64_t kMostRounds = 12'000'000;

/// Few, for drivers that compile a kernel anew for each.
constexpr Triple kLocalSizes[] = {{16, 1, 1}, {8, 2, 1}, {4, 2, 2}};
constexpr std::size_t kGroupItems = 16;

std::vector<std::uint8_t> bytes_of(const void* value, std::size_t bytes) {
  std::vector<std::uint8_t> copy(bytes);
  std::memcpy(copy.data(), value, bytes);
  return copy;
}

Launch any_launch_size(Random& random, bool needs_local_size) {
  Launch launch;
  launch.dimensions = static_cast<cl_uint>(random.between(1, 3));
  launch.global = launch.local = {1, 1, 1};
  launch.has_local = needs_local_size || !random.one_in(4);
  std::size_t groups = random.one_in(6) ? random.between(1000, 6000) : random.between(1, 200);
  for (std::size_t d = launch.dimensions; d-- > 0;) {
    const std::size_t in_this = d == 0 ? groups : random.between(1, std::min<std::size_t>(groups, 12));
    groups /= in_this;
    launch.local[d] = kLocalSizes[launch.dimensions - 1][d];
    launch.global[d] = in_this * launch.local[d];
  }
  launch.has_offset = random.one_in(3);
  if (launch.has_offset)
    for (std::size_t d = 0; d < launch.dimensions; ++d) launch.offset[d] = random.below(1000);
  return launch;
}

/// Chooses and sets the arguments of one launch.
class Arguments {
 public:
  Arguments(World& world, Number kernel, bool only_buffers)
      : world_(world), kernel_(kernel), only_buffers_(only_buffers) {}

  /// False if the context lacks an object.
  bool choose() {
    const auto& parameters = model().kind->parameters;
    chosen_.assign(parameters.size(), kNone);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!choose(i, parameters[i])) return false;
    }
    return true;
  }

  void set(const Launch& launch) {
    const auto& parameters = model().kind->parameters;
    std::vector<std::size_t> order(parameters.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    world_.random.shuffle(order);
    for (const std::size_t i : order) set(i, parameters[i], launch);
  }

  std::vector<Use> uses() const {
    std::vector<Use> all;
    const auto& parameters = model().kind->parameters;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      if (chosen_[i] == kNone || parameters[i] == Parameter::kSampler) continue;
      all.push_back({world_.memories[chosen_[i]].storage, writes(parameters[i])});
    }
    return all;
  }
  std::vector<Number> memories() const {
    std::vector<Number> all;
    for (std::size_t i = 0; i < chosen_.size(); ++i)
      if (chosen_[i] != kNone && model().kind->parameters[i] != Parameter::kSampler)
        all.push_back(chosen_[i]);
    return all;
  }

 private:
  KernelModel& model() { return world_.kernels[kernel_]; }
  const KernelModel& model() const { return world_.kernels[kernel_]; }
  static bool writes(Parameter parameter) {
    return parameter == Parameter::kOut || parameter == Parameter::kImageOut;
  }

  bool choose(std::size_t index, Parameter parameter) {
    switch (parameter) {
      case Parameter::kIn:
      case Parameter::kOut:
      case Parameter::kImageIn:
      case Parameter::kImageOut:
        return choose_memory(index, parameter);
      case Parameter::kSampler:
        return choose_sampler(index);
      default:
        return true;
    }
  }

  /// Whether the kernel may use it beside what is chosen already.
  bool fits(const Memory& memory, Parameter parameter) const {
    const bool is_image = parameter == Parameter::kImageIn || parameter == Parameter::kImageOut;
    const cl_mem_flags against = writes(parameter) ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY;
    if (!memory.held || memory.context != model().context || (memory.flags & against) != 0) return false;
    if (world_.storages[memory.storage].mapped || (memory.shape == Shape::kSvm && !may_have_svm()))
      return false;
    if ((memory.shape == Shape::kImage) != is_image) return false;
    if (is_image &&
        (memory.type != model().kind->image || memory.normalized != model().kind->normalized_pixels))
      return false;
    for (const Use& use : uses()) {
      if (use.storage == memory.storage && (use.writes || writes(parameter))) return false;
    }
    return true;
  }

  /// PoCL 3.1 does not survive a launch with shared virtual memory and an image of a buffer.
  bool may_have_svm() const { return !only_buffers_ && model().kind->image != CL_MEM_OBJECT_IMAGE1D_BUFFER; }

  bool choose_memory(std::size_t index, Parameter parameter) {
    const ArgumentModel& before = model().arguments[index];
    if (before.set && !world_.random.one_in(3) && fits(world_.memories[before.object], parameter)) {
      chosen_[index] = before.object;
      return true;
    }
    std::vector<Number> fitting;
    for (std::size_t i = 0; i < world_.memories.size(); ++i)
      if (fits(world_.memories[i], parameter)) fitting.push_back(static_cast<Number>(i));
    if (fitting.empty()) return false;
    chosen_[index] = world_.random.of(fitting);
    return true;
  }

  bool choose_sampler(std::size_t index) {
    // Pixels of integers are read where they are.
    const bool exact = !model().kind->normalized_pixels;
    std::vector<Number> fitting;
    for (std::size_t i = 0; i < world_.samplers.size(); ++i) {
      const SamplerModel& each = world_.samplers[i];
      if (each.held && each.context == model().context && (each.exact || !exact))
        fitting.push_back(static_cast<Number>(i));
    }
    if (fitting.empty()) return false;
    chosen_[index] = world_.random.of(fitting);
    return true;
  }

  void set(std::size_t index, Parameter parameter, const Launch& launch) {
    ArgumentModel& argument = model().arguments[index];
    const ArgumentModel before = argument;
    ArgumentModel next{true, parameter == Parameter::kSampler, chosen_[index], 0};
    Random& random = world_.random;
    Argument value;
    bool may_stay = true;  // as it was set before
    switch (parameter) {
      case Parameter::kIn:
      case Parameter::kOut:
      case Parameter::kImageIn:
      case Parameter::kImageOut: {
        may_stay = before.object == next.object;
        if (world_.memories[next.object].shape == Shape::kSvm) {
          value = SvmArgument{next.object};
        } else {
          value = MemoryArgument{next.object};
        }
        break;
      }
      case Parameter::kSampler:
        may_stay = before.object == next.object;
        value = SamplerArgument{next.object};
        break;
      case Parameter::kCount: {
        next.elements = shortest();
        may_stay = before.elements == next.elements;
        const auto count = static_cast<cl_uint>(next.elements);
        value = Value{bytes_of(&count, sizeof(count))};
        break;
      }
      case Parameter::kLocal:
        next.elements = kGroupItems << random.below(3);
        value = LocalArgument{next.elements * sizeof(cl_uint)};
        break;
      case Parameter::kRounds: {
        const std::uint64_t items = launch.global[0] * launch.global[1] * launch.global[2];
        const std::uint64_t most =
            std::max<std::uint64_t>(1, std::min<std::uint64_t>(kMostRounds / items, 20'000));
        const auto rounds =
            static_cast<cl_uint>(random.one_in(4) ? random.between(1, most) : random.between(0, 16));
        may_stay = false;
        value = Value{bytes_of(&rounds, sizeof(rounds))};
        break;
      }
      case Parameter::kFloat: {
        const auto number = static_cast<float>(random.between(1, 1000)) / 256.0F;
        value = Value{bytes_of(&number, sizeof(number))};
        break;
      }
      case Parameter::kValue:
      case Parameter::kVector:
      case Parameter::kRecord: {
        value = Value{any_bytes(parameter)};
        break;
      }
    }
    if (before.set && may_stay && random.one_in(2)) return;
    argument = next;
    world_.emit(SetArgument{kernel_, static_cast<cl_uint>(index), std::move(value)});
  }

  std::vector<std::uint8_t> any_bytes(Parameter parameter) {
    std::vector<std::uint8_t> bytes(parameter == Parameter::kValue    ? sizeof(cl_uint)
                                    : parameter == Parameter::kVector ? sizeof(cl_uint4)
                                                                      : kRecordBytes);
    for (std::uint8_t& each : bytes) each = static_cast<std::uint8_t>(world_.random.next());
    if (parameter == Parameter::kRecord) {
      const auto c = static_cast<float>(world_.random.below(1000));  // its float is converted to an integer
      std::memcpy(bytes.data() + 16, &c, sizeof(c));
    }
    return bytes;
  }

  /// Elements of the shortest buffer among the arguments, or of an image of a buffer.
  std::size_t shortest() const {
    std::size_t least = SIZE_MAX;
    for (const Number each : memories()) {
      const Memory& memory = world_.memories[each];
      if (memory.shape != Shape::kImage) least = std::min(least, memory.bytes / sizeof(cl_uint));
      if (memory.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) least = std::min(least, memory.size[0]);
    }
    return least;
  }

  World& world_;
  Number kernel_;
  bool only_buffers_;
  std::vector<Number> chosen_;  // of each parameter
};

}  // namespace

bool argument_is_held(const World& world, const ArgumentModel& argument) {
  return argument.is_sampler ? world.samplers[argument.object].held : world.memories[argument.object].held;
}

std::optional<PreparedLaunch> prepare_launch(World& world, Number kernel, bool only_buffers) {
  Arguments arguments(world, kernel, only_buffers);
  if (!arguments.choose()) return std::nullopt;
  PreparedLaunch prepared{any_launch_size(world.random, world.kernels[kernel].kind->needs_local_size),
                          arguments.uses(), arguments.memories()};
  prepared.launch.kernel = kernel;
  arguments.set(prepared.launch);
  return prepared;
}

void launch(World& world, Number context) {
  const auto kernel = any_kernel(world, context);
  const auto queue = world.any_queue(context);
  if (!kernel || !queue) return;
  if (const auto prepared = prepare_launch(world, *kernel, false)) {
    world.enqueue(*queue, prepared->launch, prepared->uses);
  }
}

}  // namespace fairgv::moves
