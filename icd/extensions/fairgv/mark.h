/* Marks: tell FairGV that a unit of work of this program ends here, such as a frame or a request.
 *
 * An OpenCL program includes this header and calls fairgv_mark() behind the commands of each unit. It links
 * against nothing of FairGV's: as a tenant it sets a marker that is counted when all commands before it in
 * the queue have ended; anywhere else the call does nothing and returns CL_SUCCESS. The administrator says
 * what a tenant's units are, and how many of them it is to have in a second (fairgvd.toml(5): units, target).
 *
 * C99 or C++. Any thread. `label` is at most 64 bytes; null or "": none.
 */
#ifndef FAIRGV_MARK_H
#define FAIRGV_MARK_H

#include <CL/cl.h>
#include <stddef.h>

typedef cl_int (*fairgv_mark_function)(cl_command_queue queue, const char* label);

/* The function of the queue's platform, or null: ask once, not for every frame. */
static inline fairgv_mark_function fairgv_find_mark(cl_command_queue queue) {
  union {
    void* address;
    fairgv_mark_function function;
  } found;
  cl_device_id device = NULL;
  cl_platform_id platform = NULL;
  found.address = NULL;
  if (clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device), &device, NULL) == CL_SUCCESS &&
      clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) == CL_SUCCESS) {
    found.address = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueMarkFAIRGV");
  }
  return found.function;
}

static inline cl_int fairgv_mark(cl_command_queue queue, const char* label) {
  const fairgv_mark_function mark = fairgv_find_mark(queue);
  return mark != NULL ? mark(queue, label) : CL_SUCCESS;
}

#endif
