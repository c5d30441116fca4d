"""Numba: a sum of vectors, a sum by shared memory and atomic additions, and a copy in a stream."""

from common import need

numba = need("numba")
numpy = need("numpy")
from numba import cuda

cuda.current_context()  # says why there is no device


@cuda.jit
def add(left, right, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = left[i] + right[i]


@cuda.jit
def sum_all(values, total):
    part = cuda.shared.array(128, numba.int64)
    lane = cuda.threadIdx.x
    i = cuda.grid(1)
    part[lane] = values[i] if i < values.size else 0
    cuda.syncthreads()
    half = 64
    while half > 0:
        if lane < half:
            part[lane] += part[lane + half]
        cuda.syncthreads()
        half //= 2
    if lane == 0:
        cuda.atomic.add(total, 0, part[0])


count = 10_000
left = numpy.arange(count, dtype=numpy.float32) / 3
right = numpy.arange(count, dtype=numpy.float32) * 7
out = cuda.device_array(count, dtype=numpy.float32)
add[(count + 127) // 128, 128](left, right, out)
print("add", out.copy_to_host().view(numpy.uint32).astype(numpy.uint64).sum())
total = cuda.to_device(numpy.zeros(1, dtype=numpy.int64))
sum_all[(count + 127) // 128, 128](cuda.to_device(numpy.arange(count, dtype=numpy.int64)), total)
print("sum", total.copy_to_host()[0])
stream = cuda.stream()
copied = cuda.to_device(right, stream=stream)
stream.synchronize()
print("copied", copied.copy_to_host().sum())
