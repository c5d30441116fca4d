"""Kind `gtest`: programs of GoogleTest. Each test runs in a process of its own, so that one that crashes is one row."""

import glob
import re
import subprocess
from pathlib import Path

from .batch import Batch
from .result import PASS, SKIP

SKIPPED = re.compile(r"^\[  SKIPPED \]", re.MULTILINE)
FAILED = re.compile(r"^\S+\.cpp:\d+: Failure\n(?:.+\n){1,4}", re.MULTILINE)


class GTestBatch(Batch):
    def __init__(self, suite, program, test):
        super().__init__(suite, [test])
        self.program = program

    def run(self, column, environment):
        [test] = self.names
        outcome = column.run([self.program, f"--gtest_filter={test}"], environment, self.timeout, "/")
        if outcome.status == PASS and SKIPPED.search(outcome.output):
            outcome.status = SKIP
        elif outcome.status != PASS and (found := FAILED.search(outcome.output)):
            outcome.detail = " ".join(found.group(0).split())
        return {test: outcome}


def tests_of(program):
    """Names as --gtest_filter takes them: a suite's line is followed by those of its tests, indented."""
    listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    suite = ""
    for line in listed.splitlines():
        word = line.split("#")[0].rstrip()
        if not word.startswith(" "):
            suite = word
        elif "DISABLED_" not in suite + word:
            yield suite + word.strip()


def gtest_batches(suite, description, _bare):
    for program in sorted(glob.glob(str(Path(suite.fill_in(description["each"]))))):
        for test in tests_of(program):
            if not re.search(description.get("without", "(?!)"), test):
                yield GTestBatch(suite, program, test)
