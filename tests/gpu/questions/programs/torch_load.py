"""Training as a load that works on request: the requests and answers are those of tests/workloads ("run N",
"window START SECONDS after LEAD"). With --graph a step is one launch of a CUDA graph."""

import argparse
import json
import time
from collections import deque

from common import need_torch
from training import Training

IN_FLIGHT = 4  # steps; the device never runs empty

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--graph", action="store_true")
parser.add_argument("--requests", required=True)
arguments = parser.parse_args()
torch = need_torch()
# About two milliseconds a step on a large GPU, most of it in products of matrices.
training = Training(torch, width=4096, batch=2048, captured=arguments.graph, kind=torch.bfloat16)


class Steps:
    """Steps in flight, and the times at which they were seen to end."""

    def __init__(self):
        self._ends = deque()

    def launch(self):
        training.step()
        end = torch.cuda.Event()
        end.record()
        self._ends.append(end)

    def in_flight(self):
        return len(self._ends)

    def await_one(self):
        self._ends.popleft().synchronize()
        return time.monotonic()


def run(rounds):
    steps, begun = Steps(), time.monotonic()
    for _ in range(rounds):
        steps.launch()
        if steps.in_flight() > IN_FLIGHT:
            steps.await_one()
    torch.cuda.synchronize()
    return rounds, time.monotonic() - begun


def window(start, seconds, lead):
    """Steps whose ends are seen within the window, in the midst of work."""
    time.sleep(max(0.0, start - lead - time.monotonic()))
    steps, rounds, now = Steps(), 0, 0.0
    while now < start + seconds:
        steps.launch()
        if steps.in_flight() > IN_FLIGHT:
            now = steps.await_one()
            rounds += start <= now < start + seconds
    torch.cuda.synchronize()
    return rounds, seconds


with open(arguments.requests) as requests:
    for line in iter(requests.readline, ""):
        words = line.split()
        if words[0] == "run":
            rounds, seconds = run(int(words[1]))
        else:
            rounds, seconds = window(float(words[1]), float(words[2]), float(words[4]))
        print(json.dumps({"rounds": rounds, "seconds": seconds}), flush=True)
