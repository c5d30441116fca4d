"""Programs that work when they are asked to (--requests of tests/workloads): several are set up beside each other, and
none of them uses the device meanwhile."""

import contextlib
import json
import os
import select
import subprocess
import time

from running import Process

LEAD_SECONDS = 0.5  # of work before a window
SETTLE_SECONDS = 0.2  # between a request and that work


class LoadFailed(Exception):
    """One line says which program, and why."""


class Load:
    """A program that serves requests. `command` and `environment` as Machine.bare() and Daemon.tenant() give them."""

    def __init__(self, name, command, environment, folder, clock):
        self.name = name
        self.clock = clock
        self._read = b""
        self.process = Process([*command, "--requests", "/dev/stdin"], environment, folder,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def request(self, line):
        try:
            self.process.child.stdin.write((line + "\n").encode())
            self.process.child.stdin.flush()
        except BrokenPipeError:
            pass  # answer() says why

    def answer(self):
        """Rounds and seconds of the oldest request that has not been answered."""
        line = self._line()
        if line is None:
            raise LoadFailed(f"{self.name}: {self._trouble()}")
        found = json.loads(line)
        return found["rounds"], found["seconds"]

    def run(self, rounds):
        """Seconds for so many rounds, with the waits that are the program's own."""
        self.request(f"run {rounds}")
        return self.answer()[1]

    def rounds_in(self, seconds):
        """So many rounds that they take about so long."""
        rounds = 8
        while (taken := self.run(rounds)) < seconds / 2:
            rounds = max(rounds * 2, int(rounds * seconds / max(taken, 1e-6) * 0.7))
        return max(1, round(rounds * seconds / taken))

    def end(self):
        """Ends it; its last result must be right."""
        self.process.child.stdin.close()
        while self._line() is not None:
            pass
        try:
            status = self.process.child.wait(max(1.0, self.clock.left()))
        except subprocess.TimeoutExpired:
            status = None
        if status != 0:
            raise LoadFailed(f"{self.name}: {self._trouble()}")

    def stop(self):
        self.process.stop()
        self.process.child.stdout.close()

    def _line(self):
        """Its next JSON line, or None if there is none in the time that is left."""
        line = self._any_line()
        while line is not None and not line.startswith("{"):
            line = self._any_line()
        return line

    def _any_line(self):
        pipe = self.process.child.stdout.fileno()
        while b"\n" not in self._read:
            if not select.select([pipe], [], [], self.clock.left())[0]:
                return None
            more = os.read(pipe, 4096)
            if not more:
                return None
            self._read += more
        line, self._read = self._read.split(b"\n", 1)
        return line.decode(errors="replace")

    def _trouble(self):
        return self.process.wait(self.clock.part(1)).trouble()


@contextlib.contextmanager
def loads(machine, clock, commands):
    """Starts all of `commands`, which has (command, environment) by name, and stops what is left of them."""
    started = {}
    try:
        for name, (command, environment) in commands.items():
            started[name] = Load(name, command, environment, machine.folder, clock)
        for load in started.values():
            load.request("run 1")
        for load in started.values():
            load.answer()
        yield started
    finally:
        for load in started.values():
            load.stop()


def rates(working, seconds, clock, inside=None):
    """Rounds a second of each of `working` over one window in which all of them work. `inside(begin)` is called
    soon after its beginning and shortly before its end."""
    if clock.left() < seconds + 2:
        raise LoadFailed("no time is left for a window")
    start = time.monotonic() + SETTLE_SECONDS + LEAD_SECONDS
    for load in working:
        load.request(f"window {start:.6f} {seconds} after {LEAD_SECONDS}")
    if inside is not None:
        time.sleep(max(0.0, start + 0.1 * seconds - time.monotonic()))
        inside(True)
        time.sleep(max(0.0, start + 0.9 * seconds - time.monotonic()))
        inside(False)
    found = []
    for load in working:
        rounds, length = load.answer()
        if rounds == 0:
            raise LoadFailed(f"{load.name}: no round ended in a window of {seconds} s")
        found.append(rounds / length)
    return found
