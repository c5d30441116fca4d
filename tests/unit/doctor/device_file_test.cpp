// `fairgv doctor` on the permissions of an accelerator's files.
#include <sys/stat.h>

#include "tests/unit/doctor/machine.hpp"
#include "tools/fairgv/doctor/device_files.hpp"

namespace fairgv::tools::doctor {
namespace {

struct DeviceFileChecks : PreparedMachine {
  void make(const std::string& path, mode_t mode) const {
    write(path, "");
    ASSERT_EQ(::chmod(at(path).c_str(), mode), 0);
  }
  /// Gives these members to the group of this test's files.
  void members(const std::string& names) const {
    write("/etc/group", "gpus:x:" + std::to_string(::getegid()) + ":" + names + "\n");
    write("/etc/passwd", "root:x:0:0::/root:/bin/sh\n");
  }
};

TEST_F(DeviceFileChecks, AreContentWithoutAccelerators) {
  write("/dev/null", "");
  write("/dev/dri/card0", "");
  expect(check_device_files, Level::ok, "there are none");
}

TEST_F(DeviceFileChecks, ADeviceFileThatEverybodyMayOpenIsReported) {
  make("/dev/nvidia0", 0666);
  make("/dev/nvidiactl", 0666);
  expect(check_device_files, Level::wrong, "/dev/nvidia0, /dev/nvidiactl: everybody may open it (mode 0666");
  expect(check_device_files, Level::wrong, "NVreg_DeviceFileMode=0660");
  remove("/dev/nvidia0");
  remove("/dev/nvidiactl");
  make("/dev/dri/renderD128", 0604);
  expect(check_device_files, Level::wrong, "SUBSYSTEM==\"drm\"");
  remove("/dev/dri");
  make("/dev/kfd", 0602);
  expect(check_device_files, Level::wrong, "SUBSYSTEM==\"kfd\"");
}

TEST_F(DeviceFileChecks, TellWhoIsInTheGroup) {
  members("root,carol,alice");
  make("/dev/kfd", 0660);
  expect(check_device_files, Level::note, "alice, carol may open it (mode 0660");
  expect(check_device_files, Level::note, "PrivateDevices=yes");
}

TEST_F(DeviceFileChecks, TellThatNobodysWorkersMayOpenWhatIsRootsAlone) {
  members("root");
  make("/dev/accel/accel0", 0660);
  expect(check_device_files, Level::note, "usermod -aG render USER");
  members("alice");
  make("/dev/accel/accel0", 0600);
  expect(check_device_files, Level::note, "neither may workers");
}

TEST_F(DeviceFileChecks, PutFilesWithTheSameRightsTogether) {
  for (const char* path : {"/dev/nvidia0", "/dev/nvidia1"}) make(path, 0660);
  make("/dev/nvidia-uvm", 0666);
  make("/dev/accel0", 0660);
  std::filesystem::create_directories(at("/dev/nvidia-caps"));
  const auto files = device_files(examination.machine);
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].paths, std::vector<std::string>{"/dev/nvidia-uvm"});
  EXPECT_EQ(files[1].paths, (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidia1"}));
  EXPECT_EQ(files[2].kind, DeviceKind::accel);
}

TEST_F(DeviceFileChecks, TellThatAProcessorIsNotFencedOff) {
  expect(check_processor, Level::ok, "PoCL");
  write(kDriverFile, "libpocl.so.2.10.0\n");
  expect(check_processor, Level::note, "taskset");
}

}  // namespace
}  // namespace fairgv::tools::doctor
