// An OpenCL driver that is PoCL but for one of its devices, which fails on demand: for
// device_failure_test.cpp. PoCL's objects begin with a pointer to its table of functions, as the ICD
// extension wants it. The functions of that table that use a device are replaced here by ones that first look
// for a file `failing` beside this library. Its content says how the first device fails from then on:
//
//   launches    launches are refused
//   ends        launches are taken, and end with the error
//   everything  contexts, queues and all commands of the device are refused
//
// PoCL itself is the library that the file `pocl` beside this one names.
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

constexpr cl_int kGone = CL_DEVICE_NOT_AVAILABLE;

/// The folder of this library.
std::filesystem::path failing_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&failing_folder), &info);
  return std::filesystem::path(info.dli_fname).parent_path();
}

std::string first_line_of(const char* name) {
  std::ifstream file(failing_folder() / name);
  std::string line;
  std::getline(file, line);
  return line;
}

cl_icd_dispatch real;  // PoCL's own functions
cl_device_id first_device = nullptr;

bool fails_by(const char* how) {
  const std::string line = first_line_of("failing");
  return line == how || line == "everything";
}

/// Of the device that fails.
bool is_of_first(cl_command_queue queue) {
  cl_device_id device = nullptr;
  real.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(device), &device, nullptr);
  return device == first_device;
}

cl_context CL_API_CALL create_context(const cl_context_properties* properties, cl_uint count,
                                      const cl_device_id* devices,
                                      void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*),
                                      void* data, cl_int* error) {
  bool has_first = false;
  for (cl_uint i = 0; i < count; ++i) has_first = has_first || devices[i] == first_device;
  if (has_first && fails_by("everything")) {
    if (error != nullptr) *error = kGone;
    return nullptr;
  }
  return real.clCreateContext(properties, count, devices, notify, data, error);
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                          const size_t* global, const size_t* local, cl_uint count, const cl_event* waits,
                          cl_event* event) {
  if (is_of_first(queue)) {
    if (fails_by("launches")) return kGone;
    if (event != nullptr && fails_by("ends")) {
      cl_context context = nullptr;
      real.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, nullptr);
      *event = real.clCreateUserEvent(context, nullptr);
      return real.clSetUserEventStatus(*event, kGone);
    }
  }
  return real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, waits, event);
}

cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                               size_t size, void* to, cl_uint count, const cl_event* waits, cl_event* event) {
  if (is_of_first(queue) && fails_by("everything")) return kGone;
  return real.clEnqueueReadBuffer(queue, buffer, blocking, offset, size, to, count, waits, event);
}

cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                size_t size, const void* from, cl_uint count, const cl_event* waits,
                                cl_event* event) {
  if (is_of_first(queue) && fails_by("everything")) return kGone;
  return real.clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, from, count, waits, event);
}

/// PoCL's table, which may lie in memory that cannot be written.
void replace_functions(cl_icd_dispatch& table) {
  real = table;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(&table) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(&table) + sizeof(table);
  if (::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0) {
    std::perror("failing_driver: mprotect");
    return;
  }
  table.clCreateContext = &create_context;
  table.clEnqueueNDRangeKernel = &launch;
  table.clEnqueueReadBuffer = &read_buffer;
  table.clEnqueueWriteBuffer = &write_buffer;
}

/// The function of PoCL's that it gives the loader under this name.
void* of_pocl(const char* name) {
  static void* const library = dlopen(first_line_of("pocl").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::fprintf(stderr, "failing_driver: %s\n", dlerror());
  using Function = void* (*)(const char*);
  static const auto function =
      library == nullptr ? nullptr
                         : reinterpret_cast<Function>(dlsym(library, "clGetExtensionFunctionAddress"));
  return function == nullptr ? nullptr : function(name);
}

cl_int CL_API_CALL platforms_of_pocl(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  using Function = cl_int (*)(cl_uint, cl_platform_id*, cl_uint*);
  const auto function = reinterpret_cast<Function>(of_pocl("clIcdGetPlatformIDsKHR"));
  if (function == nullptr) return CL_PLATFORM_NOT_FOUND_KHR;
  const cl_int error = function(entries, platforms, count);
  if (error != CL_SUCCESS || platforms == nullptr || first_device != nullptr) return error;
  auto& table = **reinterpret_cast<cl_icd_dispatch**>(platforms[0]);
  table.clGetDeviceIDs(platforms[0], CL_DEVICE_TYPE_ALL, 1, &first_device, nullptr);
  replace_functions(table);
  return error;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void* clGetExtensionFunctionAddress(const char* name) {
  if (std::string(name) == "clIcdGetPlatformIDsKHR") return reinterpret_cast<void*>(&platforms_of_pocl);
  return of_pocl(name);
}
