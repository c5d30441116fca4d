"""What became of a test in one column, and in both."""

from dataclasses import dataclass

PASS, FAIL, SKIP, TIMEOUT, CRASH = "pass", "fail", "skip", "timeout", "crash"
ABSENT = "absent"  # the program could not be obtained


@dataclass
class Outcome:
    status: str
    detail: str = ""  # one line: the reason
    output: str = ""
    printed: str = ""  # the part of the output that was on standard output


MISSING = Outcome(CRASH, "no result")


@dataclass
class Row:
    suite: str
    name: str
    bare: Outcome | None
    fairgv: Outcome | None
    bare_again: Outcome | None = None
    documented: str = ""  # the reason why the columns differ as they should
    fairgv_ran: Outcome | None = None  # `fairgv`, before what it printed was compared

    def __post_init__(self):
        self.bare = self.bare or MISSING
        self.fairgv = self.fairgv or MISSING
        self.fairgv_ran = self.fairgv

    def is_regression(self):
        """Passes bare, whenever it was tried, and not through FairGV."""
        return (self.bare.status == PASS and self.fairgv.status != PASS and not self.documented
                and (self.bare_again is None or self.bare_again.status == PASS))

    def verdict(self):
        if self.is_regression():
            return "DIFFERENT"
        if self.bare.status == ABSENT:
            return "not installed"
        if self.bare.status == self.fairgv.status:
            return "same" if self.bare.status in (PASS, SKIP) else "fails in both"
        if self.documented:
            return "documented"
        if self.bare.status == PASS:
            return "unsteady on the driver"
        return "passes through FairGV" if self.fairgv.status == PASS else "fails in both"
