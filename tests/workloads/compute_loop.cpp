// computeLoop: a kernel of settable length. Every work-item iterates a linear congruential generator; the
// iteration count is calibrated so that one launch takes about --kernel-us. One launch per round,
// asynchronous. Small work-groups make a grid of many that is not large in memory.

#include "tests/workloads/problems/compute_loop.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

constexpr const char* kSource = R"(
__kernel void iterate(__global uint* restrict output, __global const uint* restrict input,
                      const uint iterations, const uint multiplier, const uint increment) {
  const uint item = get_global_id(0);
  uint value = input[item];
  for (uint iteration = 0; iteration < iterations; ++iteration) value = value * multiplier + increment;
  output[item] = value;
}
)";

class ComputeLoop : public Workload {
 public:
  using Problem = ComputeLoopProblem;

  ComputeLoop(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        input_(device.upload(problem_.input)),
        output_(device.buffer<std::uint32_t>(problem_.items)),
        program_(device.build(kSource)),
        kernel_(device.kernel(program_, "iterate")) {
    set_arguments(kernel_, output_, input_, static_cast<cl_uint>(problem_.iterations), Problem::kMultiplier,
                  Problem::kIncrement);
  }

  void enqueue_round() override { launcher_.launch(kernel_, {problem_.items, 1}, {problem_.group, 1}); }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { launcher_.fill(output_, std::uint32_t{0}, problem_.items); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<std::uint32_t>(output_, problem_.items));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const Buffer input_;
  const Buffer output_;
  const Program program_;
  const Kernel kernel_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<ComputeLoop>(kComputeLoop, argc, argv);
}
