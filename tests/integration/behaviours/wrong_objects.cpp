// Wrong arguments of calls that make objects and of queries. Null handles are not among them: most loaders
// answer those by themselves.
#include <array>

#include "tests/integration/behaviours/behaviour.hpp"

namespace fairgv::behaviours {
namespace {

constexpr const char* kStoring = "kernel void k(global uint* out, uint value) { out[0] = value; }";
constexpr cl_uint kUnknown = 0x7777;

/// The error that a creating call gives through its last parameter.
template <class Create>
cl_int error_of(Create&& create) {
  cl_int error = 4711;
  create(&error);
  return error;
}

/// The answers of a query when the question is unknown, the room too small, or there is neither room nor a
/// place for the size. `query` takes a question, a size, a place for the answer and a place for the size.
template <class Query>
std::string asked_wrongly(cl_uint known, Query&& query) {
  std::array<char, 4096> room{};
  std::size_t size = 0;
  Answer answer;
  answer.add("unknown", query(kUnknown, room.size(), room.data(), &size));
  answer.add("one byte", query(known, std::size_t{1}, room.data(), nullptr));
  answer.add("no bytes", query(known, std::size_t{0}, room.data(), nullptr));
  answer.add("no place", query(known, room.size(), nullptr, nullptr));
  return answer.add("size only", query(known, std::size_t{0}, nullptr, &size));
}

std::string contexts(const Stage& s) {
  const cl_context_properties unknown[] = {kUnknown, 1, 0};
  const cl_context_properties no_platform[] = {CL_CONTEXT_PLATFORM, 0, 0};
  const cl_context_properties twice[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(s.platform), CL_CONTEXT_PLATFORM,
      reinterpret_cast<cl_context_properties>(s.platform), 0};
  const auto create = [&](const cl_context_properties* properties, cl_uint count,
                          const cl_device_id* devices) {
    return error_of([&](cl_int* e) { clCreateContext(properties, count, devices, nullptr, nullptr, e); });
  };
  Answer answer;
  answer.add("unknown property", create(unknown, 1, &s.device), -64);
  answer.add("no platform", create(no_platform, 1, &s.device));
  answer.add("property twice", create(twice, 1, &s.device), -64);
  return answer.add("user data", error_of([&](cl_int* e) {
                      int data = 0;
                      clCreateContext(nullptr, 1, &s.device, nullptr, &data, e);
                    }));
}

std::string queues(const Stage& s) {
  const auto create = [&](const std::array<cl_queue_properties, 5>& list) {
    return error_of(
        [&](cl_int* e) { clCreateCommandQueueWithProperties(s.context, s.device, list.data(), e); });
  };
  Answer answer;
  answer.add("unknown name", create({kUnknown, 1}), -30);
  answer.add("unknown bit", create({CL_QUEUE_PROPERTIES, 1U << 20}), -30);
  return answer.add("no properties", create({0}));
}

std::string buffers(const Stage& s) {
  int host = 0;
  const auto create = [&](cl_mem_flags flags, std::size_t bytes, void* at) {
    return error_of([&](cl_int* e) { clCreateBuffer(s.context, flags, bytes, at, e); });
  };
  Answer answer;
  answer.add("use and copy", create(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 4, &host));
  answer.add("use and allocate", create(CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 4, &host));
  answer.add("host reads only, writes only",
             create(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, 4, nullptr), -30);
  return answer.add("all bytes", create(0, SIZE_MAX, nullptr), -61);
}

std::string parts(const Stage& s) {
  const auto create = [&](cl_mem_flags of, cl_mem_flags flags, cl_buffer_create_type type,
                          const void* region) {
    return error_of([&](cl_int* e) { clCreateSubBuffer(s.buffer(4096, of), flags, type, region, e); });
  };
  const cl_buffer_region region{0, 64}, wrapped{SIZE_MAX - 4095, 4096};
  Answer answer;
  answer.add("unknown type", create(0, 0, kUnknown, &region));
  answer.add("no region", create(0, 0, CL_BUFFER_CREATE_TYPE_REGION, nullptr));
  answer.add("wrapped region", create(0, 0, CL_BUFFER_CREATE_TYPE_REGION, &wrapped), -30);
  answer.add("writes what is read only",
             create(CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region), -30);
  return answer.add("host pointer", create(0, CL_MEM_ALLOC_HOST_PTR, CL_BUFFER_CREATE_TYPE_REGION, &region),
                    -30);
}

cl_int create_image(const Stage& s, cl_mem_flags flags, cl_image_format format, cl_image_desc description) {
  return error_of([&](cl_int* e) { clCreateImage(s.context, flags, &format, &description, nullptr, e); });
}

cl_image_desc square() {
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = description.image_height = 16;
  return description;
}

std::string images(const Stage& s) {
  constexpr cl_image_format kFormat{CL_RGBA, CL_UNSIGNED_INT8};
  Answer answer;
  answer.add("unknown order", create_image(s, 0, {kUnknown, CL_UNSIGNED_INT8}, square()), -39);
  answer.add("unknown type", create_image(s, 0, {CL_RGBA, kUnknown}, square()), -39);
  answer.add("order that the type does not have", create_image(s, 0, {CL_RGB, CL_UNSIGNED_INT8}, square()),
             -39);
  answer.add("no format", error_of([&](cl_int* e) {
               const cl_image_desc description = square();
               clCreateImage(s.context, 0, nullptr, &description, nullptr, e);
             }),
             -39);
  answer.add("no description",
             error_of([&](cl_int* e) { clCreateImage(s.context, 0, &kFormat, nullptr, nullptr, e); }), -65);
  return answer.add("read and write only",
                    create_image(s, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, kFormat, square()), -30);
}

std::string samplers(const Stage& s) {
  const auto create = [&](cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter) {
    return error_of([&](cl_int* e) { clCreateSampler(s.context, normalized, addressing, filter, e); });
  };
  Answer answer;
  answer.add("unknown addressing", create(CL_TRUE, kUnknown, CL_FILTER_NEAREST), -30);
  return answer.add("unknown filter", create(CL_TRUE, CL_ADDRESS_CLAMP, kUnknown), -30);
}

std::string sources(const Stage& s) {
  const char* source = kStoring;
  const char* none = nullptr;
  const std::size_t nothing = 0;
  const auto create = [&](cl_uint count, const char** strings, const std::size_t* lengths) {
    return error_of([&](cl_int* e) { clCreateProgramWithSource(s.context, count, strings, lengths, e); });
  };
  Answer answer;
  answer.add("none", create(0, &source, nullptr), -30);
  answer.add("no list", create(1, nullptr, nullptr), -30);
  answer.add("a null one", create(1, &none, nullptr), -30);
  return answer.add("length 0", create(1, &source, &nothing));
}

std::string binaries(const Stage& s) {
  const unsigned char bytes[4] = {1, 2, 3, 4};
  const unsigned char* place = bytes;
  const unsigned char* nowhere = nullptr;
  const std::size_t size = sizeof(bytes), nothing = 0;
  const auto create = [&](cl_uint count, const std::size_t* sizes, const unsigned char** binaries) {
    return error_of([&](cl_int* e) {
      clCreateProgramWithBinary(s.context, count, &s.device, sizes, binaries, nullptr, e);
    });
  };
  Answer answer;
  answer.add("no devices", create(0, &size, &place));
  answer.add("no sizes", create(1, nullptr, &place));
  answer.add("no binaries", create(1, &size, nullptr));
  answer.add("a null one", create(1, &size, &nowhere), -30);
  return answer.add("an empty one", create(1, &nothing, &place));
}

std::string builds(const Stage& s) {
  const char* source = kStoring;
  const auto program = [&] { return clCreateProgramWithSource(s.context, 1, &source, nullptr, nullptr); };
  int data = 0;
  Answer answer;
  answer.add("devices, no list", clBuildProgram(program(), 1, nullptr, "", nullptr, nullptr));
  answer.add("list, no devices", clBuildProgram(program(), 0, &s.device, "", nullptr, nullptr));
  answer.add("user data", clBuildProgram(program(), 0, nullptr, "", nullptr, &data));
  return answer.add("unknown option",
                    clBuildProgram(program(), 0, nullptr, "-no-such-option", nullptr, nullptr));
}

std::string compilations(const Stage& s) {
  const char* source = kStoring;
  const cl_program program = clCreateProgramWithSource(s.context, 1, &source, nullptr, nullptr);
  const char* name = "a.h";
  Answer answer;
  answer.add("headers, no list",
             clCompileProgram(program, 0, nullptr, "", 1, nullptr, &name, nullptr, nullptr));
  answer.add("names, no headers",
             clCompileProgram(program, 0, nullptr, "", 0, nullptr, &name, nullptr, nullptr));
  const cl_program built = s.build(kStoring);
  clCreateKernel(built, "k", nullptr);
  return answer.add("with kernels",
                    clCompileProgram(built, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
}

std::string links(const Stage& s) {
  const char* source = kStoring;
  const cl_program program = clCreateProgramWithSource(s.context, 1, &source, nullptr, nullptr);
  const auto link = [&](cl_uint devices, const cl_device_id* list, cl_uint count,
                        const cl_program* programs) {
    return error_of([&](cl_int* e) {
      clLinkProgram(s.context, devices, list, "", count, programs, nullptr, nullptr, e);
    });
  };
  Answer answer;
  answer.add("nothing", link(0, nullptr, 0, nullptr));
  answer.add("programs, no list", link(0, nullptr, 1, nullptr));
  answer.add("devices, no list", link(1, nullptr, 1, &program));
  return answer.add("not compiled", link(0, nullptr, 1, &program), -59);
}

std::string kernels(const Stage& s) {
  const cl_program program = s.build(kStoring);
  const char* source = kStoring;
  const cl_program unbuilt = clCreateProgramWithSource(s.context, 1, &source, nullptr, nullptr);
  const auto create = [&](cl_program of, const char* name) {
    return error_of([&](cl_int* e) { clCreateKernel(of, name, e); });
  };
  Answer answer;
  answer.add("unknown", create(program, "no_such"));
  answer.add("empty name", create(program, ""));
  answer.add("not built", create(unbuilt, "k"), -45);
  return answer.add("all, not built", clCreateKernelsInProgram(unbuilt, 0, nullptr, nullptr));
}

std::string callbacks(const Stage& s) {
  Answer answer;
  answer.add("of memory", clSetMemObjectDestructorCallback(s.buffer(64), nullptr, nullptr));
  return answer.add("of an event", clSetEventCallback(s.user_event(), CL_COMPLETE, nullptr, nullptr));
}

std::string partitions(const Stage& s) {
  cl_uint count = 0;
  const cl_device_partition_property unknown[] = {kUnknown, 1, 0};
  const cl_device_partition_property nothing[] = {0};
  const cl_device_partition_property none[] = {CL_DEVICE_PARTITION_EQUALLY, 0, 0};
  Answer answer;
  answer.add("no properties", clCreateSubDevices(s.device, nullptr, 0, nullptr, &count));
  answer.add("an empty list", clCreateSubDevices(s.device, nothing, 0, nullptr, &count));
  answer.add("unknown", clCreateSubDevices(s.device, unknown, 0, nullptr, &count));
  return answer.add("into parts of nothing", clCreateSubDevices(s.device, none, 0, nullptr, &count));
}

std::string profiles(const Stage& s) {
  cl_ulong time = 0;
  const auto ask = [&](cl_event event, cl_uint what) {
    return clGetEventProfilingInfo(event, what, sizeof(time), &time, nullptr);
  };
  const cl_event of_the_user = s.user_event();
  cl_event marker = nullptr;
  clEnqueueMarkerWithWaitList(s.queue, 0, nullptr, &marker);
  clFinish(s.queue);
  Answer answer;
  answer.add("of the user's", ask(of_the_user, CL_PROFILING_COMMAND_END));
  return answer.add("of a queue without times", ask(marker, CL_PROFILING_COMMAND_END), -7);
}

Question query(std::string of, std::function<std::string(const Stage&)> ask) {
  return {"query of " + of + ", asked wrongly", std::move(ask)};
}

std::vector<Question> queries() {
  return {
      query("platforms",
            [](const Stage& s) {
              return asked_wrongly(CL_PLATFORM_VERSION,
                                   [&](auto... rest) { return clGetPlatformInfo(s.platform, rest...); });
            }),
      query("devices",
            [](const Stage& s) {
              return asked_wrongly(CL_DEVICE_VENDOR_ID,
                                   [&](auto... rest) { return clGetDeviceInfo(s.device, rest...); });
            }),
      query("contexts",
            [](const Stage& s) {
              return asked_wrongly(CL_CONTEXT_NUM_DEVICES,
                                   [&](auto... rest) { return clGetContextInfo(s.context, rest...); });
            }),
      query("queues",
            [](const Stage& s) {
              return asked_wrongly(CL_QUEUE_CONTEXT,
                                   [&](auto... rest) { return clGetCommandQueueInfo(s.queue, rest...); });
            }),
      query("memory",
            [](const Stage& s) {
              const cl_mem buffer = s.buffer(64);
              return asked_wrongly(CL_MEM_SIZE,
                                   [&](auto... rest) { return clGetMemObjectInfo(buffer, rest...); });
            }),
      query("images, of a buffer",
            [](const Stage& s) {
              const cl_mem buffer = s.buffer(64);
              std::size_t width = 0;
              return std::string(Answer().add(
                  "query", clGetImageInfo(buffer, CL_IMAGE_WIDTH, sizeof(width), &width, nullptr), -38));
            }),
      query("programs",
            [](const Stage& s) {
              const cl_program program = s.build(kStoring);
              return asked_wrongly(CL_PROGRAM_NUM_DEVICES,
                                   [&](auto... rest) { return clGetProgramInfo(program, rest...); });
            }),
      query("builds",
            [](const Stage& s) {
              const cl_program program = s.build(kStoring);
              return asked_wrongly(CL_PROGRAM_BUILD_STATUS, [&](auto... rest) {
                return clGetProgramBuildInfo(program, s.device, rest...);
              });
            }),
      query("kernels",
            [](const Stage& s) {
              const cl_kernel kernel = s.kernel(kStoring, "k");
              return asked_wrongly(CL_KERNEL_NUM_ARGS,
                                   [&](auto... rest) { return clGetKernelInfo(kernel, rest...); });
            }),
      query("kernels' groups",
            [](const Stage& s) {
              const cl_kernel kernel = s.kernel(kStoring, "k");
              return asked_wrongly(CL_KERNEL_WORK_GROUP_SIZE, [&](auto... rest) {
                return clGetKernelWorkGroupInfo(kernel, s.device, rest...);
              });
            }),
      query("kernels' arguments",
            [](const Stage& s) {
              const cl_kernel kernel = s.kernel(kStoring, "k", "-cl-kernel-arg-info");
              return asked_wrongly(CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                   [&](auto... rest) { return clGetKernelArgInfo(kernel, 0, rest...); });
            }),
      query("an argument that there is none of",
            [](const Stage& s) {
              const cl_kernel kernel = s.kernel(kStoring, "k", "-cl-kernel-arg-info");
              cl_uint value = 0;
              return std::string(Answer().add("query",
                                              clGetKernelArgInfo(kernel, 9, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                                                 sizeof(value), &value, nullptr),
                                              -49));
            }),
      query("events",
            [](const Stage& s) {
              const cl_event event = s.user_event();
              return asked_wrongly(CL_EVENT_COMMAND_EXECUTION_STATUS,
                                   [&](auto... rest) { return clGetEventInfo(event, rest...); });
            }),
  };
}

}  // namespace

std::vector<Question> wrong_objects() {
  std::vector<Question> all{
      {"contexts made wrongly", contexts},    {"queues made wrongly", queues},
      {"buffers made wrongly", buffers},      {"parts made wrongly", parts},
      {"images made wrongly", images},        {"samplers made wrongly", samplers},
      {"sources given wrongly", sources},     {"binaries given wrongly", binaries},
      {"builds asked for wrongly", builds},   {"compilations asked for wrongly", compilations},
      {"links asked for wrongly", links},     {"kernels made wrongly", kernels},
      {"callbacks that are none", callbacks}, {"partitions made wrongly", partitions},
      {"times asked for wrongly", profiles},
  };
  const auto asked = queries();
  all.insert(all.end(), asked.begin(), asked.end());
  return all;
}

}  // namespace fairgv::behaviours
