"""What a lone tenant with short kernels pays: computeLoop bare and as a tenant, in turns."""

import json
from statistics import median

from loads import LoadFailed, loads

KERNEL_US = 22
WANTED = {"direct": 1.01, "remoted": 1.02}


def overhead(machine, clock, how, pairs, turns, turn_seconds=0.1):
    """Ratios of the time of equal work, as a tenant over bare: one for each pair of new processes."""
    loop = machine.program("workloads/cuda/computeLoop")
    sized = machine.run_bare([loop, "--kernel-us", str(KERNEL_US), "--repetitions", "100"], clock.part(30))
    if not sized.ended_well:
        raise LoadFailed(f"bare computeLoop: {sized.trouble()}")
    found = json.loads(sized.output)
    command = [loop, "--iterations", str(int(found["iterations"])), "--batch", "12", "--sync", "batch"]
    ratios = []
    with machine.daemon() as daemon:
        for _ in range(pairs):
            if ratios and not clock.has(8):
                break  # fewer pairs say more than none
            commands = {"bare": machine.bare(command), how: daemon.tenant(command, direct=how == "direct")}
            with loads(machine, clock, commands) as started:
                ratios.append(in_turns(started["bare"], started[how], turns, turn_seconds))
    return ratios, found["kernel_us"]


def in_turns(bare, tenant, turns, turn_seconds):
    rounds = bare.rounds_in(turn_seconds)
    seconds = {bare: [], tenant: []}
    tenant.run(rounds)
    for turn in range(turns):
        for load in (bare, tenant) if turn % 2 == 0 else (tenant, bare):
            seconds[load].append(load.run(rounds))
    for load in (bare, tenant):
        load.end()
    return median(seconds[tenant]) / median(seconds[bare])


def overhead_line(ratios, kernel_us, how, judged):
    found = median(ratios)
    line = f"{found:.4f} ({min(ratios):.4f} to {max(ratios):.4f}, {len(ratios)} pairs), kernels of {kernel_us:.1f} us"
    if not judged:
        return f"{line} (short)"
    return f"{line}; wanted <= {WANTED[how]}: {'kept' if found <= WANTED[how] else 'MISSED'}"
