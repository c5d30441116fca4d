"""Sessions that move: a CUDA program gets new workers and is parked while it runs, and tenants of OpenCL have more memory
together than the device."""

import json
import re

from running import Process

TENANTS = 3
BUFFERS = (9, 4)  # that a program writes, and that it only reads
WANTED = 0.90  # of what the tenants do when all fits


def answer_of(outcome):
    """One line of a command of FairGV's."""
    text = (outcome.output + outcome.errors).strip()
    return text.splitlines()[0] if text else "no answer"


def moved_cuda(machine, clock, details, quick):
    """A remoted program's results after three new workers and a park, or the line that refuses."""
    command = [machine.program("workloads/cuda/matrixMul"), "--seconds", "4" if quick else "10", "--verify", "last",
               "--sync", "every", "--progress-ms", "100"]
    with machine.daemon() as daemon:
        words, environment = daemon.tenant(command)
        process = Process(words, environment, machine.folder)
        said, held = [], []
        for _ in range(100):
            if "progress" in process.output() or process.child.poll() is not None:
                break
            clock.pause(0.2)
        steps = [("migrate", "tenant")] * 3 + [("park", "tenant"), ("resume", "tenant")]
        for step in steps:
            outcome = daemon.fairgv(*step)
            said.append(f"{step[0]}: {answer_of(outcome)}")
            held += re.findall(r"held for ([0-9.]+) ms", outcome.output)
            clock.pause(0.3)
        ended = process.wait(clock.left())
        details("\n".join(said) + f"\n{ended.output[-2000:]}{ended.errors}\ndaemon:\n{daemon.log()}")
    if not ended.ended_well:
        return f"failed: {ended.trouble()} ({'; '.join(said)})"
    times = "/".join(held)
    if len(held) < 3:
        return f"refused: {said[0]} (the program ended well)"
    return f"right after {len(held)} moves, held for {times} ms; {said[-2]}; {said[-1]}"


def rounds_of(machine, opencl, clock, lines, mib, seconds):
    """Rounds a second of all tenants, and the least over the most."""
    with machine.daemon(lines + opencl.tables) as daemon:
        command = [machine.program("fairgv-probe-memory"), *BUFFERS, mib, 1, seconds]
        started = [Process(*daemon.tenant(command, name=f"tenant{i}"), machine.folder) for i in range(TENANTS)]
        outcomes = [each.wait(clock.left()) for each in started]
        for outcome in outcomes:
            if not outcome.ended_well:
                raise RuntimeError(f"{outcome.trouble()}; daemon: {daemon.log()[-2000:]}")
    results = [json.loads(outcome.output.splitlines()[-1]) for outcome in outcomes]
    rates = [result["rounds"] / result["seconds"] for result in results]
    return sum(rates), min(rates) / max(rates)


def lent_memory(machine, opencl, clock, details, quick):
    """Three tenants that use 80 % of a device each."""
    mib = 2 if quick else 128
    size = int(sum(BUFFERS) * mib / 0.8)
    seconds = 2 if quick else 12
    table = "" if machine.software else "[device]\n"  # which has begun where the software driver stands for it
    fits, _ = rounds_of(machine, opencl, clock, f'{table}memory = "{4 * size}MiB"\n', mib, seconds)
    lent, fair = rounds_of(machine, opencl, clock, f'{table}memory = "{size}MiB"\noversubscribe = 2.5\n', mib, seconds)
    line = f"{lent / fits:.3f} of what all do when it fits, least over most {fair:.3f}, device of {size} MiB"
    if quick:
        return f"right, {line} (short windows)"
    return f"right, {line}; wanted >= {WANTED}: {'kept' if lent / fits >= WANTED else 'MISSED'}"
