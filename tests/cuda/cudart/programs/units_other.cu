// The other unit of the program `units`.
#include "units.hpp"

__device__ int factor = 5;
__managed__ int numbers[4] = {1, 2, 3, 4};

static __device__ int own = 2000;

static __global__ void bump(int by) {
  own += by;
}

__global__ void compute_here(int* out, int number) {
  *out = squared(number) + factor;
}

static __shared__ int sum;

__device__ int shared_sum(int value) {
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, value);
  __syncthreads();
  return sum;
}

namespace {

class Square final : public Shape {
 public:
  __device__ explicit Square(int side) : side_(side) {}
  __device__ int area() const override { return side_ * side_; }

 private:
  int side_;
};

class Strip final : public Shape {
 public:
  __device__ explicit Strip(int length) : length_(length) {}
  __device__ int area() const override { return 4 * length_; }

 private:
  int length_;
};

__device__ int add(int a, int b) {
  return a + b;
}
__device__ int subtract(int a, int b) {
  return a - b;
}

}  // namespace

__device__ int (*operations[2])(int, int) = {add, subtract};

__device__ const Shape* make_shape(int which, int side) {
  return which == 0 ? static_cast<Shape*>(new Square(side)) : new Strip(side);
}

int other_bumped(int by) {
  bump<<<1, 1>>>(by);
  int result = 0;
  OK(cudaMemcpyFromSymbol(&result, own, sizeof result));
  return result;
}

int other_compute(int number) {
  int* memory = nullptr;
  int result = 0;
  OK(cudaMalloc(&memory, sizeof result));
  compute_here<<<1, 1>>>(memory, number);
  OK(cudaMemcpy(&result, memory, sizeof result, cudaMemcpyDeviceToHost));
  OK(cudaFree(memory));
  return result;
}
