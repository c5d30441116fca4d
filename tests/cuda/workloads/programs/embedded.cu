// A program as nvcc makes it without -cudart shared: the runtime is in the program.
__global__ void nothing() {}

int main() {
  nothing<<<1, 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
