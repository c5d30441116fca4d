#include "tests/workloads/problems/compute_loop.hpp"

#include "tests/workloads/support/verify.hpp"

namespace workloads {
namespace {

constexpr std::size_t kLargestGroup = 64;

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
  AffineMap power = {ComputeLoopProblem::kMultiplier, ComputeLoopProblem::kIncrement};
  for (; iterations > 0; iterations >>= 1U) {
    if ((iterations & 1U) != 0) steps = power.after(steps);
    power = power.after(power);
  }
  return steps;
}

}  // namespace

const Description kComputeLoop = {
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

ComputeLoopProblem::ComputeLoopProblem(const Parameters& parameters)
    : items(parameters.size),
      group(parameters.own.at("group")),
      iterations(parameters.iterations),
      input(random_words(items, parameters.seed)) {}

std::optional<std::string> ComputeLoopProblem::find_mismatch(const std::vector<std::uint32_t>& output) {
  if (expected_.empty()) {
    const AffineMap steps = generator_steps(iterations);
    for (const std::uint32_t word : input) expected_.push_back(steps(word));
  }
  return compare_exactly("value", output, expected_);
}

}  // namespace workloads
