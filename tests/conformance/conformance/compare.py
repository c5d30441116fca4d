"""Compares what a program printed in both columns."""

import re
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path


@dataclass
class Comparison:
    substitute: list  # pairs of a regular expression and its replacement, before lines are compared
    may_differ: set  # lines that contain one of these words need not be equal
    anything: str = ""  # a pattern; where the driver's line, or a part of it, matches, the other column's is free
    parts: str = "\n"  # the separator of a line's parts
    sorted: bool = False  # the order of lines is chance

    @staticmethod
    def of(description, folder):
        """`documented` names a page whose tables have such words, in backquotes, in their first column."""
        may_differ = set(description.get("may_differ", []))
        if "documented" in description:
            page = (Path(folder) / description["documented"]).read_text(encoding="utf-8")
            may_differ |= set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
        return Comparison(description.get("substitute", []), may_differ, description.get("anything", ""),
                          description.get("parts", "\n"), description.get("sorted", False))

    def lines(self, output):
        for pattern, replacement in self.substitute:
            output = re.sub(pattern, replacement, output, flags=re.MULTILINE)
        lines = [line.rstrip() for line in output.splitlines() if not self.may_differ & set(re.findall(r"\w+", line))]
        return sorted(lines) if self.sorted else lines

    def is_anything(self, text):
        return bool(self.anything and re.search(self.anything, text))

    def agree(self, wanted, found):
        """Whether a line ("question: answer") says what the driver's says, as far as anybody is held to that."""
        question, _, answer = wanted.partition(": ")
        if self.anything and re.match(self.anything, answer):
            return found.startswith(question + ": ")
        wanted, found = wanted.split(self.parts), found.split(self.parts)
        return len(wanted) == len(found) and all(
            self.is_anything(part) or part == other for part, other in zip(wanted, found))

    def with_anything(self, wanted, found):
        """What was found, with the driver's line in place of each that agrees with it."""
        if len(wanted) != len(found):
            return found
        return [line if self.agree(line, other) else other for line, other in zip(wanted, found)]

    def difference(self, bare, fairgv, elsewhere=None):
        """Nothing if they agree, else the first lines that do not, in one. `elsewhere`: what the program prints on another
        driver, to which it was moved: lines in which the drivers differ by themselves are free."""
        wanted, found = self.lines(bare), self.lines(fairgv)
        if elsewhere is not None:
            free = {question_of(line) for line in set(wanted) ^ set(self.lines(elsewhere))}
            wanted, found = ([line for line in lines if question_of(line) not in free] for lines in (wanted, found))
        if self.anything:
            found = self.with_anything(wanted, found)
        changed = [line for line in unified_diff(wanted, found, n=0, lineterm="")
                   if not line.startswith(("---", "+++", "@@"))]
        return " // ".join(" ".join(line.split()) for line in changed[:6])


def question_of(line):
    """The part of a line that is the same whatever the answer."""
    question, colon, _ = line.partition(": ")
    return question if colon else re.sub("[0-9]+", "#", line)
