// In place of the CUDA back end where the toolkit's headers were missing at the build.
#include "runtime/vgpu/cuda/back_end.hpp"

namespace fairgv::vgpu::cuda {

Result<std::unique_ptr<BackEnd>> open_back_end(const session::WorkerOptions&) {
  return Error{"this FairGV was built without CUDA: build it where the CUDA toolkit is (cuda.h)"};
}

}  // namespace fairgv::vgpu::cuda
