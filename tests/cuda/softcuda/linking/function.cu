// The other unit: what the kernel's unit calls and reads, and a kernel of its own.
__device__ int offset = 7;

static __device__ int own = 1000;
static __device__ __noinline__ int step(int value) {
  return own + value;
}

extern "C" __device__ int scaled(int value) {
  return step(3 * value);
}

static __device__ int squared(int value) {
  return value * value;
}
__device__ int (*chosen)(int) = squared;

extern "C" __global__ void set_offset(int to) {
  offset = to;
}
