// Entry points: launches and host functions (CUDA Driver API, "Execution Control"). Compiled twice:
// stream_entry.hpp.
#include "launch.hpp"
#include "stream_entry.hpp"

namespace fairgv::softcuda {
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
        code = check_shape(*driver.device, *function, shape);
        if (code != CUDA_SUCCESS) return code;
        std::vector<std::uint64_t> block;
        code = gather_parameters(function->info(), parameters, extra, block);
        if (code != CUDA_SUCCESS) return code;
        enqueue_launch(driver, *stream, std::move(function), shape, std::move(block));
        return CUDA_SUCCESS;
      });
}

/// Attributes that ask for nothing that could be missing. What cannot be done is refused, not forgotten.
CUresult check_attribute(const CUlaunchAttribute& attribute) {
  const CUlaunchAttributeValue& value = attribute.value;
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      return value.cooperative == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      return value.clusterDim.x <= 1 && value.clusterDim.y <= 1 && value.clusterDim.z <= 1
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_NOT_SUPPORTED;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      return CUDA_SUCCESS;  // leave to overlap, not a demand
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
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
  for (unsigned at = 0; at < config->numAttrs; ++at) {
    if (const CUresult code = check_attribute(config->attrs[at]); code != CUDA_SUCCESS) return code;
  }
  return launch(function,
                {{config->gridDimX, config->gridDimY, config->gridDimZ},
                 {config->blockDimX, config->blockDimY, config->blockDimZ},
                 config->sharedMemBytes},
                config->hStream, parameters, extra);
}

// An OpenCL device promises no two work-groups that run at the same time, so a grid cannot wait for itself:
// CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH is 0.
CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int,
                                           unsigned int, unsigned int, unsigned int, CUstream stream,
                                           void**) {
  return on_stream(
      stream, [](Driver&, Context&, const std::shared_ptr<Stream>&) { return CUDA_ERROR_NOT_SUPPORTED; });
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    driver.scheduler.submit(*stream, [=] {
      in_host_function() = true;
      function(data);
      in_host_function() = false;
      return CUDA_SUCCESS;
    });
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data,
                                     unsigned int flags) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const std::weak_ptr<StreamGroup> group = stream->group();
    // It is called after a fault too, and told of it (cuStreamAddCallback).
    driver.scheduler.submit(
        *stream,
        [=] {
          const auto alive = group.lock();
          in_host_function() = true;
          callback(handle, alive ? alive->fault() : CUDA_SUCCESS, data);
          in_host_function() = false;
          return CUDA_SUCCESS;
        },
        {}, true);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::softcuda
