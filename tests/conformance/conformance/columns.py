"""The two columns: a program on the driver alone, and the same program as a tenant of a private daemon."""

import os
import signal
import subprocess

from .result import CRASH, FAIL, PASS, TIMEOUT, Outcome


# A second device is set apart as if it had hardware of its own. A kernel that waits for another command does not end
# while its session is to rest.
MOVED = "[device.1]\nsame_as = 1\n[session]\nmove_patience_s = 2\n"


def seeing(tenant, numbers):
    """For a daemon whose tenant sees these devices alone, whatever others its sessions are moved to."""
    return f'[tenant."{tenant}"]\ndevices = "{",".join(map(str, numbers))}"\n'


class Column:
    driver = None  # drivers.Driver

    def prefix(self, environment):
        """Words before a command whose driver is to see `environment`."""
        raise NotImplementedError

    def variables(self):
        raise NotImplementedError

    def start(self, command, environment, cwd=None, stdout=subprocess.PIPE, own=None, stderr=subprocess.STDOUT):
        """The command, in a session of its own, with the column's platform and nothing else visible. `environment` is
        for the program and its driver, `own` for the program alone."""
        variables = {name: value for name, value in os.environ.items()
                     if not name.startswith(("OCL_ICD_", "OPENCL_", "FAIRGV_"))}
        variables.update(self.driver.environment)
        variables.update(environment)
        variables.update(own or {})
        variables.update(self.variables())
        return subprocess.Popen(self.prefix(environment) + command, env=variables, cwd=cwd, stdin=subprocess.DEVNULL,
                                stdout=stdout, stderr=stderr, text=True, errors="replace",
                                start_new_session=True)

    def run(self, command, environment, timeout, cwd=None):
        """Runs the command to its end. Its exit status is the outcome. What is on standard error is kept apart, since
        drivers print there, too: when, and whether they have compiled it before, is chance."""
        process = self.start(command, environment, cwd, stderr=subprocess.PIPE)
        try:
            printed, said = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            kill(process)
            return Outcome(TIMEOUT, f"no end after {timeout} s", "".join(process.communicate()))
        finally:
            kill(process)
        output = printed + said
        if process.returncode == 0:
            return Outcome(PASS, "", output, printed)
        if process.returncode < 0:
            return Outcome(CRASH, signal.Signals(-process.returncode).name, output)
        return Outcome(FAIL, last_line(output) or f"exit status {process.returncode}", output)


class Bare(Column):
    def __init__(self, driver):
        self.driver = driver

    def prefix(self, environment):
        return []

    def variables(self):
        return {"OCL_ICD_VENDORS": self.driver.vendors}


class FairGV(Column):
    """Workers have the environment of their daemon, not the program's. So each environment that tests ask of the
    driver gets a daemon of its own, started by its first test and stopped at the end."""

    TENANT = "conformance"

    def __init__(self, driver, programs, folder, slicing=None, mover=None, sees=""):
        self.driver = driver
        self.programs = programs
        self.command = str(programs / "fairgv")
        self.folder = folder
        self.slicing = slicing  # FAIRGV_SLICE
        self.mover = mover
        self.sockets = {}
        self.configuration = folder / "fairgvd.toml"
        self.configuration.write_text(driver.configuration() + (MOVED if mover else "") + sees, encoding="utf-8")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.mover:
            self.mover.stop()
        for socket in self.sockets.values():
            subprocess.run([self.command, "stop", "--socket", socket], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)

    def prefix(self, environment):
        key = tuple(sorted(environment.items()))
        if key not in self.sockets:
            self.sockets[key] = self.start_daemon(environment, str(self.folder / f"fairgvd-{len(self.sockets)}.sock"))
        if self.mover:
            self.mover.serve(self.sockets[key])
        return [self.command, "run", "--socket", self.sockets[key], "--tenant", self.TENANT, "--"]

    def start_daemon(self, environment, socket):
        variables = {name: value for name, value in os.environ.items()
                     if not name.startswith(("OCL_ICD_", "OPENCL_", "FAIRGV_"))}
        variables.update(self.driver.environment | environment)
        subprocess.run([self.programs / "fairgvd", "--daemonize", "--socket", socket, "--config", self.configuration],
                       env=variables, stdin=subprocess.DEVNULL, check=True)
        return socket

    def variables(self):
        return {"FAIRGV_SLICE": self.slicing} if self.slicing else {}


def kill(process):
    """The process and what it has left behind."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def last_line(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else ""
