// Device code in two units (-rdc=true): functions, variables and classes of the other unit, and kernels and
// variables of the same names that each unit has for itself.
#include "units.hpp"

static __device__ int own = 1000;
static __constant__ int fixed = 3;

static __global__ void bump(int by) {
  own += by;
}

__global__ void compute(int* out) {
  const int at = static_cast<int>(threadIdx.x);
  out[at] = shared_sum(at) + factor * at + own + fixed;
}

__global__ void choose(int* out, int which) {
  const Shape* const shape = make_shape(which, 6);
  *out = shape->area() + operations[which](40, 2);
  delete shape;
}

__global__ void square_all(int* values) {
  values[threadIdx.x] = squared(values[threadIdx.x]);
}

static void functions_and_variables() {
  constexpr int kThreads = 64;
  int* memory = nullptr;
  int values[kThreads];
  OK(cudaMalloc(&memory, sizeof values));
  const auto run = [&](int the_factor, int the_own) {
    compute<<<1, kThreads>>>(memory);
    OK(cudaMemcpy(values, memory, sizeof values, cudaMemcpyDeviceToHost));
    for (int at = 0; at < kThreads; ++at)
      CHECK(values[at] == kThreads * (kThreads - 1) / 2 + the_factor * at + the_own + 3);
  };
  run(5, 1000);
  const int factor_here = 9;
  OK(cudaMemcpyToSymbol(factor, &factor_here, sizeof factor_here));
  bump<<<1, 1>>>(7);
  run(9, 1007);
  int read = 0;
  OK(cudaMemcpyFromSymbol(&read, own, sizeof read));
  CHECK(read == 1007);
  CHECK(other_bumped(2) == 2002);
  CHECK(other_compute(4) == 16 + 9);
  run(9, 1007);
  OK(cudaFree(memory));
}

static void classes_and_pointers() {
  int* memory = nullptr;
  int result = 0;
  OK(cudaMalloc(&memory, sizeof result));
  const int expected[] = {36 + 42, 24 + 38};
  for (int which = 0; which < 2; ++which) {
    choose<<<1, 1>>>(memory, which);
    OK(cudaMemcpy(&result, memory, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(result == expected[which]);
  }
  OK(cudaFree(memory));
}

static void managed() {
  for (int at = 0; at < 4; ++at) numbers[at] = at;
  square_all<<<1, 4>>>(numbers);
  OK(cudaDeviceSynchronize());
  for (int at = 0; at < 4; ++at) CHECK(numbers[at] == at * at);
}

int main(int argc, char** argv) {
  const Case cases[] = {{"functions_and_variables", functions_and_variables},
                        {"classes_and_pointers", classes_and_pointers},
                        {"managed", managed}};
  return run_cases(cases, 3, argc, argv);
}
