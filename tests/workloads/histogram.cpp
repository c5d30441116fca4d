// histogram: how often each byte value occurs. Every work-group counts its part with atomics in local memory;
// a second kernel merges the groups' counts. The host waits for each launch.

#include "tests/workloads/problems/histogram.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

constexpr const char* kSource = R"(
#define BINS 256

__kernel __attribute__((reqd_work_group_size(BINS, 1, 1)))
void count_bytes(__global uint* restrict partial, __global const uint* restrict data, const uint words) {
  __local uint bins[BINS];
  const uint item = get_local_id(0);
  bins[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint word = get_global_id(0); word < words; word += get_global_size(0)) {
    const uint bytes = data[word];
    atomic_inc(&bins[bytes & 0xff]);
    atomic_inc(&bins[(bytes >> 8) & 0xff]);
    atomic_inc(&bins[(bytes >> 16) & 0xff]);
    atomic_inc(&bins[bytes >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  partial[get_group_id(0) * BINS + item] = bins[item];
}

__kernel void merge(__global uint* restrict histogram, __global const uint* restrict partial,
                    const uint groups) {
  const uint bin = get_global_id(0);
  uint sum = 0;
  for (uint group = 0; group < groups; ++group) sum += partial[group * BINS + bin];
  histogram[bin] = sum;
}
)";

class Histogram : public Workload {
 public:
  using Problem = HistogramProblem;

  Histogram(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        data_(device.upload(problem_.data)),
        partial_(device.buffer<std::uint32_t>(Problem::kGroups * Problem::kBins)),
        histogram_(device.buffer<std::uint32_t>(Problem::kBins)),
        program_(device.build(kSource)),
        count_(device.kernel(program_, "count_bytes")),
        merge_(device.kernel(program_, "merge")) {
    set_arguments(count_, partial_, data_, static_cast<cl_uint>(problem_.words));
    set_arguments(merge_, histogram_, partial_, static_cast<cl_uint>(Problem::kGroups));
  }

  void enqueue_round() override {
    launcher_.launch(count_, {Problem::kGroups * Problem::kBins, 1}, {Problem::kBins, 1});
    launcher_.launch(merge_, {Problem::kBins, 1}, {Problem::kMergeGroup, 1});
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    launcher_.fill(partial_, ~std::uint32_t{0}, Problem::kGroups * Problem::kBins);
    launcher_.fill(histogram_, ~std::uint32_t{0}, Problem::kBins);
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<std::uint32_t>(histogram_, Problem::kBins));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const Buffer data_;
  const Buffer partial_;
  const Buffer histogram_;
  const Program program_;
  const Kernel count_;
  const Kernel merge_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<Histogram>(kHistogram, argc, argv);
}
