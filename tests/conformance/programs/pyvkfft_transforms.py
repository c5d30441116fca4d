"""Fourier transforms of several sizes by VkFFT, beside numpy's: powers of two, of three, primes."""

import numpy
import pyopencl
import pyopencl.array
from pyvkfft.fft import fftn

context = pyopencl.create_some_context(interactive=False)
queue = pyopencl.CommandQueue(context)
random = numpy.random.default_rng(11)
for shape in [(256,), (243,), (127,), (60, 84), (16, 16, 16)]:
    data = (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(numpy.complex64)
    source = pyopencl.array.to_device(queue, data)
    target = pyopencl.array.zeros_like(source)
    fftn(source, target)
    expected = numpy.fft.fftn(data)
    error = numpy.abs(target.get() - expected).max() / numpy.abs(expected).max()
    assert error < 1e-4, f"{shape}: off by {error}"
    print(shape, "agrees")
