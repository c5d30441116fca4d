"""Experiments of `fairgv bench` with the workloads in CUDA, sized for a GPU, each in one line."""

import csv
from dataclasses import dataclass


@dataclass
class Experiment:
    options: list
    sizes: list  # on a GPU: as they are by themselves, the workloads are for a processor
    lengths: list
    short: list  # where it is to be quick
    columns: dict  # of its table: the words before each value
    wanted: str


EXPERIMENTS = {
    "fair6": Experiment(["--programs", "BlackScholes"], ["--kernel-us", "200"],
                        ["--pairs", "1", "--turns", "1", "--seconds", "4"], ["--quick"],
                        {"program": "", "min_max_ratio": "Min-Max Ratio", "charged": "charged", "overhead": "overhead"},
                        "wanted >= 0.98, >= 0.98, <= 1.02"),
    "conserve": Experiment([], ["--workload-us", "200"],
                           ["--pairs", "1", "--seconds", "3", "--sleep-ratios", "0.5,0.7"],
                           ["--quick", "--sleep-ratios", "0.5"],
                           {"sleep_ratio": "sleeps", "utilisation": "utilisation"}, "wanted >= 0.97"),
    "mixed": Experiment(["--programs", "matrixMul"], ["--workload-us", "200"], ["--pairs", "1"],
                        ["--quick", "--kernel-us", "1605"],
                        {"kernel_us": "beside kernels of", "normalised_run_time": "us run time"}, "wanted 1.9 to 2.1"),
}


def experiment(machine, name, clock, details, quick):
    wanted = EXPERIMENTS[name]
    table = machine.scratch / f"{name}.csv"
    command = [machine.program("fairgv"), "bench", name, "--api", "cuda", "--policies", "fair", "--csv", table]
    command += wanted.options + ([] if machine.software else wanted.sizes) + (wanted.short if quick else wanted.lengths)
    # It starts the bare programs and the tenants itself.
    outcome = machine.run_own(command, clock.left(), FAIRGV_BENCH_CUDART=machine.cudart)
    details(f"{outcome.output}{outcome.errors}".replace("\r", "\n"))
    if not outcome.ended_well:
        return f"failed: {outcome.trouble()}"
    with open(table, newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    rows = [line_of(row, wanted.columns) for row in csv.DictReader(lines)]
    return "; ".join(rows) + (" (short)" if quick else f"; {wanted.wanted}")


def line_of(row, columns):
    return ", ".join(f"{title} {row[column]}".strip() for column, title in columns.items()).replace(", us", " us")
