// Small CUDA programs of the kind of NVIDIA's samples and of Rodinia, each with its result checked: `samples`
// runs all, `samples NAME...` some. One translation unit, because nvcc takes seconds for each.
#include "tests/cuda/workloads/programs/data_parallel.cuh"
#include "tests/cuda/workloads/programs/runtime_features.cuh"
#include "tests/cuda/workloads/programs/step_by_step.cuh"

int main(int argc, char** argv) {
  const Case cases[] = {
      {"vector_add", vector_add},
      {"reduction", reduction},
      {"transpose", transpose},
      {"bfs", bfs},
      {"nw", nw},
      {"pathfinder", pathfinder},
      {"streams", streams},
      {"event_timing", event_timing},
      {"host_memory", host_memory},
      {"pitched_and_arrays", pitched_and_arrays},
      {"symbols", symbols},
  };
  return run_cases(cases, static_cast<int>(sizeof cases / sizeof cases[0]), argc, argv);
}
