"""A suite is a file in suites/: README.md says what may stand in it. This module turns one into batches: what runs
at once in a column, one after the other in both."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from .cmake_tests import cmake_batches
from .compare import Comparison
from .programs import program_batches
from .python_tests import python_batches

KINDS = {"program": program_batches, "cmake": cmake_batches, "pytest": python_batches}


@dataclass
class Suite:
    name: str
    file: Path
    build: Path  # a folder of its own
    timeout: int  # seconds, for one test in one column
    packages: list[str]
    comparison: Comparison | None
    documented: dict  # by test: `why` it differs, and what its output `shows` then (a regular expression)
    kinds: dict = field(default_factory=dict)  # what the file says under each name of KINDS

    def batches(self, bare, only=None):
        """`bare` is the column in which tests are found."""
        wanted = re.compile(only or "")
        for kind, description in self.kinds.items():
            for batch in KINDS[kind](self, description, bare):
                batch.names = [name for name in batch.names if wanted.search(name)]
                if batch.names:
                    yield batch


def load(path, build):
    with open(path, "rb") as file:
        text = tomllib.load(file)
    name = path.stem
    compare = text.pop("compare", None)
    suite = Suite(name, path.resolve(), build / name, text.pop("timeout", 120), text.pop("packages", []),
                  Comparison.of(compare, path.parent) if compare else None, text.pop("documented", {}))
    for kind in KINDS:
        if kind in text:
            suite.kinds[kind] = text.pop(kind)
    if text or not suite.kinds:
        raise ValueError(f"{path}: " + (f"unknown: {', '.join(text)}" if text else f"none of {', '.join(KINDS)}"))
    return suite
