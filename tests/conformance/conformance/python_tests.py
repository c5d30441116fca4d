"""Kind `pytest`: files of tests for pytest. A file's tests run in one process, as their authors run them; when that
process dies or hangs, the test it was at is to blame, and another process goes on after it."""

import glob
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import packages
from .batch import Batch
from .columns import kill
from .pytest_plugin.conformance_journal import name_of
from .result import CRASH, TIMEOUT, Outcome

HERE = Path(__file__).resolve().parent
PYTEST = ["-m", "pytest", "-p", "conformance_journal", "-p", "no:cacheprovider", "-q", "--tb=short"]
VARIABLES = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(HERE / "pytest_plugin")}
POLL_S = 0.2


class Journal:
    """What the plugin has written: a line when a test starts, a line when it has ended."""

    def __init__(self, path):
        self.path = path
        self.running = None
        self.outcomes = {}

    def read(self):
        """True if there was news."""
        known = (self.running, len(self.outcomes))
        for line in self.path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if "status" in entry:
                self.outcomes[entry["test"]] = Outcome(entry["status"], entry["detail"], entry["output"])
            self.running = None if "status" in entry else entry["test"]
        return known != (self.running, len(self.outcomes))


class PythonBatch(Batch):
    def __init__(self, suite, file, names):
        super().__init__(suite, names)
        self.python = interpreter(suite)
        self.file = file

    def run(self, column, environment):
        outcomes = {}
        while left := [name for name in self.names if name not in outcomes]:
            outcomes.update(self.run_some(column, environment, left))
        return outcomes

    def run_some(self, column, environment, names):
        """Runs until the end or the first test that ends the process; at least one test has an outcome after that."""
        with tempfile.TemporaryDirectory() as folder:
            journal = Journal(Path(folder) / "journal")
            journal.path.touch()
            tests = Path(folder) / "tests"
            tests.write_text("\n".join(names), encoding="utf-8")
            output = Path(folder) / "output"
            with open(output, "w", encoding="utf-8") as stdout:
                own = VARIABLES | {"CONFORMANCE_JOURNAL": str(journal.path), "CONFORMANCE_TESTS": str(tests)}
                process = column.start(self.python + PYTEST + [str(self.file)], environment, cwd="/", stdout=stdout, own=own)
                try:
                    verdict = self.watch(process, journal)
                finally:
                    kill(process)
            journal.read()
            if journal.running is not None:
                journal.outcomes[journal.running] = verdict
            elif not journal.outcomes:
                journal.outcomes[names[0]] = Outcome(CRASH, "pytest did not start", output.read_text()[-3000:])
            return journal.outcomes

    def watch(self, process, journal):
        """Waits for the end. What the test that never ended is to be called."""
        latest = time.monotonic()
        while process.poll() is None:
            if journal.read():
                latest = time.monotonic()
            if time.monotonic() - latest > self.timeout:
                kill(process)
                process.wait()
                return Outcome(TIMEOUT, f"no end after {self.timeout} s")
            time.sleep(POLL_S)
        return Outcome(CRASH, f"the process ended with {process.returncode}")


def interpreter(suite):
    """The suite's own, if it has packages of the Python index; else Debian's."""
    return [suite.fill_in("{python}")] if suite.index else ["/usr/bin/python3"]


def python_batches(suite, description, bare):
    files = description["files"]
    if "source" in description:
        files = str(packages.python_source(suite.build / "source", description["source"]) / files)
    for file in sorted(glob.glob(files)):
        file = Path(file)
        process = bare.start(interpreter(suite) + PYTEST + ["--collect-only", str(file)], {}, cwd="/", own=VARIABLES)
        output, _ = process.communicate()
        names = [name_of(line) for line in output.splitlines() if "::" in line]
        if not names:
            print(f"conformance: no tests in {file}:\n{output}", file=sys.stderr)
        yield PythonBatch(suite, file, names)
