"""Asks what only a GPU can answer, a line for each question, the most important first. Lines are printed, and written
to questions.txt of --report, as soon as they are known; what programs printed that did not do well goes to details.txt.

Status 1 if a tenant fails, or its program prints something else than without FairGV."""

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from equality import SHARED, STATIC, STRIPPED, BareRuns, NativeBareRuns, native_question, refusal, script_question
from experiments import EXPERIMENTS, experiment
from machine import Machine
from moves import lent_memory, moved_cuda
from opencl import WORKLOADS, OpenCl
from overhead import overhead, overhead_line
from quota import native_quota, torch_quota
from running import Clock
from sharing import beside_each_other, shares_line

PATIENCE = 10  # without a GPU: a small machine, with other work, whose time says nothing
DETAILS_EACH = 12_000  # characters of one text
WRONG = ("failed", "different")
UNKNOWN = "unknown"  # a program fails without FairGV, too
DIRECT = ("torch_convolution", "torch_transformer", "torch_matmul", "torch_graph", "triton_kernels", "jax_step",
          "cupy_arrays", "numba_kernels")
REMOTED = ("numba_kernels", "triton_kernels", "cupy_arrays", "torch_convolution")


@dataclass
class Question:
    name: str
    seconds: float  # at most
    answer: Callable  # (clock, details) -> the line


class Report:
    def __init__(self, folder, wrong):
        folder.mkdir(parents=True, exist_ok=True)
        self._lines = open(folder / "questions.txt", "w")
        self._details = open(folder / "details.txt", "w")
        self._wrong = wrong
        self.wrong = 0  # lines that begin so

    def line(self, name, answer, seconds=0.0):
        text = f"{name}: {' '.join(answer.split())} [{seconds:.0f} s]"
        self.wrong += answer.startswith(self._wrong)
        for file in (sys.stdout, self._lines):
            print(text, file=file, flush=True)

    def close(self):
        self._lines.close()
        self._details.close()

    def details(self, name, text):
        print(f"== {name}: {text[-DETAILS_EACH:]}", file=self._details, flush=True)


def questions(machine, bare_runs, quick):
    """All of them, in order."""
    found = []

    def add(name, seconds, answer):
        found.append(Question(name, seconds, answer))

    def script(name, direct):
        how = "direct" if direct else "remoted"
        add(f"{'a' if direct else 'd'} {name}, {how}", 40 if direct else 25,
            lambda clock, details: script_question(machine, bare_runs, name, direct, clock, details))

    for name in DIRECT:
        script(name, direct=True)
    # NVIDIA's runtime, which is in static programs, runs on NVIDIA's driver alone.
    native = SHARED if machine.software else STATIC + SHARED + [STRIPPED]
    native_bare = NativeBareRuns(machine)
    add("a programs of nvcc, direct", 60,
        lambda clock, details: native_question(machine, native_bare, native, True, clock, details))

    add("b two of PyTorch, one by graphs, direct", 75,
        lambda clock, _: torch_shares(machine, bare_runs, clock, 1.0 if quick else 6.0, not quick))
    add("b two of matrixMul, direct", 50,
        lambda clock, _: kernel_shares(machine, clock, 1.0 if quick else 6.0, not quick))
    pairs, turns = (1, 4) if quick else (5, 8)
    for how in ("direct", "remoted"):
        add(f"c overhead of short kernels, {how}", 45, lambda clock, _, how=how:
            overhead_line(*overhead(machine, clock, how, pairs, turns), how, not quick))
    add("d programs with NVIDIA's runtime in them, remoted", 40,
        lambda clock, details: native_question(machine, native_bare, STATIC, False, clock, details))
    add("d a program without symbols, remoted", 15, lambda clock, _: stripped(machine, clock))
    for name in REMOTED:
        script(name, direct=False)
    add("e quota, direct", 25, lambda clock, details: native_quota(machine, clock, details))
    add("e quota of PyTorch, direct", 40, lambda clock, details: torch_quota(machine, clock, details))
    for name in EXPERIMENTS:
        add(f"f {name}", 45, lambda clock, details, name=name: experiment(machine, name, clock, details, quick))
    opencl = OpenCl(machine)
    workloads = ("matrixMul", "hotspot", "scan") if quick else WORKLOADS
    sliced = "SlicingRuns.*" if quick else "*"
    parts = {"clinfo": (20, opencl.devices),
             "workloads": (60, lambda clock, details: opencl.workloads(clock, details, workloads)),
             "fair3": (45, lambda clock, _: opencl.fair3(clock, 1.0 if quick else 6.0)),
             "equality of slicing": (60, lambda clock, details: opencl.slicing(clock, details, sliced))}
    for name, (seconds, answer) in parts.items():
        missing = "absent: no driver of OpenCL beside that of CUDA"
        add(f"g OpenCL, {name}", seconds, answer if opencl.driver else lambda *_: missing)
    add("h a CUDA program that moves, remoted", 40,
        lambda clock, details: moved_cuda(machine, clock, details, quick))
    add("h more memory than the device has, OpenCL", 60,
        (lambda clock, details: lent_memory(machine, opencl, clock, details, quick)) if opencl.driver
        else lambda *_: "absent: no driver of OpenCL beside that of CUDA")
    return found


def torch_shares(machine, bare_runs, clock, seconds, judged):
    missing = bare_runs.outcome("torch_convolution", clock).absent
    if missing:
        return missing
    programs = {"eager": machine.script("torch_load"), "graph": machine.script("torch_load", "--graph")}
    return shares_line(beside_each_other(machine, clock, programs, [(30, 70), (1, 1)], seconds, direct=True), judged)


def kernel_shares(machine, clock, seconds, judged):
    command = [machine.program("workloads/cuda/matrixMul"), "--sync", "stream"]
    command += [] if machine.software else ["--kernel-us", "200"]
    programs = {"first": command, "second": command}
    return shares_line(beside_each_other(machine, clock, programs, [(30, 70), (1, 1)], seconds, direct=True), judged)


def stripped(machine, clock):
    command = [str(machine.tree / "tests/cuda/redirect/programs/numbers_stripped")]
    with machine.daemon() as daemon:
        outcome = daemon.run(command, clock.left())
    told = refusal(outcome)
    return f"refused: {told}" if told else f"failed: no line says why: {outcome.trouble()}"


def ask(asked, report, whole):
    for question in asked:
        clock = Clock(question.seconds, whole)
        if clock.left() < 3:
            report.line(question.name, "not asked: no time is left")
            continue
        begun = time.monotonic()
        try:
            answer = question.answer(clock, lambda text, name=question.name: report.details(name, text))
        except Exception as error:  # one question must not cost the others
            report.details(question.name, traceback.format_exc() + getattr(error, "daemon_log", ""))
            answer = f"failed: {error}"
        report.line(question.name, answer, time.monotonic() - begun)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundle", type=Path, required=True)
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--driver", required=True, help="the libcuda.so.1 of the device")
    parser.add_argument("--cudart", help="folder of the runtime library that programs use")
    parser.add_argument("--software", action="store_true", help="the driver is FairGV's software driver")
    parser.add_argument("--quick", action="store_true", help="short measurements, which are not judged")
    parser.add_argument("--seconds", type=float, default=400, help="for all questions together")
    parser.add_argument("--only", help="questions whose name contains this")
    arguments = parser.parse_args()
    # Programs that fail on the software driver are FairGV's affair.
    report = Report(arguments.report, (*WRONG, UNKNOWN) if arguments.software else WRONG)
    scratch = Path(tempfile.mkdtemp(prefix="fairgv-gpu-"))
    bare_runs = None
    try:
        machine = Machine(arguments.bundle, arguments.driver, arguments.cudart, arguments.software, sys.executable,
                          scratch)
        bare_runs = BareRuns(machine)
        asked = [question for question in questions(machine, bare_runs, arguments.quick)
                 if (arguments.only or "") in question.name]
        for name in DIRECT:
            if any(f" {name}," in question.name for question in asked):
                bare_runs.begin(name)
        ask(asked, report, Clock(arguments.seconds, patience=PATIENCE if arguments.software else 1))
    finally:
        if bare_runs:
            bare_runs.stop()
        report.close()
        shutil.rmtree(scratch, ignore_errors=True)
    return 1 if report.wrong or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
