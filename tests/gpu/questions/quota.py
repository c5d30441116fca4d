"""Whether 32 threads of one direct program ever hold more memory than its tenant may."""

import json
import random
import re

THREADS = 32
LIMIT = 64 << 20
TORCH_LIMIT = 2 << 30


def judged(limit, total, most, granted, refused, freed_is_back):
    """One line for what a program found."""
    wrong = []
    if total != limit:
        wrong.append(f"the program is told of {total} bytes in all")
    if most > limit:
        wrong.append(f"{most} bytes were held at once")
    if not freed_is_back:
        wrong.append("freed memory has not come back")
    if refused == 0:
        wrong.append("the limit was never met")
    if granted == 0:
        wrong.append("nothing was granted")
    counts = f"limit {limit}, {THREADS} threads, {granted} granted, {refused} refused, most held {most}"
    return f"failed: {'; '.join(wrong)} ({counts})" if wrong else f"kept: {counts}"


def native_quota(machine, clock, details):
    """The Driver API's allocations, linear and managed."""
    seed = random.randrange(1 << 30)
    command = [machine.program("direct_program"), "allocate", str(THREADS), str(LIMIT), str(seed)]
    with machine.daemon() as daemon:
        outcome = daemon.run(command, clock.left(), direct=True, options=("--mem", str(LIMIT)))
        if not outcome.ended_well:
            details(f"{outcome.output}{outcome.errors}\ndaemon:\n{daemon.log()}")
            return f"failed: {outcome.trouble()} (seed {seed})"
    before = re.search(r"total (\d+) free (\d+)", outcome.output)
    after = re.search(r"granted (\d+) refused (\d+) most (\d+) left (\d+)", outcome.output)
    if before is None or after is None:
        return f"failed: cannot read '{outcome.output.strip()}'"
    total, free = map(int, before.groups())
    granted, refused, most, left = map(int, after.groups())
    return judged(LIMIT, total, most, granted, refused, left == free)


def torch_quota(machine, clock, details):
    with machine.daemon() as daemon:
        outcome = daemon.run(machine.script("torch_quota", str(THREADS)), clock.left(), direct=True,
                             options=("--mem", str(TORCH_LIMIT)), PYTORCH_NO_CUDA_MEMORY_CACHING="1")
        if outcome.absent:
            return outcome.absent
        if not outcome.ended_well:
            details(f"{outcome.output}{outcome.errors}\ndaemon:\n{daemon.log()}")
            return f"failed: {outcome.trouble()}"
    return judged(TORCH_LIMIT, **json.loads(outcome.output))
