// A kernel that launches a kernel, and one that does not.
extern "C" __global__ void launched(int* out) {
  *out = 1;
}

extern "C" __global__ void launches(int* out) {
  launched<<<1, 1>>>(out);
}
