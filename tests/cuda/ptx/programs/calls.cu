// Kernels for calls_test.cpp: calls through pointers, virtual functions, recursion, and functions that cannot
// be translated.
#include <new>

// ---- tables of functions

using Operation = int (*)(int, int);

__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int multiply(int a, int b) { return a * b; }
// The same parameters, and an instruction that the software device does not have.
__device__ int unknown(int a, int b) {
  asm volatile("fence.proxy.tensormap::generic.release.gpu;");
  return a + b;
}

__device__ Operation operations[4] = {add, subtract, multiply, unknown};
__constant__ Operation constant_operations[2] = {multiply, add};

extern "C" __global__ void by_table(const int* which, int* values) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = operations[which[i]](values[i], 3);
  values[i] = constant_operations[i % 2](first, 5);
}

// The pointer comes from another kernel, by way of the host.
extern "C" __global__ void take_pointer(Operation* to, int which) { *to = which == 0 ? add : multiply; }
extern "C" __global__ void call_pointer(Operation operation, int* value) { *value = operation(*value, 7); }

struct Big {
  double values[5];
  short rest;
};
__device__ __noinline__ Big scaled(Big in, double by) {
  for (double& each : in.values) each *= by;
  in.rest = static_cast<short>(in.rest + 1);
  return in;
}
__device__ __noinline__ Big shifted(Big in, double by) {
  for (double& each : in.values) each += by;
  return in;
}
__device__ Big (*big_functions[2])(Big, double) = {scaled, shifted};
extern "C" __global__ void structures(const Big* in, Big* out, double by) {
  out[threadIdx.x] = big_functions[threadIdx.x % 2](in[threadIdx.x], by);
}

// ---- virtual functions

struct Shape {
  float side = 0;
  __device__ virtual float area() const = 0;
  __device__ virtual float edge() const { return 4 * side; }
};
struct Square : Shape {
  __device__ float area() const override { return side * side; }
};
struct Box : Square {
  float depth = 0;
  __device__ float area() const override { return 2 * Square::area() + edge() * depth; }
};
struct Places {
  Square square;
  Box box;
};
extern "C" __global__ void virtual_functions(Places* places, float* out) {
  Places& place = places[threadIdx.x];
  Shape* shape = nullptr;
  if (threadIdx.x % 3 == 0) {
    shape = new (&place.square) Square;
  } else {
    Box* const box = new (&place.box) Box;
    box->depth = 0.5f;
    shape = box;
  }
  shape->side = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = shape->area() + shape->edge();
}

// ---- recursion

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursive(int* out) { out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x)); }

__device__ int is_odd(int n);
__device__ __noinline__ int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
__device__ __noinline__ int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
extern "C" __global__ void mutual(int* out) { out[threadIdx.x] = is_even(static_cast<int>(threadIdx.x)); }

// An array and registers that must outlive the calls, and an address of the caller's memory in the callee.
__device__ __noinline__ int sum_of_path(const int* tree, int node, int depth, int* path) {
  int local[3] = {tree[node], depth, node};
  path[depth] = tree[node];
  int best = 0;
  if (node * 2 + 2 < 31) {
    const int left = sum_of_path(tree, node * 2 + 1, depth + 1, path);
    const int right = sum_of_path(tree, node * 2 + 2, depth + 1, path);
    best = left > right ? left : right;
  } else {
    for (int i = 0; i <= depth; ++i) best += path[i];
  }
  return best + local[depth % 3] - local[depth % 3];
}
extern "C" __global__ void search(const int* tree, int* out) {
  int path[8];
  out[threadIdx.x] = sum_of_path(tree + 31 * threadIdx.x, 0, 0, path);
}

// A barrier and a warp operation inside of the recursion.
__device__ __noinline__ int rotate(int value, int times, int* shared) {
  if (times == 0) return value;
  shared[threadIdx.x] = value;
  __syncthreads();
  const int next = shared[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  const int rest = rotate(next, times - 1, shared);
  return rest + __shfl_xor_sync(0xffffffff, times, 1) - times;
}
extern "C" __global__ void recursive_with_barriers(int* values, int times) {
  __shared__ int shared[64];
  values[threadIdx.x] = rotate(values[threadIdx.x], times, shared);
}

// Functions that call each other through a table.
using Step = int (*)(int, int);
extern __device__ Step steps[2];
__device__ __noinline__ int halve(int n, int count) {
  return n <= 1 ? count : steps[(n / 2) & 1](n / 2, count + 1);
}
__device__ __noinline__ int triple(int n, int count) {
  if (n <= 1) return count;
  const int more = 3 * n + 1;
  return steps[more & 1](more, count + 1);
}
__device__ Step steps[2] = {halve, triple};
extern "C" __global__ void collatz(int* out) {
  const int n = static_cast<int>(threadIdx.x) + 1;
  out[threadIdx.x] = steps[n & 1](n, 0);
}

__device__ __noinline__ unsigned deep(unsigned n) { return n == 0 ? 1 : (deep(n - 1) * 3) ^ n; }
extern "C" __global__ void depth(unsigned* out, unsigned n) { *out = deep(n); }

// ---- a kernel that cannot be translated, and a function that only some kernels call

__device__ __noinline__ int unsupported(int a) {
  asm volatile("fence.proxy.tensormap::generic.release.gpu;");
  return a;
}
extern "C" __global__ void refused(int* out) { *out = unsupported(*out); }
extern "C" __global__ void allowed(int* out) { *out = 5; }
