// computeLoop: a kernel of settable length. Every work-item iterates a linear congruential generator; the
// iteration count is calibrated so that one launch takes about --kernel-us. One launch per round,
// asynchronous. Small work-groups make a grid of many that is not large in memory.

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/launcher.hpp"
#include "tests/workloads/support/verify.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {
namespace {

constexpr std::size_t kLargestGroup = 64;
constexpr std::uint32_t kMultiplier = 1664525;
constexpr std::uint32_t kIncrement = 1013904223;

constexpr const char* kSource = R"(
__kernel void iterate(__global uint* restrict output, __global const uint* restrict input,
                      const uint iterations, const uint multiplier, const uint increment) {
  const uint item = get_global_id(0);
  uint value = input[item];
  for (uint iteration = 0; iteration < iterations; ++iteration) value = value * multiplier + increment;
  output[item] = value;
}
)";

/// x -> factor * x + offset modulo 2^32.
struct AffineMap {
  std::uint32_t factor = 1;
  std::uint32_t offset = 0;

  std::uint32_t operator()(std::uint32_t x) const { return factor * x + offset; }

  /// This map after `inner`.
  AffineMap after(AffineMap inner) const { return {factor * inner.factor, factor * inner.offset + offset}; }
};

/// `iterations` steps of the generator as one map, by repeated squaring: the host checks any kernel length.
AffineMap generator_steps(std::uint64_t iterations) {
  AffineMap steps;
  AffineMap power = {kMultiplier, kIncrement};
  for (; iterations > 0; iterations >>= 1U) {
    if ((iterations & 1U) != 0) steps = power.after(steps);
    power = power.after(power);
  }
  return steps;
}

class ComputeLoop : public Workload {
 public:
  ComputeLoop(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        items_(parameters.size),
        group_(parameters.own.at("group")),
        iterations_(parameters.iterations),
        host_input_(random_words(items_, parameters.seed)),
        input_(device.upload(host_input_)),
        output_(device.buffer<std::uint32_t>(items_)),
        program_(device.build(kSource)),
        kernel_(device.kernel(program_, "iterate")) {
    set_arguments(kernel_, output_, input_, static_cast<cl_uint>(iterations_), kMultiplier, kIncrement);
  }

  void enqueue_round() override { launcher_.launch(kernel_, {items_, 1}, {group_, 1}); }

  double work_per_round() const override {
    return static_cast<double>(items_) * static_cast<double>(iterations_) / 1e6;
  }

  void poison() override { launcher_.fill(output_, std::uint32_t{0}, items_); }

  std::optional<std::string> find_mismatch() override {
    if (expected_.empty()) {
      const AffineMap steps = generator_steps(iterations_);
      for (const std::uint32_t word : host_input_) expected_.push_back(steps(word));
    }
    return compare_exactly("value", launcher_.read<std::uint32_t>(output_, items_), expected_);
  }

 private:
  Launcher& launcher_;
  const std::size_t items_;
  const std::size_t group_;
  const std::uint64_t iterations_;
  const std::vector<std::uint32_t> host_input_;
  const Buffer input_;
  const Buffer output_;
  const Program program_;
  const Kernel kernel_;
  std::vector<std::uint32_t> expected_;
};

const Description kDescription = {
    .name = "computeLoop",
    .unit = "Miteration/s",
    .size_meaning = "work-items",
    .default_size = 4096,
    .size_multiple = kLargestGroup,
    .maximum_size = 1U << 26U,
    .default_sync = SyncMode::kBatch,
    .default_batch = 12,
    .takes_iterations = true,
    .default_kernel_microseconds = 200.0,
    .own_options = {{.name = "group",
                     .meaning = "work-items of a work-group (default 64)",
                     .default_value = kLargestGroup,
                     .choices = {1, 2, 4, 8, 16, 32, kLargestGroup}}},
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_workload<ComputeLoop>(kDescription, argc, argv);
}
