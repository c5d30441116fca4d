"""The bundle on this machine: how programs run bare, as tenants, and direct, and a daemon for them."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from running import Process, run

PROGRAMS = Path(__file__).resolve().parent / "programs"


def known_to_the_linker():
    """The names of the libraries that the machine has itself."""
    try:
        listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return set()
    return {line.split()[0] for line in listing.splitlines()[1:] if line.strip()}


class Machine:
    """Where everything lies. `software`: the software driver stands for NVIDIA's."""

    def __init__(self, bundle, driver, cudart, software, python, scratch):
        self.tree = bundle / "tree"
        self.libraries = bundle / "libs"
        self.folder = bundle  # workers see the folder that programs run in
        self.driver = driver
        self.cudart = cudart or str(self.tree / "lib/cuda")
        self.software = software
        self.python = python
        self.scratch = scratch
        # Python's packages have libraries of their own, newer than the bundle's: of the bundle they get what the
        # machine lacks.
        self.lacking = scratch / "lacking"
        self.lacking.mkdir()
        has = known_to_the_linker()
        for library in sorted(self.libraries.iterdir()):
            if library.name not in has:
                (self.lacking / library.name).symlink_to(library)

    def program(self, name):
        return str(self.tree / "bin" / name)

    def script(self, name, *arguments):
        return [self.python, PROGRAMS / f"{name}.py", *arguments]

    # What precedes a program's own library path, of Python's programs and of the bundle's.
    def _environment(self, command, folders, changes):
        is_script = str(command[0]) == self.python
        folders = [str(folder) for folder in folders]
        if is_script:
            own = os.environ.get("FAIRGV_GPU_LIBRARY_PATH", "")
            folders += [str(self.lacking)] + ([own] if own else [])
        else:
            folders += [self.cudart, str(self.libraries)]
        settings = {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1",
                    "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "FAIRGV_SOFTCUDA_CACHE": str(self.scratch / "cache")}
        return {**os.environ, **settings, "LD_LIBRARY_PATH": ":".join(folders), **changes}

    def on_driver(self):
        """The changes with which programs run on the driver in their own process. NVIDIA's runtime runs on NVIDIA's
        driver alone, and run-time compilers make machine code for it: on the software driver it takes FairGV's."""
        return {"LD_PRELOAD": str(self.tree / "lib/cuda/libfairgv-cudart-preload.so")} if self.software else {}

    def bare(self, command, **changes):
        """A command on the driver alone, and its environment."""
        is_script = str(command[0]) == self.python
        # The machine's linker finds NVIDIA's driver; the software driver is only in the bundle.
        folders = [] if is_script and not self.software else [Path(self.driver).parent]
        return command, self._environment(command, folders, {**self.on_driver(), **changes})

    def run_bare(self, command, seconds, **changes):
        return run(*self.bare(command, **changes), self.folder, seconds)

    def run_own(self, command, seconds, **changes):
        """A command of FairGV's."""
        return run(command, self._environment(command, [], changes), self.folder, seconds)

    @contextlib.contextmanager
    def daemon(self, tables="", **changes):
        """A daemon of its own, whose programs may be direct ones; ends with its block."""
        folder = Path(tempfile.mkdtemp(dir=self.scratch, prefix="daemon-"))
        config = folder / "fairgvd.toml"
        # Without a GPU the machine's other work holds up programs that have the device: that is no fault of theirs.
        held = "[device]\nhold_limit_s = 300\n" if self.software else ""
        config.write_text(f'[cuda]\nlibrary = "{self.driver}"\ndirect = "fallback"\n{held}{tables}')
        socket = folder / "fairgvd.sock"
        command = [self.program("fairgvd"), "--socket", socket, "--config", config, "--exit-idle", "600"]
        process = Process(command, self._environment(command, [], changes), self.folder)
        daemon = Daemon(self, socket, process)
        try:
            daemon.await_socket()
            yield daemon
        finally:
            process.child.terminate()
            try:
                process.child.wait(5)
            except subprocess.TimeoutExpired:
                pass
            process.stop()
            shutil.rmtree(folder, ignore_errors=True)


class Daemon:
    def __init__(self, machine, socket, process):
        self.machine = machine
        self.socket = socket
        self.process = process

    def await_socket(self):
        for _ in range(100):
            if self.socket.exists():
                return
            if self.process.child.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"the daemon does not start: {self.process.errors().strip().splitlines()[-1:]}")

    def log(self):
        return self.process.errors()

    def tenant(self, command, name="tenant", weight=1, direct=False, options=(), **changes):
        """The command as a tenant, and its environment."""
        words = [self.machine.program("fairgv"), "run", "--socket", self.socket, "--tenant", name, "--weight", weight]
        words += ["--direct" if direct else "--no-direct", *options, "--", *command]
        if direct:
            changes = {**self.machine.on_driver(), **changes}
        return words, self.machine._environment(command, [], changes)

    def run(self, command, seconds, **options):
        outcome = run(*self.tenant(command, **options), self.machine.folder, seconds)
        if not outcome.ended_well:
            warnings = [line for line in self.log().splitlines() if " warning: " in line or " error: " in line]
            outcome.daemon_said = warnings[-1] if warnings else ""
        return outcome

    def fairgv(self, *words):
        command = [self.machine.program("fairgv"), words[0], "--socket", self.socket, *words[1:]]
        return self.machine.run_own(command, 20)

    def set_weight(self, tenant, weight):
        outcome = self.fairgv("set", tenant, f"weight={weight}")
        if not outcome.ended_well:
            raise RuntimeError(f"fairgv set: {outcome.trouble()}")

    def device_time(self):
        """Nanoseconds of device time of each tenant so far."""
        outcome = self.fairgv("ps", "--json")
        if not outcome.ended_well:
            raise RuntimeError(f"fairgv ps: {outcome.trouble()}")
        return {tenant["tenant"]: sum(tenant["device_time_ns"]) for tenant in json.loads(outcome.output)["tenants"]}
