#!/usr/bin/python3
"""saxpy and a reduction through pyopencl: profiled events, a wait list and a map, checked with numpy.

Prints one JSON line. Exit code: 0 verified, 1 failed (one line on standard error), 2 bad input.
"""

import argparse
import json
import sys
import time

NAME = "pyopencl_saxpy"
GROUP = 128
REDUCE_GROUPS = 16

SOURCE = """
#define GROUP %d

__kernel void saxpy(__global float* y, __global const float* x, const float a) {
  const int item = get_global_id(0);
  y[item] = a * x[item] + y[item];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sum(__global float* sums, __global const float* values, const int count) {
  __local float partial[GROUP];
  const int item = get_local_id(0);
  float total = 0.0f;
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) total += values[i];
  partial[item] = total;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) partial[item] += partial[item + width];
  }
  if (item == 0) sums[get_group_id(0)] = partial[0];
}
""" % GROUP


class Failure(Exception):
    """A result is wrong; the text is one line."""


class Parser(argparse.ArgumentParser):
    """Reports bad input as one line."""

    def error(self, message):
        fail(2, message)


def fail(code, message):
    """Prints one line on standard error and exits."""
    print(f"{NAME}: {' '.join(str(message).split())}", file=sys.stderr)
    sys.exit(code)


def positive(kind):
    """An argparse type for numbers above zero."""

    def parse(text):
        value = kind(text)
        if not value > 0:
            raise ValueError(text)
        return value

    parse.__name__ = f"{kind.__name__} above 0"
    return parse


def parse_arguments():
    parser = Parser(prog=NAME, description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--platform", default="0", help="platform by index or part of its name")
    parser.add_argument("--seconds", type=positive(float), help="run for this long (default 2)")
    parser.add_argument("--repetitions", type=positive(int), help="run exactly this many rounds instead")
    parser.add_argument("--size", type=positive(int), default=65536, help="elements of the vectors")
    parser.add_argument("--seed", type=int, default=42, help="seed of the input")
    arguments = parser.parse_args()
    if arguments.seconds and arguments.repetitions:
        parser.error("--seconds and --repetitions exclude each other: give one")
    if arguments.size % GROUP != 0:
        parser.error(f"--size must be a multiple of {GROUP}, not {arguments.size}")
    if arguments.seed < 0:
        parser.error(f"--seed must not be negative, not {arguments.seed}")
    arguments.seconds = arguments.seconds or 2.0
    return arguments


def choose_platform(cl, wanted):
    platforms = cl.get_platforms()
    for index, platform in enumerate(platforms):
        if wanted == str(index) or (not wanted.isdigit() and wanted.lower() in platform.name.lower()):
            return platform
    names = ", ".join(f"{index} ({platform.name})" for index, platform in enumerate(platforms))
    return fail(2, f"--platform '{wanted}' matches none of: {names}")


class Saxpy:
    """One round: y = a * x + y0 on the device, then the sum of y; both checked."""

    def __init__(self, cl, numpy, device, size, seed):
        self.cl = cl
        self.numpy = numpy
        self.size = size
        self.context = cl.Context([device])
        # Out of order, so that only the wait lists order the commands.
        properties = cl.command_queue_properties
        wanted = properties.PROFILING_ENABLE
        if device.queue_properties & properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
            wanted |= properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        self.queue = cl.CommandQueue(self.context, properties=wanted)
        program = cl.Program(self.context, SOURCE).build()
        self.saxpy = program.saxpy
        self.sum = program.sum

        random = numpy.random.default_rng(seed)
        self.a = numpy.float32(2.5)
        self.x = random.random(size, dtype=numpy.float32)
        self.y = random.random(size, dtype=numpy.float32)
        flags = cl.mem_flags
        self.device_x = cl.Buffer(self.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=self.x)
        self.device_y = cl.Buffer(self.context, flags.READ_WRITE, self.y.nbytes)
        self.sums = cl.Buffer(self.context, flags.READ_WRITE, 4 * REDUCE_GROUPS)
        self.expected = self.a * self.x + self.y
        self.expected_sum = float(self.expected.astype(numpy.float64).sum())

    def run_round(self):
        """Runs and checks one round; returns the device time of its two kernels in seconds."""
        cl, numpy = self.cl, self.numpy
        written = cl.enqueue_copy(self.queue, self.device_y, self.y, is_blocking=False)
        saxpy = self.saxpy(self.queue, (self.size,), (GROUP,), self.device_y, self.device_x, self.a,
                           wait_for=[written])
        summed = self.sum(self.queue, (GROUP * REDUCE_GROUPS,), (GROUP,), self.sums, self.device_y,
                          numpy.int32(self.size), wait_for=[saxpy])
        sums = numpy.empty(REDUCE_GROUPS, numpy.float32)
        cl.enqueue_copy(self.queue, sums, self.sums, wait_for=[summed], is_blocking=True)
        self.check_vector(saxpy)
        total = float(sums.astype(numpy.float64).sum())
        # Each partial sum adds size / (GROUP * REDUCE_GROUPS) values in single precision.
        if not abs(total - self.expected_sum) <= 1e-5 * self.expected_sum:
            raise Failure(f"the sum is {total}, expected {self.expected_sum}")
        for event in (saxpy, summed):
            if not event.profile.queued <= event.profile.submit <= event.profile.start <= event.profile.end:
                raise Failure("the profiling times of a kernel are out of order")
        return sum(event.profile.end - event.profile.start for event in (saxpy, summed)) * 1e-9

    def check_vector(self, saxpy):
        cl, numpy = self.cl, self.numpy
        mapped, event = cl.enqueue_map_buffer(self.queue, self.device_y, cl.map_flags.READ, 0, self.size,
                                              numpy.float32, wait_for=[saxpy], is_blocking=False)
        event.wait()
        try:
            if not numpy.allclose(mapped, self.expected, rtol=1e-6, atol=1e-6):
                worst = int(numpy.argmax(numpy.abs(mapped - self.expected)))
                raise Failure(f"y[{worst}] is {mapped[worst]}, expected {self.expected[worst]}")
        finally:
            unmapped = mapped.base.release(self.queue)
            if unmapped is not None:
                unmapped.wait()


def run(cl, numpy, arguments):
    platform = choose_platform(cl, arguments.platform)
    device = platform.get_devices()[0]
    saxpy = Saxpy(cl, numpy, device, arguments.size, arguments.seed)
    saxpy.run_round()

    start = time.monotonic()
    rounds, device_seconds, elapsed = 0, 0.0, 0.0
    while rounds < arguments.repetitions if arguments.repetitions else elapsed < arguments.seconds:
        device_seconds += saxpy.run_round()
        rounds += 1
        elapsed = time.monotonic() - start
    print(json.dumps({
        "workload": NAME,
        "platform": platform.name,
        "device": device.name,
        "verified": True,
        "rounds": rounds,
        "kernels": 2 * rounds,
        "seconds": round(elapsed, 6),
        "throughput": round(rounds * arguments.size / 1e6 / elapsed, 6),
        "unit": "Melement/s",
        "kernel_us": round(device_seconds * 1e6 / (2 * rounds), 3),
        "size": arguments.size,
    }), flush=True)


def main():
    arguments = parse_arguments()
    try:
        import numpy
        import pyopencl as cl
    except ImportError as error:
        fail(1, f"{error}; install python3-numpy and python3-pyopencl")
    try:
        run(cl, numpy, arguments)
    except (Failure, cl.Error) as error:
        fail(1, error)


if __name__ == "__main__":
    main()
