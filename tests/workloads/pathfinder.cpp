// pathfinder: cheapest paths down a grid of costs, 20 rows in each launch. A work-group begins with more
// columns than it answers for, and loses one on either side with every row. Launches are asynchronous.

#include "tests/workloads/problems/rodinia/pathfinder.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

constexpr const char* kSource = R"(
#define GROUP 256
#define ROWS 20
#define FAR 0x7fffffffu

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void descend(__global uint* restrict after, __global const uint* restrict before,
             __global const uchar* restrict steps, const int columns, const int first_row) {
  __local uint above[2][GROUP];
  const int item = get_local_id(0);
  const int column = (int)get_group_id(0) * (GROUP - 2 * ROWS) + item - ROWS;
  const bool inside = column >= 0 && column < columns;

  uint cheapest = inside ? before[column] : FAR;
  for (int row = 0; row < ROWS; ++row) {
    // Two rows take turns, so that one barrier a row is enough.
    __local uint* const costs = above[row % 2];
    costs[item] = cheapest;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside) {
      cheapest = min(cheapest, min(costs[max(item - 1, 0)], costs[min(item + 1, GROUP - 1)]));
      cheapest += steps[(first_row + row) * columns + column];
    }
  }
  if (inside && item >= ROWS && item < GROUP - ROWS) after[column] = cheapest;
}
)";

class Pathfinder : public Workload {
 public:
  using Problem = PathfinderProblem;

  Pathfinder(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        first_row_(device.upload(problem_.first_row)),
        steps_(device.upload(problem_.steps)),
        odd_(device.buffer<std::uint32_t>(problem_.columns)),
        even_(device.buffer<std::uint32_t>(problem_.columns)),
        program_(device.build(kSource)) {
    const Buffer* before = &first_row_;
    for (std::size_t launch = 0; launch < Problem::kLaunches; ++launch) {
      const Buffer* const after = launch % 2 == 0 ? &odd_ : &even_;
      descents_.push_back(device.kernel(program_, "descend"));
      set_arguments(descents_.back(), *after, *before, steps_, static_cast<cl_int>(problem_.columns),
                    static_cast<cl_int>(launch * Problem::kRowsPerLaunch));
      before = after;
    }
  }

  void enqueue_round() override {
    for (const Kernel& descent : descents_) {
      launcher_.launch(descent, {problem_.groups() * Problem::kGroup, 1}, {Problem::kGroup, 1});
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    launcher_.fill(odd_, ~std::uint32_t{0}, problem_.columns);
    launcher_.fill(even_, ~std::uint32_t{0}, problem_.columns);
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<std::uint32_t>(odd_, problem_.columns));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const Buffer first_row_;
  const Buffer steps_;
  const Buffer odd_;
  const Buffer even_;
  const Program program_;
  std::vector<Kernel> descents_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<Pathfinder>(kPathfinder, argc, argv);
}
