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

    def judge(self, row, elsewhere=None):
        """What the suite says of the row beyond the outcomes: programs that must also print the same, and differences
        that are as documented. `elsewhere`: the outcome on the driver to which the program was moved."""
        if elsewhere is not None and elsewhere.status != PASS and elsewhere.status == row.fairgv_ran.status:
            row.documented = "on the driver that it was moved to: " + (elsewhere.detail or elsewhere.status)
        elif self.comparison is not None and row.bare.status == PASS and row.fairgv_ran.status == PASS:
            difference = self.comparison.difference(row.bare.printed, row.fairgv_ran.printed,
                                                    elsewhere.printed if elsewhere else None)
            row.fairgv = Outcome(FAIL, difference, row.fairgv_ran.output) if difference else row.fairgv_ran
        known = self.documented.get(row.name)
        if known and row.fairgv.status != PASS and re.search(known["shows"], row.fairgv.output):
            row.documented = known["why"]
