// Every entry point that FairGV serves, declared once. Each has the type that the OpenCL headers give the
// function of the same name, in our namespace; dispatch.cpp puts them in the loader's table. api/unserved.cpp
// lists the calls that are not served, with their errors.
#pragma once

#include <string_view>

#include "icd/cl.hpp"

// clang-format off
#define FAIRGV_SERVED_ENTRY_POINTS(X)                                                                                \
  /* api/platform.cpp */                                                                                             \
  X(clGetPlatformIDs) X(clGetPlatformInfo) X(clUnloadCompiler) X(clUnloadPlatformCompiler)                           \
  X(clGetExtensionFunctionAddress) X(clGetExtensionFunctionAddressForPlatform)                                       \
  /* api/device.cpp */                                                                                               \
  X(clGetDeviceIDs) X(clGetDeviceInfo) X(clRetainDevice) X(clReleaseDevice)                                          \
  X(clGetDeviceAndHostTimer) X(clGetHostTimer) X(clCreateSubDevices) X(clRetainDeviceEXT) X(clReleaseDeviceEXT)     \
  /* api/context.cpp */                                                                                              \
  X(clCreateContext) X(clCreateContextFromType) X(clRetainContext) X(clReleaseContext) X(clGetContextInfo)           \
  X(clSetContextDestructorCallback)                                                                                  \
  /* api/queue.cpp */                                                                                                \
  X(clCreateCommandQueue) X(clCreateCommandQueueWithProperties) X(clRetainCommandQueue) X(clReleaseCommandQueue)     \
  X(clGetCommandQueueInfo) X(clSetCommandQueueProperty) X(clSetDefaultDeviceCommandQueue) X(clFlush) X(clFinish)     \
  /* api/memory.cpp */                                                                                               \
  X(clCreateBuffer) X(clCreateBufferWithProperties) X(clCreateSubBuffer) X(clRetainMemObject) X(clReleaseMemObject)  \
  X(clGetMemObjectInfo) X(clSetMemObjectDestructorCallback)                                                          \
  /* api/transfer.cpp */                                                                                             \
  X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueReadBufferRect) X(clEnqueueWriteBufferRect)              \
  X(clEnqueueMapBuffer) X(clEnqueueUnmapMemObject)                                                                   \
  /* api/copy.cpp */                                                                                                 \
  X(clEnqueueCopyBuffer) X(clEnqueueCopyBufferRect) X(clEnqueueFillBuffer) X(clEnqueueMigrateMemObjects)             \
  /* api/image.cpp */                                                                                                \
  X(clCreateImage) X(clCreateImageWithProperties) X(clCreateImage2D) X(clCreateImage3D)                              \
  X(clGetSupportedImageFormats) X(clGetImageInfo)                                                                    \
  /* api/image_transfer.cpp */                                                                                       \
  X(clEnqueueReadImage) X(clEnqueueWriteImage) X(clEnqueueMapImage)                                                  \
  /* api/image_copy.cpp */                                                                                           \
  X(clEnqueueCopyImage) X(clEnqueueCopyImageToBuffer) X(clEnqueueCopyBufferToImage) X(clEnqueueFillImage)            \
  /* api/sampler.cpp */                                                                                              \
  X(clCreateSampler) X(clCreateSamplerWithProperties) X(clRetainSampler) X(clReleaseSampler) X(clGetSamplerInfo)     \
  /* api/pipe.cpp */                                                                                                 \
  X(clCreatePipe) X(clGetPipeInfo)                                                                                   \
  /* api/program.cpp */                                                                                              \
  X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clRetainProgram) X(clReleaseProgram)                   \
  X(clGetProgramInfo) X(clGetProgramBuildInfo) X(clSetProgramReleaseCallback) X(clCreateProgramWithIL)               \
  X(clCreateProgramWithBuiltInKernels) X(clSetProgramSpecializationConstant)                                         \
  /* api/build.cpp */                                                                                                \
  X(clBuildProgram) X(clCompileProgram) X(clLinkProgram)                                                             \
  /* api/kernel.cpp */                                                                                               \
  X(clCreateKernel) X(clCreateKernelsInProgram) X(clCloneKernel) X(clRetainKernel) X(clReleaseKernel)                \
  X(clSetKernelArg) X(clGetKernelInfo) X(clGetKernelArgInfo) X(clGetKernelWorkGroupInfo)                             \
  X(clGetKernelSubGroupInfo) X(clGetKernelSubGroupInfoKHR)                                                           \
  /* api/launch.cpp */                                                                                               \
  X(clEnqueueNDRangeKernel) X(clEnqueueTask)                                                                         \
  /* api/svm.cpp */                                                                                                  \
  X(clSVMAlloc) X(clSVMFree) X(clEnqueueSVMFree) X(clEnqueueSVMMemcpy) X(clEnqueueSVMMemFill) X(clEnqueueSVMMap)     \
  X(clEnqueueSVMUnmap) X(clEnqueueSVMMigrateMem) X(clSetKernelArgSVMPointer) X(clSetKernelExecInfo)                  \
  /* api/event.cpp */                                                                                                \
  X(clWaitForEvents) X(clGetEventInfo) X(clRetainEvent) X(clReleaseEvent) X(clGetEventProfilingInfo)                 \
  X(clCreateUserEvent) X(clSetUserEventStatus) X(clSetEventCallback)                                                 \
  /* api/sync.cpp */                                                                                                 \
  X(clEnqueueMarker) X(clEnqueueMarkerWithWaitList) X(clEnqueueBarrier) X(clEnqueueBarrierWithWaitList)              \
  X(clEnqueueWaitForEvents)

/// Entry points of extensions, which no loader dispatches: applications ask for their addresses.
#define FAIRGV_COMMAND_BUFFER_ENTRY_POINTS(X)                                                                        \
  /* api/command_buffer.cpp */                                                                                       \
  X(clCreateCommandBufferKHR) X(clRetainCommandBufferKHR) X(clReleaseCommandBufferKHR)                               \
  X(clFinalizeCommandBufferKHR) X(clEnqueueCommandBufferKHR) X(clGetCommandBufferInfoKHR)                            \
  X(clCommandBarrierWithWaitListKHR) X(clCommandCopyBufferKHR) X(clCommandCopyBufferRectKHR)                         \
  X(clCommandCopyBufferToImageKHR) X(clCommandCopyImageKHR) X(clCommandCopyImageToBufferKHR)                         \
  X(clCommandFillBufferKHR) X(clCommandFillImageKHR) X(clCommandNDRangeKernelKHR)
// clang-format on

namespace fairgv::icd {

#define FAIRGV_DECLARE(name) decltype(::name) name;
FAIRGV_SERVED_ENTRY_POINTS(FAIRGV_DECLARE)
FAIRGV_COMMAND_BUFFER_ENTRY_POINTS(FAIRGV_DECLARE)
#undef FAIRGV_DECLARE

/// FairGV's own, for fairgv/mark.h: a marker that counts as a unit of the tenant's service. label: at most
/// wire::kLongestLabel bytes; may be null.
cl_int clEnqueueMarkFAIRGV(cl_command_queue command_queue, const char* label);

/// clIcdGetPlatformIDsKHR (cl_khr_icd): the loader's first call.
cl_int icd_get_platform_ids(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms);

/// The address of a function that ICD loaders look up by name (cl_khr_icd), or nullptr (export.cpp).
void* loader_function(std::string_view name);

/// Fills the slots of the table that are not served (api/unserved.cpp).
void add_unserved_entry_points(cl_icd_dispatch& table);

}  // namespace fairgv::icd
