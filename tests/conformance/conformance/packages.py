"""Debian packages of the suites, installed when they are missing."""

import os
import subprocess
import sys


def is_installed(package):
    query = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}", package], capture_output=True, text=True)
    return query.stdout == "installed"


def install(wanted):
    missing = sorted(package for package in wanted if not is_installed(package))
    if not missing:
        return
    print(f"conformance: installing {' '.join(missing)}", flush=True)
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    command = as_root + ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y",
                         "--no-install-recommends", *missing]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"conformance: apt-get failed:\n{done.stderr.strip()}")
