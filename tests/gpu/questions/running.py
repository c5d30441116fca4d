"""Runs programs with a time limit each, and says in one line what went wrong."""

import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

ABSENT = 77  # a program's exit status where what it needs is not on the machine


@dataclass
class Outcome:
    """How a program ended. `status` is None if it was stopped at its limit."""

    status: int | None
    output: str
    errors: str
    seconds: float
    daemon_said: str = ""  # last, if the program is a tenant that did not end well

    @property
    def ended_well(self):
        return self.status == 0

    @property
    def absent(self):
        """What the machine lacks for this program, or None."""
        return self.output.strip() if self.status == ABSENT else None

    def trouble(self):
        """One line for a program that did not end well."""
        return self._trouble() + (f"; the daemon's log: {self.daemon_said}" if self.daemon_said else "")

    def _trouble(self):
        if self.status is None:
            last = [line for line in (self.output + self.errors).splitlines() if line.strip()][-1:]
            return f"no end within {self.seconds:.0f} s; last line: {last[0] if last else 'none'}"
        return error_line(self.errors) or error_line(self.output) or ended_by(self.status)


def ended_by(status):
    return f"ended by signal {-status}" if status < 0 else f"exit status {status}"


def error_line(text):
    """The line that says most: FairGV's own, and the exception of Python's last traceback, or else the first line."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith(("fairgv", "on_machine"))][:1]
    starts = [at for at, line in enumerate(lines) if line.startswith("Traceback")]
    if starts:
        # The exception comes after the frames, which are indented.
        said += [line for line in lines[starts[-1] + 1:] if not line.startswith(" ")][:1]
    return "; ".join(said) if said else (lines[0] if lines else "")


class Clock:
    """The time that is left for one thing, within another Clock's. Limits are those of a GPU; where `patience` is more
    than 1, they are so many times as long."""

    def __init__(self, seconds, within=None, patience=1):
        self._patience = patience if within is None else within._patience
        end = time.monotonic() + (seconds if within is None else seconds * self._patience)
        self._end = end if within is None else min(end, within._end)

    def left(self):
        return max(0.0, self._end - time.monotonic())

    def has(self, seconds):
        return self.left() >= seconds * self._patience

    def pause(self, seconds):
        time.sleep(min(seconds, self.left()))

    def part(self, seconds):
        """So long, or what is left."""
        return min(seconds * self._patience, self.left())


class Process:
    """A program that runs, in a process group of its own, which stop() ends as a whole."""

    def __init__(self, command, environment, folder, **pipes):
        self.started = time.monotonic()
        self._output = tempfile.TemporaryFile()
        self._errors = tempfile.TemporaryFile()
        pipes = {"stdin": subprocess.DEVNULL, "stdout": self._output, **pipes}
        self.child = subprocess.Popen([str(word) for word in command], env=environment, cwd=folder,
                                      stderr=self._errors, start_new_session=True, **pipes)

    def wait(self, seconds):
        """Its outcome, at the latest after so long: what has not ended by then is stopped."""
        try:
            status = self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        self.stop()
        outcome = Outcome(status, self.text(self._output), self.text(self._errors), time.monotonic() - self.started)
        self._output.close()
        self._errors.close()
        return outcome

    def output(self):
        return self.text(self._output)

    def errors(self):
        return self.text(self._errors)

    @staticmethod
    def text(file):
        file.seek(0)
        return file.read().decode(errors="replace")

    def stop(self):
        """Ends what is left of the group."""
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()


def run(command, environment, folder, seconds):
    return Process(command, environment, folder).wait(seconds)
