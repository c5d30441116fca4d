#include "runtime/vgpu/backend/back_end.hpp"

#include <algorithm>
#include <array>

#include "runtime/vgpu/cuda/back_end.hpp"
#include "runtime/vgpu/opencl/back_end.hpp"

namespace fairgv::vgpu {

std::span<const BackEndKind> back_ends() {
  static constexpr std::array<BackEndKind, 2> kRows{{
      {session::Api::opencl, &opencl::open_back_end},
      {session::Api::cuda, &cuda::open_back_end},
  }};
  return kRows;
}

Result<std::unique_ptr<BackEnd>> open_back_end(const session::WorkerOptions& options) {
  const auto kinds = back_ends();
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const BackEndKind& each) { return each.api == options.api; });
  if (kind == kinds.end()) return Error{"this worker has no back end for " + to_text(options.api)};
  return kind->open(options);
}

}  // namespace fairgv::vgpu
