// heartwall: points on the walls of a heart, tracked from frame to frame. The host hands over each frame in
// strips, launches one kernel, which takes long, and reads where the points are now: from that it says where
// to look in the next frame. It is in the loop with many short transfers.

#include "tests/workloads/problems/rodinia/heartwall.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

constexpr const char* kSource = R"(
#define GROUP 128
#define SIDE 320
#define TEMPLATE 24
#define RADIUS 24
#define REACH (2 * RADIUS + 1)
#define WINDOW (TEMPLATE + 2 * RADIUS)

// A place in the window: how much it is like the template, and its number.
typedef struct {
  int correlation;
  int energy;
  int place;
} Candidate;

// By correlation over the root of energy; of equal ones the first. 63 bits are enough.
bool exceeds(const Candidate one, const Candidate other) {
  const long mine = (long)one.correlation * one.correlation * (other.energy + 1);
  const long others = (long)other.correlation * other.correlation * (one.energy + 1);
  return mine > others || (mine == others && one.place < other.place);
}

// A work-group for each point.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void track(__global int2* restrict found, __global int* restrict patterns,
           __global const char* restrict frame, __global const int2* restrict centres) {
  __local int window[WINDOW * WINDOW];
  __local int pattern[TEMPLATE * TEMPLATE];
  __local Candidate best[GROUP];
  const int item = get_local_id(0);
  const int point = get_group_id(0);
  const int2 centre = centres[point];

  for (int pixel = item; pixel < WINDOW * WINDOW; pixel += GROUP) {
    const int row = clamp(centre.y - WINDOW / 2 + pixel / WINDOW, 0, SIDE - 1);
    const int column = clamp(centre.x - WINDOW / 2 + pixel % WINDOW, 0, SIDE - 1);
    window[pixel] = frame[row * SIDE + column];
  }
  for (int pixel = item; pixel < TEMPLATE * TEMPLATE; pixel += GROUP) {
    pattern[pixel] = patterns[point * TEMPLATE * TEMPLATE + pixel];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  Candidate mine = {0, 0, REACH * REACH};
  for (int place = item; place < REACH * REACH; place += GROUP) {
    const int corner = place / REACH * WINDOW + place % REACH;
    Candidate candidate = {0, 0, place};
    for (int row = 0; row < TEMPLATE; ++row) {
      for (int column = 0; column < TEMPLATE; ++column) {
        const int seen = window[corner + row * WINDOW + column];
        candidate.correlation += pattern[row * TEMPLATE + column] * seen;
        candidate.energy += seen * seen;
      }
    }
    candidate.correlation = max(candidate.correlation, 0);
    if (exceeds(candidate, mine)) mine = candidate;
  }
  best[item] = mine;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width && exceeds(best[item + width], best[item])) best[item] = best[item + width];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const int column = best[0].place % REACH;
  const int row = best[0].place / REACH;
  if (item == 0) found[point] = centre + (int2)(column - RADIUS, row - RADIUS);
  // The template follows what the point looks like.
  for (int pixel = item; pixel < TEMPLATE * TEMPLATE; pixel += GROUP) {
    const int seen = window[(row + pixel / TEMPLATE) * WINDOW + column + pixel % TEMPLATE];
    patterns[point * TEMPLATE * TEMPLATE + pixel] = (3 * pattern[pixel] + seen) / 4;
  }
}
)";

class Heartwall : public Workload {
 public:
  using Problem = HeartwallProblem;

  Heartwall(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        track_(problem_.start),
        original_patterns_(device.upload(problem_.patterns)),
        patterns_(device.buffer<cl_int>(problem_.patterns.size())),
        frame_(device.buffer<cl_char>(Problem::kSide * Problem::kSide)),
        centres_(device.buffer<cl_int2>(problem_.points)),
        found_(device.buffer<cl_int2>(problem_.points)),
        program_(device.build(kSource)),
        kernel_(device.kernel(program_, "track")) {
    set_arguments(kernel_, found_, patterns_, frame_, centres_);
  }

  void enqueue_round() override {
    track_ = HeartwallTrack(problem_.start);
    launcher_.copy(original_patterns_, patterns_, problem_.patterns.size() * sizeof(cl_int));
    for (std::size_t frame = 0; frame < Problem::kFrames; ++frame) {
      send(frame);
      launcher_.write(centres_, 0, track_.centres().data(), track_.centres().size());
      launcher_.launch(kernel_, {problem_.points * Problem::kGroup, 1}, {Problem::kGroup, 1});
      track_.follow(launcher_.read<std::int32_t>(found_, 2 * problem_.points));
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    track_ = HeartwallTrack(problem_.start);
    launcher_.fill(patterns_, cl_int{-1}, problem_.patterns.size());
    launcher_.fill(found_, cl_int{-1}, 2 * problem_.points);
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(track_.path(),
                                  launcher_.read<std::int32_t>(patterns_, problem_.patterns.size()));
  }

 private:
  void send(std::size_t frame) {
    constexpr std::size_t kStrip = Problem::kStripRows * Problem::kSide;
    constexpr std::size_t kFrame = Problem::kSide * Problem::kSide;
    for (std::size_t pixel = 0; pixel < kFrame; pixel += kStrip) {
      launcher_.write(frame_, pixel, &problem_.frames[frame * kFrame + pixel], kStrip);
    }
  }

  Launcher& launcher_;
  Problem problem_;
  HeartwallTrack track_;
  const Buffer original_patterns_;
  const Buffer patterns_;
  const Buffer frame_;
  const Buffer centres_;
  const Buffer found_;
  const Program program_;
  const Kernel kernel_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<Heartwall>(kHeartwall, argc, argv);
}
