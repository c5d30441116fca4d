"""Moves the sessions of a daemon again and again while programs run: to another worker, to another device, to rest in a
park and back."""

import collections
import random
import re
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
            if parked:
                parked = not self.ask(socket, ["resume"]) and self.has_parked(socket)
            elif self.random.random() < 0.25:
                self.ask(socket, ["park", *self.random.choice([[], ["--wake"]])])
                parked = True  # perhaps some of them
            else:
                where = self.random.randrange(self.devices + 1)
                self.ask(socket, ["migrate", *([] if where == self.devices else ["--device", str(where)])])
        if parked:
            self.ask(socket, ["resume"])

    def has_parked(self, socket):
        return '"parked":true' in self.fairgv(socket, ["ps", "--json"]).stdout.replace(" ", "")

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

    def fairgv(self, socket, words):
        return subprocess.run([self.command, *words, "--socket", socket], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def summary(self):
        """Lines that say what was done, and what was refused why."""
        return [f"conformance: sessions were moved {self.done['migrate']} times, parked {self.done['park']} times"] + \
            [f"conformance: {count} times: {line}" for line, count in self.refused.most_common()]
