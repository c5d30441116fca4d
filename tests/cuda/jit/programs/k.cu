extern "C" __global__ void k(float* a) {
  a[threadIdx.x] = 3 * a[threadIdx.x] + 1;
}
