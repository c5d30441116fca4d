"""Moves the sessions of a daemon again and again while programs run: to another worker, to another device, to rest in a
park and back."""

import collections
import json
import os
import random
import re
import signal
import subprocess
import threading

LONGEST_PAUSE = 0.15  # seconds between two moves


class Mover:
    def __init__(self, command, tenant, seed, devices):
        self.command = command  # fairgv
        self.tenant = tenant
        self.random = random.Random(seed)
        self.devices = devices  # how many there are
        self.done = collections.Counter()
        self.refused = collections.Counter()
        self.ends = threading.Event()
        self.threads = []

    def start(self, socket):
        """Moves the sessions of the daemon that is or will be at this socket."""
        thread = threading.Thread(target=self.run, args=(socket,), daemon=True)
        thread.start()
        self.threads.append(thread)

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()

    def run(self, socket):
        parked = False
        while not self.ends.wait(self.random.uniform(0, LONGEST_PAUSE)):
            if not self.done["migrate"]:
                self.move_held(socket)
            elif parked:
                parked = not self.ask(socket, ["resume"]) and self.has_parked(socket)
            elif self.random.random() < 0.25:
                self.ask(socket, ["park", *self.random.choice([[], ["--wake"]])])
                parked = True  # perhaps some of them
            else:
                where = self.random.randrange(self.devices + 1)
                self.ask(socket, ["migrate", *([] if where == self.devices else ["--device", str(where)])])
        if parked:
            self.ask(socket, ["resume"])

    def move_held(self, socket):
        """Moves programs that are stopped meanwhile: none of them can end before, however short it is and however busy
        the machine. So something moves in each run, if anything can."""
        stopped = [session["pid"] for session in self.sessions(socket) if send(session["pid"], signal.SIGSTOP)]
        if not stopped:
            return
        try:
            self.ask(socket, ["migrate"])
        finally:
            for pid in stopped:
                send(pid, signal.SIGCONT)

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
        return [f"conformance: sessions were moved {self.done['migrate']} times, parked {self.done['park']} times"] + \
            [f"conformance: {count} times: {line}" for line, count in self.refused.most_common()]


def send(pid, number):
    """Whether there is a process to which the signal was sent."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
