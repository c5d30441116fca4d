"""What runs at once in a column."""

import re

from .result import FAIL, PASS, Outcome


class Batch:
    def __init__(self, suite, names, environment=None):
        self.suite = suite.name
        self.names = names  # tests to run; a selection may shorten it
        self.environment = environment or {}  # variables for the driver
        self.timeout = suite.timeout
        self.comparison = suite.comparison
        self.documented = suite.documented

    def run(self, column, environment):
        """The outcome of each test, by name."""
        raise NotImplementedError

    def judge(self, row):
        """What the suite says of the row beyond the outcomes: programs that must also print the same, and differences
        that are as documented."""
        if self.comparison is not None and row.bare.status == PASS and row.fairgv.status == PASS:
            difference = self.comparison.difference(row.bare.printed, row.fairgv.printed)
            if difference:
                row.fairgv = Outcome(FAIL, difference, row.fairgv.output)
        known = self.documented.get(row.name)
        if known and row.fairgv.status != PASS and re.search(known["shows"], row.fairgv.output):
            row.documented = known["why"]
