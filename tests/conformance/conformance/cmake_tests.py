"""Kind `cmake`: a source archive whose CMake project defines its tests. Each runs by ctest, which knows what it
expects."""

import json
import re
import shutil
import subprocess
import sys
import tarfile

from .batch import Batch
from .result import FAIL, PASS, SKIP, TIMEOUT

VERDICT = re.compile(r"^ *1/1 Test +#\d+: .*?(Passed|\*\*\*Skipped|\*\*\*Timeout|\*\*\*\S.*?) +[\d.]+ sec", re.MULTILINE)
STATUS = {"Passed": PASS, "***Skipped": SKIP, "***Timeout": TIMEOUT}


def build(suite, description):
    source = suite.build / "source"
    if not source.exists():
        suite.build.mkdir(parents=True, exist_ok=True)
        with tarfile.open(description["archive"]) as archive:
            archive.extractall(suite.build / "unpacked", filter="data")
        (suite.build / "unpacked" / description["folder"]).rename(source)
    if "lists" in description:
        shutil.copyfile(suite.file.parent / description["lists"], source / "CMakeLists.txt")
    binary = suite.build / "build"
    for command in (["cmake", "-S", source, "-B", binary, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"],
                    ["cmake", "--build", binary, "--", "-k", "0"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"conformance: {suite.name} does not build:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return binary


class CTestBatch(Batch):
    def __init__(self, suite, binary, test):
        properties = {each["name"]: each["value"] for each in test.get("properties", [])}
        environment = dict(variable.split("=", 1) for variable in properties.get("ENVIRONMENT", []))
        super().__init__(suite, [test["name"]], environment)
        self.binary = binary

    def run(self, column, environment):
        [name] = self.names
        command = ["ctest", "--test-dir", str(self.binary), "-R", f"^{re.escape(name)}$", "--verbose", "--timeout",
                   str(self.timeout)]
        outcome = column.run(command, environment, self.timeout + 30)
        if found := VERDICT.search(outcome.output):
            outcome.status = STATUS.get(found.group(1), FAIL)
            # ctest appends lines to the number of the test.
            outcome.output = "\n".join(re.findall(r"^\d+: (.*)", outcome.output, re.MULTILINE))
            outcome.detail = "" if outcome.status == PASS else reason(outcome.output) or found.group(1).strip("* ")
        return {name: outcome}


def reason(output):
    """The most telling of the lines."""
    telling = [line.strip() for line in output.splitlines()
               if re.search(r"CL_[A-Z]+|assert|what\(\)|terminate|ERROR|failed on|not support|^[-+]\w", line)]
    return " ".join(telling[:3])


def cmake_batches(suite, description, _bare):
    binary = build(suite, description)
    listed = subprocess.run(["ctest", "--test-dir", binary, "--show-only=json-v1"], capture_output=True, text=True,
                            check=True)
    for test in json.loads(listed.stdout)["tests"]:
        if test["name"] not in description.get("without", []):
            yield CTestBatch(suite, binary, test)
