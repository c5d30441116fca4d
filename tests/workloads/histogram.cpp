// histogram: how often each byte value occurs. Every work-group counts its part with atomics in local memory;
// a second kernel merges the groups' counts. The host waits for each launch.

#include <algorithm>
#include <random>

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/launcher.hpp"
#include "tests/workloads/support/verify.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {
namespace {

constexpr std::size_t kBins = 256;
constexpr std::size_t kGroups = 32;
constexpr std::size_t kMergeGroup = 64;

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

/// Bytes that are the smaller of two uniform ones: the bins get clearly different counts.
std::vector<std::uint32_t> uneven_words(std::size_t words, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::uint32_t> data(words);
  for (std::uint32_t& word : data) {
    const std::uint64_t random = generator();
    for (unsigned shift = 0; shift < 32; shift += 8) {
      const std::uint64_t one = (random >> shift) & 0xffU;
      const std::uint64_t other = (random >> (shift + 32U)) & 0xffU;
      word |= static_cast<std::uint32_t>(std::min(one, other) << shift);
    }
  }
  return data;
}

class Histogram : public Workload {
 public:
  Histogram(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        words_(parameters.size / sizeof(std::uint32_t)),
        host_data_(uneven_words(words_, parameters.seed)),
        data_(device.upload(host_data_)),
        partial_(device.buffer<std::uint32_t>(kGroups * kBins)),
        histogram_(device.buffer<std::uint32_t>(kBins)),
        program_(device.build(kSource)),
        count_(device.kernel(program_, "count_bytes")),
        merge_(device.kernel(program_, "merge")) {
    set_arguments(count_, partial_, data_, static_cast<cl_uint>(words_));
    set_arguments(merge_, histogram_, partial_, static_cast<cl_uint>(kGroups));
  }

  void enqueue_round() override {
    launcher_.launch(count_, {kGroups * kBins, 1}, {kBins, 1});
    launcher_.launch(merge_, {kBins, 1}, {kMergeGroup, 1});
  }

  double work_per_round() const override { return static_cast<double>(words_ * sizeof(std::uint32_t)) / 1e6; }

  void poison() override {
    launcher_.fill(partial_, ~std::uint32_t{0}, kGroups * kBins);
    launcher_.fill(histogram_, ~std::uint32_t{0}, kBins);
  }

  std::optional<std::string> find_mismatch() override {
    if (expected_.empty()) {
      expected_.assign(kBins, 0);
      for (const std::uint32_t word : host_data_) {
        for (unsigned shift = 0; shift < 32; shift += 8) ++expected_[(word >> shift) & 0xffU];
      }
    }
    return compare_exactly("bin", launcher_.read<std::uint32_t>(histogram_, kBins), expected_);
  }

 private:
  Launcher& launcher_;
  const std::size_t words_;
  const std::vector<std::uint32_t> host_data_;
  const Buffer data_;
  const Buffer partial_;
  const Buffer histogram_;
  const Program program_;
  const Kernel count_;
  const Kernel merge_;
  std::vector<std::uint32_t> expected_;
};

const Description kDescription = {
    .name = "histogram",
    .unit = "MB/s",
    .size_meaning = "bytes to count",
    .default_size = 65536,
    .size_multiple = sizeof(std::uint32_t),
    .maximum_size = 1U << 30U,
    .default_sync = SyncMode::kEvery,
    .default_batch = 8,
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_workload<Histogram>(kDescription, argc, argv);
}
