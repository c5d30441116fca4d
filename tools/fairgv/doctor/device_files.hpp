// The files by which drivers reach accelerators: a user who can open such a file can use the device without
// FairGV.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tools/fairgv/doctor/machine.hpp"

namespace fairgv::tools::doctor {

/// The known kinds, by their maker and the way in which their rights are set.
enum class DeviceKind { nvidia, dri, kfd, accel };

/// Files of one kind with the same rights.
struct DeviceFiles {
  DeviceKind kind = DeviceKind::nvidia;
  std::vector<std::string> paths;  // sorted
  mode_t mode = 0;                 // permissions
  uid_t user = 0;
  gid_t group = 0;
  bool has_acl = false;  // further users or groups are named: acl(5)
};

/// /dev/nvidia*, /dev/dri/render*, /dev/kfd, /dev/accel*
std::vector<DeviceFiles> device_files(const Machine& machine);

}  // namespace fairgv::tools::doctor
