"""What suites and drivers need from elsewhere: Debian packages, installed or unpacked into a folder, and packages of the
Python index in environments of their own. Everything is fetched once; what cannot be had is Missing, with the reason."""

import os
import shutil
import subprocess

allowed = True  # whether anything may be installed and fetched


class Missing(Exception):
    """What was wanted is not here and cannot be had: one line."""


def forbid():
    global allowed
    allowed = False


def is_installed(package):
    query = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}", package], capture_output=True, text=True)
    return query.stdout == "installed"


def fetch(what, command, **options):
    """Runs a command that gets something from outside."""
    if not allowed:
        raise Missing(f"{what}: not here, and --no-install")
    print(f"conformance: fetching {what}", flush=True)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    if done.returncode != 0:
        said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        telling = [line for line in said if line.startswith(("E:", "ERROR", "error"))] or said
        raise Missing(f"{what}: {telling[-1] if telling else f'{command[0]} failed'}")


def install(wanted):
    missing = sorted(package for package in wanted if not is_installed(package))
    if not missing:
        return
    as_root = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    fetch("Debian packages " + " ".join(missing),
          as_root + ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends",
                     *missing])


def unpack(wanted, folder):
    """The files of Debian packages below `folder`, without installing them."""
    for package in wanted:
        done = folder / f".{package}"
        if done.exists():
            continue
        archives = folder / "archives"
        shutil.rmtree(archives, ignore_errors=True)
        archives.mkdir(parents=True)
        fetch(f"Debian package {package}", ["apt-get", "download", package], cwd=archives)
        for archive in archives.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
        shutil.rmtree(archives)
        done.touch()


def python_environment(folder, wanted, variables=None):
    """An environment with these packages of the Python index; `variables` are for building them. Its folder."""
    done = folder / ".complete"
    if done.exists() and done.read_text(encoding="utf-8").split("\n") == wanted:
        return folder
    install({"python3-venv"})
    shutil.rmtree(folder, ignore_errors=True)
    fetch(f"an environment in {folder}", ["/usr/bin/python3", "-m", "venv", folder])
    fetch("from the Python index " + " ".join(wanted),
          [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted],
          env=os.environ | (variables or {}))
    done.write_text("\n".join(wanted), encoding="utf-8")
    return folder


def python_source(folder, package):
    """The sources of a package of the Python index, which have its tests; the folder they are unpacked in."""
    done = folder / ".complete"
    if not done.exists() or done.read_text(encoding="utf-8") != package:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        name = package.split("==")[0]
        fetch(f"sources of {package}", ["/usr/bin/python3", "-m", "pip", "download", "--quiet", "--no-deps",
                                        "--no-binary", name, "--dest", folder, package])
        [archive] = folder.glob("*.tar.gz")
        shutil.unpack_archive(archive, folder, filter="data")
        archive.unlink()
        done.write_text(package, encoding="utf-8")
    [source] = [each for each in folder.iterdir() if each.is_dir()]
    return source
