// In place of the CUDA back end where the toolkit's headers were missing at the build.
#include "runtime/vgpu/cuda/worker.hpp"

namespace fairgv::vgpu::cuda {

Result<std::unique_ptr<Worker>> Worker::open(const std::vector<std::string>&, const opencl::Driver*) {
  return Error{"this FairGV was built without CUDA: build it where the CUDA toolkit is (cuda.h)"};
}

}  // namespace fairgv::vgpu::cuda
