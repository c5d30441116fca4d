"""Trains a network of two layers on points of a spiral, by tinygrad in OpenCL. Prints the loss as it falls."""

import os
import sys

os.environ.setdefault("GPU", "1")  # its name for OpenCL until 0.11
import numpy
from tinygrad import Device, Tensor
from tinygrad.nn.optim import SGD

if Device.DEFAULT not in ("GPU", "CL"):
    sys.exit(f"tinygrad chose {Device.DEFAULT}")
random = numpy.random.default_rng(3)
turn = random.uniform(0, 6, 256)
label = random.integers(0, 2, 256)
points = numpy.stack([turn * numpy.cos(turn + numpy.pi * label), turn * numpy.sin(turn + numpy.pi * label)], axis=1)
x, y = Tensor(points.astype(numpy.float32) / 6), Tensor(label.astype(numpy.int32))
first = Tensor(random.normal(0, 0.5, (2, 32)).astype(numpy.float32), requires_grad=True)
second = Tensor(random.normal(0, 0.5, (32, 2)).astype(numpy.float32), requires_grad=True)
Tensor.training = True
optimizer = SGD([first, second], lr=0.5)
losses = []
for step in range(30):
    optimizer.zero_grad()
    loss = x.dot(first).relu().dot(second).sparse_categorical_crossentropy(y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 10 == 9:
        print(f"{losses[-1]:.2f}")
if not losses[-1] < 0.9 * losses[0]:
    sys.exit(f"the loss went from {losses[0]} to {losses[-1]}")
