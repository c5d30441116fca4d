"""The OpenCL drivers that a run can be over, by name: where each comes from, and what its processes must see.

A driver is unpacked into a folder of the build and not installed: one that is registered on the machine would be a
platform of every program on it, this project's own tests included.
"""

import glob
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import packages
from .packages import Missing

PLACE = "usr/lib/x86_64-linux-gnu"
MACHINES = Path("/etc/OpenCL/vendors")


@dataclass
class Driver:
    vendors: str  # the value of OCL_ICD_VENDORS
    environment: dict = field(default_factory=dict)  # for every process that loads the driver
    readable: list = field(default_factory=list)  # folders that the driver needs, beyond those that workers see anyway

    def configuration(self):
        """Of a daemon whose workers have this driver and no other."""
        lines = ["[opencl]", f'vendors = "{self.vendors}"'] if os.path.isdir(self.vendors) else []
        if self.readable:
            lines += ["[worker]", f"readable = {self.readable}".replace("'", '"')]
        return "\n".join(lines) + "\n"


def register(folder, name, library):
    """A folder of vendor files with this one."""
    vendors = folder / "vendors"
    vendors.mkdir(parents=True, exist_ok=True)
    (vendors / f"{name}.icd").write_text(f"{library}\n", encoding="utf-8")
    return str(vendors)


def pocl(folder):
    """Debian's, which the project's own tests use."""
    packages.install({"pocl-opencl-icd"})
    [library] = (MACHINES / "pocl.icd").read_text(encoding="utf-8").split()
    return Driver(register(folder, "pocl", library))


def rusticl(folder):
    """Mesa's, on its software device llvmpipe, from Debian. It looks for libclc where its package has it."""
    packages.install({"libclc-15", "libllvmspirvlib15", "libdrm2", "libdrm-amdgpu1", "libdrm-nouveau2",
                      "libdrm-radeon1", "libelf1", "libsensors5", "libclang-cpp15"})
    packages.unpack(["mesa-opencl-icd"], folder)
    libraries = folder / PLACE
    return Driver(register(folder, "rusticl", libraries / "libRusticlOpenCL.so.1"),
                  {"RUSTICL_ENABLE": "llvmpipe", "GALLIUM_PIPE_SEARCH_DIR": str(libraries / "gallium-pipe"),
                   "LD_LIBRARY_PATH": str(libraries)}, [str(folder)])


def oclgrind(folder):
    """The simulator of a device that looks for a program's faults, from Debian."""
    packages.unpack(["oclgrind", "liboclgrind-21.10"], folder)
    return Driver(register(folder, "oclgrind", folder / "usr/lib/oclgrind/liboclgrind-rt-icd.so"),
                  {"LD_LIBRARY_PATH": str(folder / PLACE)}, [str(folder)])


def intel(folder):
    """Intel's runtime for processors, from the Python index."""
    environment = packages.python_environment(folder / "python", ["intel-opencl-rt==2024.2.1", "intel-cmplr-lib-rt==2024.2.1"])
    found = glob.glob(str(environment / "lib" / "**" / "libintelocl.so"), recursive=True)
    if not found:
        raise Missing(f"intel-opencl-rt has no libintelocl.so below {environment}")
    # The runtime finds the files beside it; so does a loader of Intel's own, which no program is to find. For a
    # processor that the runtime does not know ("Unknown host CPU") its code computes wrongly: so the driver is told the
    # processor.
    return Driver(register(folder, "intel", found[0]), {"CL_CONFIG_CPU_TARGET_ARCH": "core-avx2"}, [str(folder)])


KNOWN = {"pocl": pocl, "intel": intel, "rusticl": rusticl, "oclgrind": oclgrind}


def prepare(name, build):
    """The driver of that name; else `name` is what OCL_ICD_VENDORS is to be. Raises Missing with the reason."""
    if name not in KNOWN:
        if not os.path.exists(name):
            raise Missing(f"there is no driver {name}: there are {', '.join(KNOWN)}, and folders of vendor files")
        return Driver(os.path.abspath(name))
    folder = build / "drivers" / name
    folder.mkdir(parents=True, exist_ok=True)
    driver = KNOWN[name](folder)
    [vendor_file] = Path(driver.vendors).glob("*.icd")
    library = vendor_file.read_text(encoding="utf-8").strip()
    if library.startswith("/") and not os.path.exists(library):
        raise Missing(f"the packages of {name} have no {library}")
    return driver


def devices(driver):
    """One line for each device, as a bare program sees them; or Missing, with what the loader says of the driver."""
    lines = [line.strip(" `+-|") for line in list_devices(driver).splitlines() if "Device #" in line]
    if lines:
        return lines
    raise Missing("it shows no device" + "".join(f"; {reason}" for reason in reasons_of(driver, variables_of(driver))))


def together(driver, other, folder):
    """Both, for a daemon whose sessions move from the one to the other. The folder is for their vendor files."""
    folder.mkdir(parents=True)
    for each in (driver, other):
        for vendor_file in Path(each.vendors).glob("*.icd"):
            shutil.copy(vendor_file, folder)
    return Driver(str(folder), driver.environment | other.environment,
                  driver.readable + other.readable + [str(folder)])


def numbers_of(driver, among):
    """The numbers that the devices of a driver have among those of several, and those of the others."""
    own = set(platforms(driver))
    numbers = [[], []]
    for number, platform in enumerate(platforms(among)):
        numbers[platform not in own].append(number)
    return numbers


def platforms(driver):
    """The name of each device's platform, in the order in which the loader lists them."""
    names, name = [], ""
    for line in list_devices(driver).splitlines():
        if line.startswith("Platform #"):
            name = line.partition(": ")[2]
        elif "Device #" in line:
            names.append(name)
    return names


def variables_of(driver):
    """The environment of a bare program over it."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("OCL_ICD_", "OPENCL_"))}
    return variables | driver.environment | {"OCL_ICD_VENDORS": driver.vendors}


def list_devices(driver):
    return subprocess.run(["clinfo", "--list"], env=variables_of(driver), capture_output=True, text=True).stdout


def reasons_of(driver, variables):
    """What the dynamic linker has against the libraries of the vendor files. The loader of drivers does not tell."""
    for vendor_file in sorted(Path(driver.vendors).glob("*.icd")):
        library = vendor_file.read_text(encoding="utf-8").strip()
        opened = subprocess.run(["/usr/bin/python3", "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library],
                                env=variables, capture_output=True, text=True)
        if opened.returncode != 0:
            yield opened.stderr.strip().splitlines()[-1].removeprefix("OSError: ")
