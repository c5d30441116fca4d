// The driver's devices, described as a worker describes them, so that the daemon knows them for the same
// devices.
#pragma once

#include <vector>

#include "runtime/session/protocol.hpp"

namespace fairgv::cuda::direct {

struct DescribedDevices {
  std::vector<session::DeviceDescription> devices;  // by ordinal
  bool on_host = false;                             // they are the host's own processors: the software driver
};

/// Whether it is the software driver, which runs on the process' OpenCL.
bool is_software(void* driver);

/// After the driver's cuInit.
DescribedDevices describe_devices(void* driver);

}  // namespace fairgv::cuda::direct
