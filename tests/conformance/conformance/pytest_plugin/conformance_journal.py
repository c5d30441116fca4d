"""A pytest plugin: runs the tests that the file CONFORMANCE_TESTS names, and writes which one starts and how it ended
to the file CONFORMANCE_JOURNAL, at once. Tests' names say on which platform they run; here they say only that they run on one."""

import json
import os
import re

STATUS = {"passed": "pass", "failed": "fail", "skipped": "skip"}
DEVICE = re.compile(r"<context factory for <pyopencl.Device '.*' on '.*'>>")
PLATFORM = re.compile(r"<pyopencl.Platform '.*'>")
reports = {}


def name_of(nodeid):
    path, test = nodeid.split("::", 1)
    return f"{os.path.basename(path)}::{PLATFORM.sub('platform', DEVICE.sub('device', test))}"


def pytest_collection_modifyitems(items):
    if wanted := os.environ.get("CONFORMANCE_TESTS"):
        with open(wanted, encoding="utf-8") as file:
            names = set(file.read().splitlines())
        items[:] = [item for item in items if name_of(item.nodeid) in names]


def write(**entry):
    if journal := os.environ.get("CONFORMANCE_JOURNAL"):
        with open(journal, "a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")


def pytest_runtest_logstart(nodeid):
    write(test=name_of(nodeid))


def pytest_runtest_logreport(report):
    """Of set-up, call and tear-down the first that did not pass counts."""
    if reports.get(report.nodeid) is None or reports[report.nodeid].passed:
        reports[report.nodeid] = report


def pytest_runtest_logfinish(nodeid):
    report = reports.pop(nodeid, None)
    text = report.longreprtext if report is not None and not report.passed else ""
    lines = [line.strip() for line in text.splitlines() if line.startswith("E ")] or text.splitlines()[-1:]
    write(test=name_of(nodeid), status=STATUS[report.outcome] if report is not None else "fail",
          detail=" ".join(lines[:2]), output=text[-20000:])
