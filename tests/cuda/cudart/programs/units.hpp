// The parts that the two units of the program `units` have in common.
#ifndef FAIRGV_TESTS_CUDA_CUDART_PROGRAMS_UNITS_HPP
#define FAIRGV_TESTS_CUDA_CUDART_PROGRAMS_UNITS_HPP

#include "check.hpp"

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};
__device__ const Shape* make_shape(int which, int side);

extern __device__ int factor;
extern __device__ int (*operations[2])(int, int);
extern __managed__ int numbers[4];

// The sum of the values of all threads of a block of at most 64, in shared memory of the other unit.
__device__ int shared_sum(int value);

// Both units have the code of this.
template <typename Number>
__device__ __noinline__ Number squared(Number number) {
  return number * number;
}

int other_bumped(int by);
int other_compute(int number);

#endif  // FAIRGV_TESTS_CUDA_CUDART_PROGRAMS_UNITS_HPP
