"""A Fourier transform and a product of matrices by reikna, beside numpy's."""

import numpy
from reikna.cluda import ocl_api
from reikna.fft import FFT
from reikna.linalg import MatrixMul

thread = ocl_api().Thread.create()
random = numpy.random.default_rng(5)

signal = (random.normal(size=(64, 128)) + 1j * random.normal(size=(64, 128))).astype(numpy.complex64)
on_device = thread.to_device(signal)
FFT(on_device, axes=(1,)).compile(thread)(on_device, on_device)
assert numpy.allclose(on_device.get(), numpy.fft.fft(signal, axis=1), rtol=1e-3, atol=1e-3)
print("fft agrees")

a, b = (random.normal(size=(96, 96)).astype(numpy.float32) for _ in range(2))
left, right = thread.to_device(a), thread.to_device(b)
result = thread.empty_like(left)
MatrixMul(left, right, out_arr=result).compile(thread)(result, left, right)
assert numpy.allclose(result.get(), a @ b, rtol=1e-3, atol=1e-3)
print("product agrees")
