// The unit with the kernel: a function, a variable and a pointer to a function of the other unit, and names
// that both have for themselves.
extern "C" __device__ int scaled(int value);
extern __device__ int offset;
extern __device__ int (*chosen)(int);

static __device__ int own = 100;
static __device__ __noinline__ int step(int value) {
  return own - value;
}

extern "C" __global__ void combine(int* out) {
  const int at = static_cast<int>(threadIdx.x);
  out[at] = scaled(at) + offset + step(1) + chosen(at);
}

extern "C" __global__ void change(int to) {
  own = to;
}
