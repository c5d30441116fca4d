// Entry points: launches and host functions (CUDA Driver API, "Execution Control"). Compiled twice:
// stream_entry.hpp.
#include "cuda-shim/api/code/library.hpp"
#include "cuda-shim/api/command.hpp"
#include "cuda-shim/api/stream/stream_entry.hpp"

namespace fairgv::cuda {
namespace {

CUresult launch(CUfunction handle, const LaunchShape& shape, CUstream stream_handle, void* const* parameters,
                void* const* extra) noexcept {
  return on_stream(
      stream_handle, [&](Driver& driver, Context& context, const std::shared_ptr<Stream>& stream) {
        CUresult code = CUDA_SUCCESS;
        auto function = find_function(driver, context, handle, code);
        if (!function) return code;
        // Function and stream have to be of the same context.
        if (stream->group() != context.group() || function->module().owner() != context.handle()) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        code = check_shape(driver, context.device(), *function, shape);
        if (code != CUDA_SUCCESS) return code;
        std::vector<std::uint64_t> block;
        code = gather_parameters(*function, parameters, extra, block);
        if (code != CUDA_SUCCESS) return code;
        CUkernel const kernel = function->handle() == handle ? nullptr : reinterpret_cast<CUkernel>(handle);
        return put(driver, stream, LaunchCommand{std::move(function), shape, std::move(block), kernel});
      });
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                unsigned int block_z, unsigned int dynamic_shared, CUstream stream,
                                void** parameters, void** extra) {
  return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_shared}, stream,
                parameters, extra);
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                                  void** extra) {
  if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  LaunchShape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                    {config->blockDimX, config->blockDimY, config->blockDimZ},
                    config->sharedMemBytes};
  for (unsigned at = 0; at < config->numAttrs; ++at) {
    if (const CUresult code = take_attribute(config->attrs[at].id, config->attrs[at].value, shape);
        code != CUDA_SUCCESS)
      return code;
  }
  return launch(function, shape, config->hStream, parameters, extra);
}

CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                           unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                           unsigned int block_z, unsigned int dynamic_shared, CUstream stream,
                                           void** parameters) {
  LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_shared};
  shape.cooperative = true;
  return launch(function, shape, stream, parameters, nullptr);
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return put(driver, stream, HostCommand{function, data});
  });
}

CUresult CUDAAPI cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data,
                                     unsigned int flags) {
  return on_uncaptured_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    // The callback runs after a fault, too, and gets the fault (cuStreamAddCallback).
    return driver.scheduler.run_on_host(
        stream,
        [=](CUresult fault) {
          in_host_function() = true;
          callback(handle, fault, data);
          in_host_function() = false;
        },
        true);
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
