"""Compares what a program printed in both columns."""

import re
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path


@dataclass
class Comparison:
    substitute: list  # pairs of a regular expression and its replacement, before lines are compared
    may_differ: set  # lines that contain one of these words need not be equal

    @staticmethod
    def of(description, folder):
        """`documented` names a page whose tables have such words, in backquotes, in their first column."""
        may_differ = set(description.get("may_differ", []))
        if "documented" in description:
            page = (Path(folder) / description["documented"]).read_text(encoding="utf-8")
            may_differ |= set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
        return Comparison(description.get("substitute", []), may_differ)

    def lines(self, output):
        for pattern, replacement in self.substitute:
            output = re.sub(pattern, replacement, output, flags=re.MULTILINE)
        return [line.rstrip() for line in output.splitlines() if not self.may_differ & set(re.findall(r"\w+", line))]

    def difference(self, bare, fairgv):
        """Nothing if they agree, else the first lines that do not, in one."""
        changed = [line for line in unified_diff(self.lines(bare), self.lines(fairgv), n=0, lineterm="")
                   if not line.startswith(("---", "+++", "@@"))]
        return " // ".join(" ".join(line.split()) for line in changed[:6])
