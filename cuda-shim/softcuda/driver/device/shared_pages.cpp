// Memory of the device that other processes have, too.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda-shim/softcuda/driver/device/address_window.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"
#include "runtime/base/page.hpp"

namespace fairgv::cuda::soft {

DeviceMemory::~DeviceMemory() {
  if (whole_ != nullptr) clSVMFree(context_, whole_);
  if (taken_ == 0) return;
  // The next memory there must not be another process's, too. If there are no mappings left for that, the
  // memory stays as it is.
  const bool is_own = !is_shared_ || ::mmap(begin_, own_pages_, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  if (is_own) AddressWindow::of_process().give_back(address(), taken_);
}

Result<UniqueFd> DeviceMemory::share(std::size_t used) {
  if (own_pages_ == 0) return Error{"the memory has no pages of its own"};
  UniqueFd file(::memfd_create("fairgv-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(own_pages_)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return system_error("cannot make a memory file");
  }
  // Written through the file, so that a system without memory for it says so, and raises no signal. Beyond
  // `used` lies what the heap had there before, which is nobody else's business.
  for (std::size_t done = 0; done < used;) {
    const ssize_t written = ::pwrite(file.get(), begin_ + done, used - done, static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return system_error("cannot fill a memory file");
    done += static_cast<std::size_t>(written);
  }
  if (::mmap(begin_, own_pages_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0) == MAP_FAILED)
    return system_error("cannot map a memory file");
  is_shared_ = true;
  return file;
}

}  // namespace fairgv::cuda::soft
