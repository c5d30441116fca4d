"""A suite is a file in suites/: README.md says what may stand in it. This module turns one into batches: what runs
at once in a column, one after the other in both."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from . import packages
from .batch import Batch
from .cmake_tests import cmake_batches
from .compare import Comparison
from .gtests import gtest_batches
from .programs import program_batches
from .python_tests import python_batches
from .result import ABSENT, Outcome

KINDS = {"program": program_batches, "gtest": gtest_batches, "cmake": cmake_batches, "pytest": python_batches}


class AbsentBatch(Batch):
    """A suite whose programs could not be had: one row that says why."""

    def __init__(self, suite, reason):
        super().__init__(suite, [suite.name])
        self.reason = reason

    def run(self, column, environment):
        return {self.names[0]: Outcome(ABSENT, self.reason)}


@dataclass
class Suite:
    name: str
    file: Path
    build: Path  # a folder of its own
    timeout: int  # seconds, for one test in one column
    packages: list[str]
    index: list[str]  # packages of the Python index
    index_variables: dict  # for building these packages
    programs: Path  # of this project
    comparison: Comparison | None
    documented: dict  # by test: `why` it differs, and what its output `shows` then (a regular expression)
    kinds: dict = field(default_factory=dict)  # the file's entries under each name of KINDS

    def prepare(self):
        """Fetches what its programs need. Raises packages.Missing."""
        packages.install(set(self.packages))
        if self.index:
            packages.python_environment(self.build / "python", self.index, self.index_variables)

    def fill_in(self, word, seed=None):
        """A word of a command line, in which {names} stand for places, and {seed} for a number."""
        return word.format(python=self.build / "python/bin/python", here=self.file.parent.parent / "programs",
                           bin=self.programs, build=self.build, seed=seed)

    def batches(self, bare, only=None):
        """`bare` is the column in which tests are found."""
        try:
            self.prepare()
            yield from self.prepared_batches(bare, only)
        except packages.Missing as missing:
            yield AbsentBatch(self, str(missing))

    def prepared_batches(self, bare, only):
        wanted = re.compile(only or "")
        for kind, description in self.kinds.items():
            for batch in KINDS[kind](self, description, bare):
                batch.names = [name for name in batch.names if wanted.search(name)]
                if batch.names:
                    yield batch


def load(path, build, programs):
    with open(path, "rb") as file:
        text = tomllib.load(file)
    name = path.stem
    compare = text.pop("compare", None)
    suite = Suite(name, path.resolve(), build / name, text.pop("timeout", 120), text.pop("packages", []),
                  text.pop("index", []), text.pop("index_variables", {}), programs,
                  Comparison.of(compare, path.parent) if compare is not None else None, text.pop("documented", {}))
    for kind in KINDS:
        if kind in text:
            suite.kinds[kind] = text.pop(kind)
    if text or not suite.kinds:
        raise ValueError(f"{path}: " + (f"unknown: {', '.join(text)}" if text else f"none of {', '.join(KINDS)}"))
    return suite
