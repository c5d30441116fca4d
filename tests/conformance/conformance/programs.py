"""Kind `program`: a table for each command line. With `each`, a pattern of files, one test for each program; with
`seeds`, one for each number from 1 on, which stands for {seed} in the command line."""

import glob
import os
from pathlib import Path

from .batch import Batch


class ProgramBatch(Batch):
    def __init__(self, suite, name, command, description):
        super().__init__(suite, [name], description.get("environment"))
        self.command = command
        self.timeout = description.get("timeout", suite.timeout)
        self.folder = os.path.expanduser(suite.fill_in(description.get("folder", "/")))

    def run(self, column, environment):
        return {self.names[0]: column.run(self.command, environment, self.timeout, self.folder)}


def program_batches(suite, descriptions, _bare):
    for description in descriptions:
        arguments = [suite.fill_in(word) for word in description.get("arguments", [])]
        if "each" not in description:
            yield from command_batches(suite, description, arguments)
            continue
        pattern = str(suite.file.parent / os.path.expanduser(suite.fill_in(description["each"])))  # a path from the file, or absolute
        for program in sorted(glob.glob(pattern)):
            name = Path(program).name
            if name not in description.get("without", []) and os.path.isfile(program) and os.access(program, os.X_OK):
                yield ProgramBatch(suite, name, [program] + arguments, description)


def command_batches(suite, description, arguments):
    seeds = range(1, description["seeds"] + 1) if "seeds" in description else [None]
    for seed in seeds:
        command = [suite.fill_in(word, seed) for word in description["command"]] + arguments
        name = description.get("name", Path(command[0]).name)
        yield ProgramBatch(suite, name if seed is None else f"{name} {seed}", command, description)
