#include "cuda-shim/softcuda/driver/launch/short_work.hpp"

#include <utility>

#include "cuda-shim/softcuda/driver/launch/begun.hpp"

namespace fairgv::cuda::soft {
namespace {

class BegunWork : public Begun {
 public:
  BegunWork(Scheduler& scheduler, std::shared_ptr<Operation> operation, Work work)
      : Begun(scheduler, std::move(operation)), work_(std::move(work)) {}

  /// The native kernel: its arguments are a pointer to this.
  static void CL_CALLBACK run(void* arguments) {
    BegunWork& self = **static_cast<BegunWork**>(arguments);
    self.result_ = self.work_();
  }

 private:
  CUresult finish(cl_int status) override {
    return status == CL_COMPLETE ? result_ : CUDA_ERROR_LAUNCH_FAILED;
  }

  const Work work_;
  CUresult result_ = CUDA_ERROR_LAUNCH_FAILED;
};

CUresult begin_on_device(Engine& engine, Stream& stream, const std::shared_ptr<Operation>& operation,
                         Work work) {
  const cl_command_queue queue = device_queue(*engine.opencl, stream);
  if (queue == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  auto begun = std::make_unique<BegunWork>(engine.operations, operation, std::move(work));
  BegunWork* arguments = begun.get();
  cl_event event = nullptr;
  if (clEnqueueNativeKernel(queue, &BegunWork::run, &arguments, sizeof arguments, 0, nullptr, nullptr, 0,
                            nullptr, &event) != CL_SUCCESS) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  Begun::keep(std::move(begun), queue, event);
  return CUDA_SUCCESS;
}

}  // namespace

void submit_short(Engine& engine, std::shared_ptr<Stream> stream, Work work) {
  if (!engine.opencl->facts().has_native_kernels) {
    engine.operations.submit(*stream, std::move(work));
    return;
  }
  engine.operations.submit(std::move(stream), [&engine, work = std::move(work)](
                                                  Stream& to, const std::shared_ptr<Operation>& operation) {
    if (engine.operations.has_begun(to)) return begin_on_device(engine, to, operation, work);
    engine.operations.ended(operation, work());
    return CUDA_SUCCESS;
  });
}

}  // namespace fairgv::cuda::soft
