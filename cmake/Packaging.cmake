# systemd units, and Debian packages by cpack (docs/INSTALL.md): the preset "package" and tools/packaging/build.
#
# A plain `cmake --install` installs programs and libraries; what belongs into a system's /etc and into its service manager
# is installed into packages only.
option(FAIRGV_DEBIAN_PACKAGES "Install for Debian packages: units, configuration, vendor file, man pages" OFF)

# The units of the build tree name its own programs: the tests verify them.
set(FAIRGV_UNIT_BINDIR "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
set(FAIRGV_UNIT_CONFIG "/etc/fairgv/fairgvd.toml")
set(packaging "${PROJECT_SOURCE_DIR}/tools/packaging")
foreach(scope "" user/)
  configure_file("${packaging}/systemd/${scope}fairgvd.service.in"
    "${CMAKE_BINARY_DIR}/units/${scope}fairgvd.service" @ONLY)
  configure_file("${packaging}/systemd/${scope}fairgvd.socket"
    "${CMAKE_BINARY_DIR}/units/${scope}fairgvd.socket" COPYONLY)
endforeach()

if(NOT FAIRGV_DEBIAN_PACKAGES)
  return()
endif()
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  message(FATAL_ERROR "Debian packages are installed in /usr: use the preset package, or -DCMAKE_INSTALL_PREFIX=/usr")
endif()

set(made "${CMAKE_BINARY_DIR}/packaging")
set(version "${PROJECT_VERSION}")
# Smaller than any of Debian's own. With `cmake -DFAIRGV_DEBIAN_REVISION=0fairgv2` the same becomes an upgrade.
set(FAIRGV_DEBIAN_REVISION 0fairgv1 CACHE STRING "Debian revision of the packages")
set(CPACK_DEBIAN_PACKAGE_RELEASE "${FAIRGV_DEBIAN_REVISION}")

# ---- daemon
set(FAIRGV_UNIT_BINDIR "${CMAKE_INSTALL_FULL_BINDIR}")
foreach(scope "" user/)
  configure_file("${packaging}/systemd/${scope}fairgvd.service.in" "${made}/${scope}fairgvd.service" @ONLY)
endforeach()
install(FILES "${made}/fairgvd.service" "${packaging}/systemd/fairgvd.socket" DESTINATION /lib/systemd/system
  COMPONENT daemon)
install(FILES "${made}/user/fairgvd.service" "${packaging}/systemd/user/fairgvd.socket" DESTINATION lib/systemd/user
  COMPONENT daemon)
install(FILES "${packaging}/systemd/fairgv.sysusers" DESTINATION lib/sysusers.d RENAME fairgv.conf COMPONENT daemon)
install(FILES "${packaging}/systemd/fairgv.tmpfiles" DESTINATION lib/tmpfiles.d RENAME fairgv.conf COMPONENT daemon)
install(FILES "${packaging}/fairgvd.toml" DESTINATION /etc/fairgv COMPONENT daemon)
install(DIRECTORY DESTINATION /etc/fairgv/fairgvd.toml.d COMPONENT daemon)

# ---- opencl
fairgv_install_vendor_file(/etc/OpenCL/vendors)

# ---- man pages
find_program(gzip gzip REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/man/*.md")
set(compressed)
foreach(page ${pages})
  get_filename_component(name "${page}" NAME_WLE)  # fairgvd.toml.5
  string(REGEX MATCH "[0-9]$" section "${name}")
  set(roff "${made}/man/${name}.gz")
  add_custom_command(OUTPUT "${roff}"
    COMMAND "${packaging}/man-page" "${page}" "${made}/man/${name}" "FairGV ${version}"
    COMMAND "${gzip}" -9nf "${made}/man/${name}"
    DEPENDS "${page}" "${packaging}/man-page" VERBATIM)
  list(APPEND compressed "${roff}")
  string(REGEX MATCH "^fairgvd" component "${name}")
  if(component)
    set(component daemon)
  else()
    set(component tools)
  endif()
  install(FILES "${roff}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}" COMPONENT ${component})
endforeach()
add_custom_target(man_pages ALL DEPENDS ${compressed})

# ---- what every package has
set(components daemon opencl tools)
if(FAIRGV_BUILD_BENCHMARKS)
  list(APPEND components bench)
endif()
if(TARGET fairgv-softcuda)
  list(APPEND components cuda)
else()
  message(STATUS "No package fairgv-cuda, because there is no CUDA 13 toolkit")
endif()
set(FAIRGV_DEBIAN_VERSION "${version}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
foreach(component ${components})
  set(FAIRGV_PACKAGE "fairgv-${component}")
  set(doc "${made}/doc/${FAIRGV_PACKAGE}")
  configure_file("${packaging}/debian/changelog.in" "${doc}/changelog.Debian" @ONLY)
  configure_file("${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${doc}/changelog" COPYONLY)
  execute_process(COMMAND "${gzip}" -9nf "${doc}/changelog.Debian" "${doc}/changelog" COMMAND_ERROR_IS_FATAL ANY)
  install(FILES "${doc}/changelog.Debian.gz" "${doc}/changelog.gz" "${packaging}/debian/copyright"
    DESTINATION "share/doc/${FAIRGV_PACKAGE}" COMPONENT ${component})
  if(EXISTS "${packaging}/debian/${component}.lintian-overrides")
    install(FILES "${packaging}/debian/${component}.lintian-overrides" DESTINATION share/lintian/overrides
      RENAME "${FAIRGV_PACKAGE}" COMPONENT ${component})
  endif()
endforeach()

# ---- cpack
set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_NAME fairgv)
set(CPACK_PACKAGE_VERSION "${version}")
set(CPACK_PACKAGE_VENDOR FairGV)
set(CPACK_PACKAGE_CONTACT "Seed 3a45de6e maintainers <maintainers@users.noreply.a-seed-3a45de6e.example>")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# lintian's "no-section-field" and friends: each has its own.
foreach(component ${components})
  string(TOUPPER ${component} COMPONENT)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME "fairgv-${component}")
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SECTION misc)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_PRIORITY optional)
  set(CPACK_DEBIAN_${COMPONENT}_DEBUGINFO_PACKAGE ON)
  file(GLOB CPACK_DEBIAN_${COMPONENT}_PACKAGE_CONTROL_EXTRA "${packaging}/debian/${component}/*")
endforeach()
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_DAEMON_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_OPENCL_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_CUDA_PACKAGE_SECTION libs)

set(CPACK_COMPONENT_DAEMON_DESCRIPTION "daemon that shares accelerators among tenants by weight
fairgvd shares a machine's OpenCL devices among programs that do not know of
each other, in proportion to their tenants' weights, by start-time fair queuing
over measured device time. Each program has a confined worker process of its
own, which alone talks to the driver.

This package has the daemon, its workers' program, and systemd units.")
set(CPACK_DEBIAN_DAEMON_PACKAGE_DEPENDS "init-system-helpers (>= 1.54~), systemd | systemd-standalone-sysusers | systemd-sysusers, systemd | systemd-standalone-tmpfiles | systemd-tmpfiles")
set(CPACK_DEBIAN_DAEMON_PACKAGE_RECOMMENDS "fairgv-tools, pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_DAEMON_PACKAGE_SUGGESTS "fairgv-opencl")

set(CPACK_COMPONENT_OPENCL_DESCRIPTION "OpenCL driver that makes programs tenants of a shared accelerator
Unmodified OpenCL programs find this driver through the ordinary loader and
become tenants of fairgvd: their calls travel over shared memory to a worker
process, which uses the device when it is their turn.

It needs no device files: in a container it is all that is installed, beside
the socket of the host's fairgvd.")
set(CPACK_DEBIAN_OPENCL_PACKAGE_RECOMMENDS "ocl-icd-libopencl1 | libopencl1")
set(CPACK_DEBIAN_OPENCL_PACKAGE_SUGGESTS "fairgv-daemon")
set(CPACK_DEBIAN_OPENCL_PACKAGE_PROVIDES "opencl-icd")
set(CPACK_DEBIAN_OPENCL_PACKAGE_ENHANCES "libopencl1")

set(CPACK_COMPONENT_CUDA_DESCRIPTION "CUDA libraries that make programs tenants of a shared accelerator
A driver library (libcuda.so.1) and runtime libraries (libcudart.so.12 and .13)
with which CUDA programs become tenants of fairgvd; the command fairgv run has
them found, and preloads a library for programs with the runtime linked in. Beside them a driver in software, over OpenCL, for machines without
an NVIDIA device.

Each lies in a folder of its own under /usr/lib, where only programs find it
that name the folder in LD_LIBRARY_PATH.")
set(CPACK_DEBIAN_CUDA_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")

set(CPACK_COMPONENT_TOOLS_DESCRIPTION "command that runs, shows and steers tenants of shared accelerators
The command fairgv runs programs as tenants, shows who uses the devices and
with which shares, changes weights and memory quotas while programs run,
simulates scheduling policies, and looks for what is wrong on a machine.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "fairgv-daemon (= ${FAIRGV_DEBIAN_VERSION}), fairgv-opencl (= ${FAIRGV_DEBIAN_VERSION})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "fairgv-bench, bash-completion")

set(CPACK_COMPONENT_BENCH_DESCRIPTION "measurements of how accelerators are shared, and programs to try it with
What the command fairgv bench runs: shares by weight, overhead, latency and
more, on this machine's own devices, as tables and figures.

The OpenCL programs that are measured lie in /usr/libexec/fairgv/workloads and
make good first tenants.")
set(CPACK_DEBIAN_BENCH_PACKAGE_DEPENDS "fairgv-tools (= ${FAIRGV_DEBIAN_VERSION})")
set(CPACK_DEBIAN_BENCH_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_BENCH_PACKAGE_SUGGESTS "gnuplot-nox, strace, curl")

include(CPack)
