"""Whether a program prints the same as a tenant as it does without FairGV."""

from running import Process

BARE_SECONDS = 60
REFUSALS = ("fairgv:", "fairgv run:")


class BareRuns:
    """Runs of Python's programs without FairGV, begun all at once: they may share the device, for what they print does
    not depend on time."""

    def __init__(self, machine):
        self._machine = machine
        self._running = {}
        self._ended = {}

    def begin(self, name):
        if name not in self._running and name not in self._ended:
            command = self._machine.script(name)
            self._running[name] = Process(*self._machine.bare(command), self._machine.folder)

    def outcome(self, name, clock):
        self.begin(name)
        if name not in self._ended:
            self._ended[name] = self._running.pop(name).wait(clock.part(BARE_SECONDS))
        return self._ended[name]

    def stop(self):
        for process in self._running.values():
            process.stop()
        self._running.clear()


def verdict(bare, tenant):
    """One line for two Outcomes; `tenant()` gives the second one, which is not needed where bare fails."""
    if bare.absent:
        return bare.absent
    if not bare.ended_well:
        return f"unknown: fails without FairGV: {bare.trouble()}"
    found = tenant()
    if found.absent:
        return f"different: bare runs, and the tenant says {found.absent}"
    if not found.ended_well:
        return f"failed: {found.trouble()}"
    if found.output != bare.output:
        return f"different: {first_difference(bare.output, found.output)}"
    return f"equal, {len(bare.output.splitlines())} lines; {bare.seconds:.1f} s bare, {found.seconds:.1f} s as a tenant"


def first_difference(bare, tenant):
    ours, theirs = tenant.splitlines(), bare.splitlines()
    for mine, other in zip(ours, theirs):
        if mine != other:
            return f"'{mine}' is '{other}' bare"
    return f"{len(ours)} lines, {len(theirs)} bare"


def refusal(outcome):
    """The line in which FairGV says that it does not serve the program, or None."""
    if outcome.ended_well:
        return None
    return next((line for line in outcome.errors.splitlines() if line.startswith(REFUSALS)), None)


def script_question(machine, bare_runs, name, direct, clock, details):
    """A program of Python's, direct or with a worker."""
    def as_tenant():
        with machine.daemon() as daemon:
            outcome = daemon.run(machine.script(name), clock.left(), direct=direct)
            if not outcome.ended_well:
                details(f"{name}\n{outcome.output}{outcome.errors}\ndaemon:\n{daemon.log()}")
            return outcome

    bare = bare_runs.outcome(name, clock)
    if not bare.ended_well and not bare.absent:
        details(f"{name}, bare\n{bare.output}{bare.errors}")
    found = {}

    def once():
        found["tenant"] = as_tenant()
        return found["tenant"]

    line = verdict(bare, once)
    told = refusal(found["tenant"]) if "tenant" in found else None
    return f"refused: {told}" if told and not direct and bare.ended_well else line


STATIC = [["redirect", "numbers"], ["redirect", "numbers_no_pie"], ["redirect", "device_code"],
          ["redirect", "linked", "linked", "after_main"], ["redirect", "execution"], ["redirect", "memory"],
          ["redirect", "graphs"], ["redirect", "textures", "array_2d", "pitched", "volumes"],
          ["redirect", "per_thread"], ["redirect", "linked_counter"]]
SHARED = [["redirect", "numbers_shared"], ["redirect", "device_code_shared"],
          ["cudart", "execution"], ["cudart", "memory"], ["cudart", "graphs"], ["cudart", "linked"],
          ["cudart", "textures"], ["cudart", "surfaces"], ["cudart", "per_thread"]]
STRIPPED = ["redirect", "numbers_stripped"]


class NativeBareRuns:
    """Programs of nvcc without FairGV: each runs once for all questions."""

    def __init__(self, machine):
        self.machine = machine
        self.environment = {"FAIRGV_TEST_LIBCUDA": "softcuda" if machine.software else "system"}
        self._ended = {}

    def command(self, program):
        folder, name, *arguments = program
        return [str(self.machine.tree / "tests/cuda" / folder / "programs" / name), *arguments]

    def outcome(self, program, clock):
        key = tuple(program)
        if key not in self._ended:
            self._ended[key] = self.machine.run_bare(self.command(program), clock.part(10), **self.environment)
        return self._ended[key]


def native_question(machine, bare_runs, programs, direct, clock, details):
    """Programs that nvcc has linked, all in one line."""
    # What the driver beneath answers: a direct program sees NVIDIA's own.
    beneath = {"FAIRGV_TEST_LIBCUDA": "direct" if direct else "tenant"}
    if direct and not machine.software:
        beneath = bare_runs.environment
    judged = []
    with machine.daemon() as daemon:
        for program in programs:
            if not clock.has(1):
                judged.append((program[1], "not asked: no time is left"))
                continue
            bare = bare_runs.outcome(program, clock)
            outcomes = []

            def tenant():
                outcomes.append(daemon.run(bare_runs.command(program), clock.part(10), direct=direct, **beneath))
                return outcomes[-1]

            line = verdict(bare, tenant)
            told = refusal(outcomes[0]) if outcomes else None
            judged.append((program[1], f"refused: {told}" if told and not direct else line))
            if not line.startswith("equal"):
                details(f"{program[1]}\nbare:\n{bare.output}{bare.errors}\ntenant:\n"
                        + "".join(outcome.output + outcome.errors for outcome in outcomes))
        if not all(line.startswith("equal") for _, line in judged):
            details(f"daemon:\n{daemon.log()}")
    return together(judged)


def together(judged):
    """One line for many verdicts: how many are equal, and each that is not."""
    others = [f"{name}: {line}" for name, line in judged if not line.startswith("equal")]
    if not others:
        return f"equal, all {len(judged)} programs"
    kinds = ("different", "failed", "unknown", "refused", "not asked")
    worst = next(kind for kind in kinds if any(f": {kind}" in other for other in others))
    if len(others) == len(judged) and worst == "refused":
        worst = "failed"  # none of them is served
    return f"{worst}: {len(judged) - len(others)} of {len(judged)} equal; " + "; ".join(others)
