// heartwall in CUDA: see problems/rodinia/heartwall.hpp and the OpenCL program, whose blocks do the same
// work.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/rodinia/heartwall.hpp"

namespace workloads::cuda {
namespace {

constexpr int kGroup = HeartwallProblem::kGroup;
constexpr int kSide = HeartwallProblem::kSide;
constexpr int kTemplate = HeartwallProblem::kTemplate;
constexpr int kRadius = HeartwallProblem::kRadius;
constexpr int kReach = HeartwallProblem::kReach;
constexpr int kWindow = HeartwallProblem::kWindow;

// A place in the window: how much it is like the template, and its number.
struct Candidate {
  int correlation;
  int energy;
  int place;
};

// By correlation over the root of energy; of equal ones the first. 63 bits are enough.
__device__ bool exceeds(const Candidate& one, const Candidate& other) {
  const long long mine = static_cast<long long>(one.correlation) * one.correlation * (other.energy + 1);
  const long long others = static_cast<long long>(other.correlation) * other.correlation * (one.energy + 1);
  return mine > others || (mine == others && one.place < other.place);
}

// A block for each point.
__global__ void __launch_bounds__(kGroup)
    track(int2* __restrict__ found, int* __restrict__ patterns, const signed char* __restrict__ frame,
          const int2* __restrict__ centres) {
  __shared__ int window[kWindow * kWindow];
  __shared__ int pattern[kTemplate * kTemplate];
  __shared__ Candidate best[kGroup];
  const int item = threadIdx.x;
  const int point = blockIdx.x;
  const int2 centre = centres[point];

  for (int pixel = item; pixel < kWindow * kWindow; pixel += kGroup) {
    const int row = min(max(centre.y - kWindow / 2 + pixel / kWindow, 0), kSide - 1);
    const int column = min(max(centre.x - kWindow / 2 + pixel % kWindow, 0), kSide - 1);
    window[pixel] = frame[row * kSide + column];
  }
  for (int pixel = item; pixel < kTemplate * kTemplate; pixel += kGroup) {
    pattern[pixel] = patterns[point * kTemplate * kTemplate + pixel];
  }
  __syncthreads();

  Candidate mine = {0, 0, kReach * kReach};
  for (int place = item; place < kReach * kReach; place += kGroup) {
    const int corner = place / kReach * kWindow + place % kReach;
    Candidate candidate = {0, 0, place};
    for (int row = 0; row < kTemplate; ++row) {
      for (int column = 0; column < kTemplate; ++column) {
        const int seen = window[corner + row * kWindow + column];
        candidate.correlation += pattern[row * kTemplate + column] * seen;
        candidate.energy += seen * seen;
      }
    }
    candidate.correlation = max(candidate.correlation, 0);
    if (exceeds(candidate, mine)) mine = candidate;
  }
  best[item] = mine;
  for (int width = kGroup / 2; width > 0; width /= 2) {
    __syncthreads();
    if (item < width && exceeds(best[item + width], best[item])) best[item] = best[item + width];
  }
  __syncthreads();

  const int column = best[0].place % kReach;
  const int row = best[0].place / kReach;
  if (item == 0) found[point] = make_int2(centre.x + column - kRadius, centre.y + row - kRadius);
  // The template follows what the point looks like.
  for (int pixel = item; pixel < kTemplate * kTemplate; pixel += kGroup) {
    const int seen = window[(row + pixel / kTemplate) * kWindow + column + pixel % kTemplate];
    patterns[point * kTemplate * kTemplate + pixel] = (3 * pattern[pixel] + seen) / 4;
  }
}

class Heartwall : public Workload {
 public:
  using Problem = HeartwallProblem;

  Heartwall(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        track_(problem_.start),
        original_patterns_(problem_.patterns),
        patterns_(problem_.patterns.size()),
        frame_(Problem::kSide * Problem::kSide),
        centres_(problem_.points),
        found_(problem_.points) {
    launcher_.load(track);
  }

  void enqueue_round() override {
    const cudaStream_t stream = launcher_.stream();
    track_ = HeartwallTrack(problem_.start);
    check(cudaMemcpyAsync(patterns_.get(), original_patterns_.get(), patterns_.bytes(),
                          cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpyAsync");
    for (std::size_t frame = 0; frame < Problem::kFrames; ++frame) {
      send(frame);
      centres_.write(0, track_.centres().data(), track_.centres().size(), stream);
      launcher_.launch(track, problem_.points, kGroup, found_.get(), patterns_.get(), frame_.get(),
                       centres_.get());
      track_.follow(found_.read<std::int32_t>(stream));
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    track_ = HeartwallTrack(problem_.start);
    patterns_.fill(0xff, launcher_.stream());
    found_.fill(0xff, launcher_.stream());
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(track_.path(), patterns_.read<std::int32_t>(launcher_.stream()));
  }

 private:
  void send(std::size_t frame) {
    constexpr std::size_t kStrip = Problem::kStripRows * Problem::kSide;
    constexpr std::size_t kFrame = Problem::kSide * Problem::kSide;
    for (std::size_t pixel = 0; pixel < kFrame; pixel += kStrip) {
      frame_.write(pixel, &problem_.frames[frame * kFrame + pixel], kStrip, launcher_.stream());
    }
  }

  Launcher& launcher_;
  Problem problem_;
  HeartwallTrack track_;
  const DeviceArray<int> original_patterns_;
  DeviceArray<int> patterns_;
  DeviceArray<signed char> frame_;
  DeviceArray<int2> centres_;
  DeviceArray<int2> found_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::Heartwall>(workloads::kHeartwall, argc, argv);
}
