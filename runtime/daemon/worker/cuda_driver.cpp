#include "runtime/daemon/worker/cuda_driver.hpp"

#include <algorithm>
#include <system_error>

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

/// Never by the linker's search: it may find the front end of FairGV itself first.
constexpr const char* kSystemDrivers[] = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                          "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
                                          "/usr/lib64/libcuda.so.1",
                                          "/usr/lib/libcuda.so.1",
                                          "/usr/lib/wsl/lib/libcuda.so.1",
                                          "/usr/local/nvidia/lib64/libcuda.so.1",  // nodes of Kubernetes
                                          "/usr/local/nvidia/lib/libcuda.so.1",
                                          "/run/opengl-driver/lib/libcuda.so.1"};

}  // namespace

std::vector<std::string> cuda_drivers(const std::optional<std::string>& configured,
                                      const fs::path& worker_program) {
  if (configured) return {*configured};
  std::vector<std::string> found;
  const auto add = [&found](const fs::path& path) {
    std::error_code code;
    const bool again =
        std::ranges::any_of(found, [&](const fs::path& other) { return fs::equivalent(path, other, code); });
    if (!again && fs::exists(path, code)) found.push_back(path);
  };
  for (const char* path : kSystemDrivers) add(path);
  // Ours, in the build tree and in an installation, wherever that lies.
  const fs::path beside = worker_program.parent_path();
  add((beside / "../lib/softcuda/libcuda.so.1").lexically_normal());
  add((beside / "../.." / FAIRGV_LIBDIR / "fairgv/softcuda/libcuda.so.1").lexically_normal());
  return found;
}

}  // namespace fairgv::daemon
