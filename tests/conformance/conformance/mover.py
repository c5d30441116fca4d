"""Moves the sessions of a daemon again and again while programs run: to another worker, to another device or driver, to
rest in a park and back."""

import collections
import json
import os
import random
import re
import signal
import subprocess
import threading

from .result import PASS

LONGEST_PAUSE = 0.15  # seconds between two moves
LOOK_EACH = 0.01  # seconds between two looks for a program that has begun
LONGEST_HEAD_START = 0.1  # seconds for which a program runs before it is stopped to be moved
MOST_HELD = 3  # times that a program is stopped: one that cannot be moved goes on


class Mover:
    def __init__(self, command, tenant, seed, places, foreign=()):
        self.command = command  # fairgv
        self.tenant = tenant
        self.random = random.Random(seed)
        self.places = places  # the numbers of the devices to which sessions are moved
        # Those of another driver. Programs are moved there by force: no two drivers have all in common.
        self.foreign = foreign
        self.done = collections.Counter()
        self.refused = collections.Counter()
        self.unmoved = []  # programs
        self.programs = 0
        self.socket = None  # of the daemon whose programs run
        self.held = 0  # how often the program that runs was stopped
        self.head_start = None  # seconds; None: the program that runs need not be stopped to be moved
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def serve(self, socket):
        """From now on programs run as tenants of the daemon at this socket."""
        self.socket = socket

    def moves_in(self, run, name):
        """The outcomes of the function `run`, in which a program runs: again, if it ended well before it was moved. It
        is stopped while it is moved for the first time, at a random moment, and at last as soon as it begins."""
        self.programs += 1
        before = self.moves()
        for longest in (LONGEST_HEAD_START, 0, 0):
            self.held = 0
            self.head_start = self.random.uniform(0, longest)
            outcomes = run()
            self.head_start = None
            if self.moves() > before:
                return outcomes
            if any(outcome.status != PASS for outcome in outcomes.values()):
                break  # a program that fails, or is not here
        self.unmoved.append(name)
        return outcomes

    def moves(self):
        return self.done["migrate"] + self.done["park"]

    def stop(self):
        self.ends.set()
        self.thread.join()

    def run(self):
        parked = False
        pause = 0
        while not self.ends.wait(pause):
            pause = LOOK_EACH if self.head_start is not None else self.random.uniform(0, LONGEST_PAUSE)
            socket = self.socket
            if socket is None:
                continue
            if self.head_start is not None:
                self.move_held(socket, self.head_start)
            elif parked:
                parked = not self.ask(socket, ["resume"]) and self.has_parked(socket)
            elif self.random.random() < 0.25:
                self.ask(socket, ["park", *self.random.choice([[], ["--wake"]])])
                parked = True  # perhaps some of them
            else:
                where = self.random.randrange(len(self.places) + 1)
                self.ask(socket, ["migrate", *(self.to(self.places[where]) if where < len(self.places) else [])])
        if parked:
            self.ask(self.socket, ["resume"])

    def move_held(self, socket, head_start):
        """Moves programs that are stopped meanwhile: none of them can end before, however short it is and however busy
        the machine."""
        if not self.sessions(socket) or self.ends.wait(head_start):
            return
        stopped = [session["pid"] for session in self.sessions(socket) if send(session["pid"], signal.SIGSTOP)]
        if not stopped:
            return
        try:
            self.held += 1
            if self.ask(socket, ["migrate", *(self.to(self.foreign[0]) if self.foreign else [])]) or self.held == MOST_HELD:
                self.head_start = None
        finally:
            for pid in stopped:
                send(pid, signal.SIGCONT)

    def to(self, device):
        return ["--device", str(device), *(["--force"] if self.foreign else [])]

    def has_parked(self, socket):
        return any(session["parked"] for session in self.sessions(socket))

    def sessions(self, socket):
        """The sessions of the tenant, as `fairgv ps` shows them."""
        try:
            report = json.loads(self.fairgv(socket, ["ps", "--json"], subprocess.DEVNULL).stdout)
        except ValueError:  # there is no daemon yet, or no longer
            return []
        return [session for tenant in report["tenants"] if tenant["tenant"] == self.tenant
                for session in tenant["sessions"]]

    def ask(self, socket, words):
        """Whether all sessions of the tenant did so."""
        asked = self.fairgv(socket, [words[0], self.tenant, *words[1:]])
        if asked.returncode == 0:
            self.done[words[0]] += 1
            return True
        lines = asked.stdout.splitlines()
        if lines and "there is no tenant" in lines[-1]:
            return False  # nothing runs at the moment
        self.refused[re.sub("[0-9]+", "#", lines[-1] if lines else f"status {asked.returncode}")] += 1
        return False

    def fairgv(self, socket, words, stderr=subprocess.STDOUT):
        return subprocess.run([self.command, *words, "--socket", socket], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)

    def summary(self):
        """Lines that say what was done, and what was refused why."""
        lines = [f"conformance: sessions were moved {self.done['migrate']} times, parked {self.done['park']} times; "
                 f"{self.programs - len(self.unmoved)} of {self.programs} programs were moved or parked"]
        lines += [f"conformance: never moved: {name}" for name in self.unmoved]
        return lines + [f"conformance: {count} times: {line}" for line, count in self.refused.most_common()]


def send(pid, number):
    """Whether there is a process to which the signal was sent."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
