// Entry points that FairGV does not serve: each answers with the error that the specification gives for a
// device without the capability, after its first handle has been checked. The devices do not advertise any of
// these capabilities (masks.cpp). Slots of other operating systems' graphics (Direct3D) have no type here and
// stay null.
#include "icd/api/api.hpp"
#include "icd/memory/memory.hpp"
#include "icd/objects/event.hpp"
#include "icd/objects/queue.hpp"

#include <type_traits>

namespace fairgv::icd {
namespace {

// The error for a bad first argument; CL_SUCCESS if it is a live object, or not a handle at all.
cl_int check_first(cl_device_id handle) {
  return downcast<Device>(handle) ? CL_SUCCESS : CL_INVALID_DEVICE;
}
cl_int check_first(cl_context handle) {
  return downcast<Context>(handle) ? CL_SUCCESS : CL_INVALID_CONTEXT;
}
cl_int check_first(cl_command_queue handle) {
  return downcast<Queue>(handle) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}
cl_int check_first(cl_mem handle) {
  return downcast<Memory>(handle) ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}
template <class Other>
cl_int check_first(const Other&) {
  return CL_SUCCESS;
}

template <class First, class... Rest>
cl_int first_error(First first, Rest...) {
  return check_first(first);
}

/// Where a creating call wants its error: its last argument.
template <class Last>
cl_int* error_destination(Last last) {
  if constexpr (std::is_same_v<Last, cl_int*>) {
    return last;
  } else {
    return nullptr;
  }
}
template <class First, class Second, class... Rest>
cl_int* error_destination(First, Second second, Rest... rest) {
  return error_destination(second, rest...);
}

/// An entry point of type `Function` that always ends in `error`.
template <class Function, cl_int error>
struct Unserved;
template <class Result, class... Arguments, cl_int error>
struct Unserved<Result (*)(Arguments...), error> {
  static Result entry(Arguments... arguments) {
    const cl_int handle_error = first_error(arguments...);
    const cl_int answer = handle_error != CL_SUCCESS ? handle_error : error;
    if constexpr (std::is_same_v<Result, cl_int>) {
      return answer;
    } else if constexpr (std::is_pointer_v<Result>) {
      if (cl_int* const destination = error_destination(arguments...)) *destination = answer;
      return nullptr;
    }
  }
};

}  // namespace

void add_unserved_entry_points(cl_icd_dispatch& table) {
#define FAIRGV_UNSERVED(name, error) table.name = Unserved<decltype(table.name), error>::entry
  // cl_ext_device_fission is not passed on: OpenCL 1.2 has its own functions for that.
  FAIRGV_UNSERVED(clCreateSubDevicesEXT, CL_INVALID_VALUE);
  // CL_DEVICE_EXECUTION_CAPABILITIES has no CL_EXEC_NATIVE_KERNEL.
  FAIRGV_UNSERVED(clEnqueueNativeKernel, CL_INVALID_OPERATION);
  // Graphics.
  FAIRGV_UNSERVED(clCreateFromGLBuffer, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clCreateFromGLTexture, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clCreateFromGLTexture2D, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clCreateFromGLTexture3D, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clCreateFromGLRenderbuffer, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clGetGLObjectInfo, CL_INVALID_GL_OBJECT);
  FAIRGV_UNSERVED(clGetGLTextureInfo, CL_INVALID_GL_OBJECT);
  FAIRGV_UNSERVED(clEnqueueAcquireGLObjects, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clEnqueueReleaseGLObjects, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clGetGLContextInfoKHR, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clCreateEventFromGLsyncKHR, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clCreateFromEGLImageKHR, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clEnqueueAcquireEGLObjectsKHR, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clEnqueueReleaseEGLObjectsKHR, CL_INVALID_OPERATION);
  FAIRGV_UNSERVED(clCreateEventFromEGLSyncKHR, CL_INVALID_OPERATION);
#undef FAIRGV_UNSERVED
}

}  // namespace fairgv::icd
