#include "runtime/daemon/worker/cuda_driver.hpp"

#include <algorithm>
#include <system_error>

#include "runtime/session/direct/cuda_places.hpp"

namespace fairgv::daemon {
namespace fs = std::filesystem;

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
  for (const char* path : session::kCudaDrivers) add(path);
  // Ours, in the build tree and in an installation, wherever that lies.
  const fs::path beside = worker_program.parent_path();
  add((beside / "../lib/softcuda/libcuda.so.1").lexically_normal());
  add((beside / "../.." / FAIRGV_LIBDIR / "fairgv/softcuda/libcuda.so.1").lexically_normal());
  return found;
}

}  // namespace fairgv::daemon
