"""OpenCL on the device: NVIDIA's driver of OpenCL lies beside its CUDA driver, and need not be registered."""

import contextlib
import re
import subprocess
from pathlib import Path

from sharing import beside_each_other

LIBRARY = "libnvidia-opencl.so.1"
WORKLOADS = ("matrixMul", "BlackScholes", "hotspot", "srad", "scan", "convolutionSeparable", "histogram", "cfd",
             "heartwall", "lavaMD", "nw", "pathfinder")
WEIGHTS = (1, 2, 3)


def find_driver(machine):
    """The library that a vendor file would name, or None."""
    if machine.software:  # PoCL stands for it
        for file in sorted(Path("/etc/OpenCL/vendors").glob("pocl*.icd")):
            return file.read_text().strip()
        return None
    folders = [Path(machine.driver).parent, Path(machine.driver).resolve().parent, Path("/usr/local/nvidia/lib64")]
    for folder in folders:
        if (folder / LIBRARY).exists():
            return str(folder / LIBRARY)
    with contextlib.suppress(OSError):
        known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
        found = re.search(rf"{re.escape(LIBRARY)}.*=> (\S+)", known)
        return found.group(1) if found else None
    return None


class OpenCl:
    """The driver, registered in a folder of this run's own."""

    def __init__(self, machine):
        self.machine = machine
        self.driver = find_driver(machine)
        self.vendors = machine.scratch / "vendors"
        if self.driver:
            self.vendors.mkdir()
            (self.vendors / "device.icd").write_text(self.driver + "\n")
        self.tables = f'[opencl]\nvendors = "{self.vendors}"\n'

    def bare(self, command):
        return self.machine.bare(command, OCL_ICD_VENDORS=str(self.vendors))

    def run_bare(self, command, seconds):
        return self.machine.run_bare(command, seconds, OCL_ICD_VENDORS=str(self.vendors))

    def devices(self, clock, details):
        """What clinfo lists, bare and as a tenant."""
        clinfo = self.machine.program("clinfo")
        if not Path(clinfo).exists():
            return "absent: the bundle has no clinfo"
        bare = self.run_bare([clinfo, "-l"], clock.part(20))
        with self.machine.daemon(self.tables) as daemon:
            tenant = daemon.run([clinfo, "-l"], clock.part(20))
            details(f"{bare.output}{bare.errors}\ntenant:\n{tenant.output}{tenant.errors}\ndaemon:\n{daemon.log()}")
        if not bare.ended_well:
            return f"unknown: fails without FairGV: {bare.trouble()}"
        if not tenant.ended_well:
            return f"failed: {tenant.trouble()}"
        names = [re.findall(r"Device #\d+: (.*)", outcome.output) for outcome in (bare, tenant)]
        if names[0] != names[1] or not names[0]:
            return f"different: devices {names[1]}, {names[0]} bare"
        platform = re.search(r"Platform #\d+: (.*)", tenant.output)
        return f"equal: {', '.join(names[0])}; the tenant's platform is {platform.group(1) if platform else 'nameless'}"

    def workloads(self, clock, details, names):
        """Each one bare, as a tenant and cut at random, every round checked."""
        wrong = []
        with self.machine.daemon(self.tables) as daemon:
            for name in names:
                command = [self.machine.program(f"workloads/{name}"), "--repetitions", "3", "--verify", "always"]
                runs = {"bare": lambda: self.run_bare(command, clock.part(15)),
                        "tenant": lambda: daemon.run(command, clock.part(15)),
                        "cut": lambda: daemon.run(command, clock.part(15), FAIRGV_SLICE="random:7")}
                for kind, run in runs.items():
                    outcome = run()
                    if not outcome.ended_well:
                        details(f"{kind} {name}\n{outcome.output}{outcome.errors}")
                        wrong.append(f"{kind} {name}: {outcome.trouble()}")
            if wrong:
                details(f"daemon:\n{daemon.log()}")
        total = 3 * len(names)
        if wrong:
            return f"failed: {total - len(wrong)} of {total} right; " + "; ".join(wrong)
        return f"right, all {len(names)} workloads bare, as tenants, and cut at random"

    def fair3(self, clock, seconds):
        """Three tenants, 1:2:3."""
        command = [self.machine.program("workloads/matrixMul"), "--sync", "stream"]
        command += [] if self.machine.software else ["--kernel-us", "200"]
        programs = {f"tenant{weight}": command for weight in WEIGHTS}
        [window] = beside_each_other(self.machine, clock, programs, [WEIGHTS], seconds, tables=self.tables,
                                     bare=self.bare)
        return (f"Min-Max Ratio {window.min_max_ratio():.3f}, total {window.total:.3f} of bare, by the books "
                + "/".join(f"{share:.3f}" for share in window.by_books))

    def slicing(self, clock, details, chosen="*"):
        """Launches in parts equal whole ones, on the bare driver."""
        command = [self.machine.program("slicing_equality_test"), f"--gtest_filter={chosen}"]
        outcome = self.run_bare(command, clock.left())
        if outcome.ended_well:
            return f"equal: {' '.join(re.findall(r'PASSED.*', outcome.output))}"
        details(outcome.output + outcome.errors)
        failed = sorted(set(re.findall(r"FAILED  \] (\S+)", outcome.output)))
        return f"different: {', '.join(failed)}" if failed else f"failed: {outcome.trouble()}"
