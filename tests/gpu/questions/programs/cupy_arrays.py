"""CuPy: its own kernels, one given as source, and NVIDIA's libraries."""

from common import need

cupy = need("cupy")

numbers = cupy.arange(1, 10_001, dtype=cupy.float32)
print("elementwise", float((numbers * 2 + 1).sum()).hex())
print("reduction", float(cupy.sqrt(numbers).max()).hex(), int(numbers.argmax()))
kernel = cupy.RawKernel(r"""
extern "C" __global__ void scale(float* values, float by, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= by;
}""", "scale")
kernel((40,), (256,), (numbers, cupy.float32(0.5), numbers.size))
print("raw", float(numbers[-1]).hex())
print("sorted", cupy.sort(cupy.arange(1000) * 7919 % 1009)[:8].tolist())
# Small integers: exact, whatever the algorithm.
matrix = (cupy.arange(64 * 64) % 7 - 3).reshape(64, 64).astype(cupy.float32)
print("cuBLAS", float((matrix @ matrix).sum()))
print("cuFFT", float(cupy.abs(cupy.fft.fft(cupy.ones(256, dtype=cupy.complex64)))[0]))
