"""The table of both columns: on the terminal, and as a markdown file."""

import shutil
from collections import Counter

from .result import ABSENT, PASS


def status(outcome, again=None):
    return outcome.status if again is None or again.status == outcome.status else f"{outcome.status}/{again.status}"


def print_row(row):
    print(f"{row.suite:<9} {row.name:<58} {status(row.bare, row.bare_again):<9} {row.fairgv.status:<9} {row.verdict()}",
          flush=True)
    if (row.is_regression() or row.fairgv.status == ABSENT) and row.fairgv.detail:
        print(f"{'':<9}   {row.fairgv.detail[:150]}", flush=True)


def counts(rows):
    return Counter((row.suite, row.verdict()) for row in rows)


def print_summary(rows):
    print()
    for (suite, verdict), count in sorted(counts(rows).items()):
        print(f"{suite:<9} {count:>5} {verdict}")
    passed = sum(row.bare.status == PASS for row in rows)
    print(f"{len(rows)} tests, {passed} pass bare; {sum(row.is_regression() for row in rows)} of these not through FairGV")


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")[:200]


def write(rows, path, devices):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write("# Conformance: the driver alone and FairGV\n\n")
        out.write("".join(f"- {device}\n" for device in devices) + "\n")
        out.write("| suite | verdict | tests |\n|---|---|--:|\n")
        for (suite, verdict), count in sorted(counts(rows).items()):
            out.write(f"| {suite} | {verdict} | {count} |\n")
        out.write("\n| suite | test | bare | FairGV | verdict | why |\n|---|---|---|---|---|---|\n")
        for row in rows:
            why = row.documented or ("" if row.fairgv.status == PASS else row.fairgv.detail)
            out.write(f"| {row.suite} | {cell(row.name)} | {status(row.bare, row.bare_again)} | {row.fairgv.status} "
                      f"| {row.verdict()} | {cell(why)} |\n")
    print(f"\nconformance: {path}")


def keep_outputs(rows, folder):
    """What the programs printed, where the columns differ."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.txt"):
        old.unlink()
    for row in rows:
        if not row.is_regression():
            continue
        name = "".join(c if c.isalnum() or c in "-_." else "-" for c in f"{row.suite}-{row.name}")[:150]
        for column, outcome in (("bare", row.bare), ("fairgv", row.fairgv)):
            (folder / f"{name}.{column}.txt").write_text(outcome.output, encoding="utf-8")


def keep_logs(folder, target):
    """The logs of the tenants' daemons, which say why a session was lost."""
    for old in target.glob("*.log"):
        old.unlink()
    for log in folder.glob("*.log"):
        shutil.copy(log, target)
