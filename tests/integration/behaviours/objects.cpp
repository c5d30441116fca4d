// Devices by type, programs, kernels and their arguments, queries.
#include <array>

#include "tests/integration/behaviours/behaviour.hpp"

namespace fairgv::behaviours {
namespace {

constexpr const char* kSource =
    "typedef struct { int a, b; } pair;"
    "kernel void k(global uint* out, uint value, local uint* scratch, pair both, float3 three) {"
    " out[get_global_id(0)] = value + both.a + (uint)three.x; }";

std::string devices_of(const Stage& stage, cl_device_type type) {
  cl_uint count = 77;
  cl_device_id device = nullptr;
  const cl_int listed = clGetDeviceIDs(stage.platform, type, 1, &device, &count);
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(stage.platform), 0};
  cl_int made = CL_SUCCESS;
  clCreateContextFromType(properties, type, nullptr, nullptr, &made);
  Answer answer;
  answer.add("list", listed);
  if (listed == CL_SUCCESS) answer.add("devices", count);
  return answer.add("context", made);
}

std::string argument(const Stage& stage, cl_uint index, std::size_t bytes, bool has_value) {
  const std::array<char, 256> value{};
  const cl_kernel kernel = stage.kernel(kSource, "k");
  return Answer().add("set", clSetKernelArg(kernel, index, bytes, has_value ? value.data() : nullptr));
}

std::string build_for(const Stage& stage, const std::vector<cl_device_id>& devices) {
  const char* source = kSource;
  const cl_program program = clCreateProgramWithSource(stage.context, 1, &source, nullptr, nullptr);
  return Answer().add("build", clBuildProgram(program, static_cast<cl_uint>(devices.size()), devices.data(),
                                              "", nullptr, nullptr));
}

std::string binary_for_the_same_device_twice(const Stage& stage) {
  const cl_program program = stage.build(kSource);
  std::size_t size = 0;
  clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr);
  std::vector<unsigned char> bytes(size);
  unsigned char* place = bytes.data();
  clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(place), &place, nullptr);
  const std::array<cl_device_id, 2> devices{stage.device, stage.device};
  const std::array<std::size_t, 2> sizes{size, size};
  std::array<const unsigned char*, 2> binaries{bytes.data(), bytes.data()};
  std::array<cl_int, 2> statuses{};
  cl_int error = CL_SUCCESS;
  clCreateProgramWithBinary(stage.context, 2, devices.data(), sizes.data(), binaries.data(), statuses.data(),
                            &error);
  return Answer().add("create", error).add("finish", clFinish(stage.queue));
}

std::string queue_with(const Stage& stage, cl_command_queue_properties properties) {
  cl_int error = CL_SUCCESS;
  clCreateCommandQueue(stage.context, stage.device, properties, &error);
  return Answer().add("create", error);
}

std::string sub_groups_with_much_room(const Stage& stage) {
  const cl_kernel kernel = stage.kernel(kSource, "k");
  std::vector<char> room(100'000);
  const std::array<std::size_t, 3> input{64, 1, 1};
  std::size_t size = 0;
  const cl_int error = clGetKernelSubGroupInfo(kernel, stage.device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
                                               sizeof(input), input.data(), room.size(), room.data(), &size);
  return Answer().add("query", error).add("finish", clFinish(stage.queue));
}

}  // namespace

std::vector<Question> objects() {
  std::vector<Question> all;
  const std::pair<const char*, cl_device_type> types[] = {
      {"all", CL_DEVICE_TYPE_ALL},
      {"all 64 bits", ~cl_device_type{0}},
      {"32 bits and one more", 0xFFFFFFFFULL | (1ULL << 40)},
      {"CPU and an unknown bit", CL_DEVICE_TYPE_CPU | (1U << 20)},
      {"CPU and GPU", CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU},
      {"CPU", CL_DEVICE_TYPE_CPU},
      {"GPU", CL_DEVICE_TYPE_GPU},
      {"custom", CL_DEVICE_TYPE_CUSTOM},
      {"default", CL_DEVICE_TYPE_DEFAULT},
      {"default and accelerator", CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_ACCELERATOR},
      {"an unknown bit", 1U << 10},
      {"none", 0},
  };
  for (const auto& [name, type] : types) {
    all.push_back(
        {std::string("devices of type ") + name, [type = type](auto& s) { return devices_of(s, type); }});
  }
  const std::vector<Question> others{
      {"program release callback",
       [](auto& s) {
         const cl_program program = s.build(kSource);
         return Answer().add("set", clSetProgramReleaseCallback(
                                        program, [](cl_program, void*) {}, nullptr));
       }},
      {"build for one device twice",
       [](auto& s) {
         return build_for(s, {s.device, s.device});
       }},
      {"binaries for one device twice", binary_for_the_same_device_twice},
      {"sub-groups with much room for the answer", sub_groups_with_much_room},
      {"queue without order", [](auto& s) { return queue_with(s, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE); }},
      {"queue with times", [](auto& s) { return queue_with(s, CL_QUEUE_PROFILING_ENABLE); }},
      {"queue with times and without order",
       [](auto& s) {
         return queue_with(s, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
       }},
      {"queue with an unknown property", [](auto& s) { return queue_with(s, 1U << 20); }, "create -30"},
      {"argument 9", [](auto& s) { return argument(s, 9, 4, true); }, "set -49"},
      {"buffer of 4 bytes as argument", [](auto& s) { return argument(s, 0, 4, true); }, "set -51"},
      {"value of 8 bytes for 4", [](auto& s) { return argument(s, 1, 8, true); }},
      {"value of 2 bytes for 4", [](auto& s) { return argument(s, 1, 2, true); }},
      {"value of nothing", [](auto& s) { return argument(s, 1, 0, true); }},
      {"value without a pointer", [](auto& s) { return argument(s, 1, 4, false); }, "set -50"},
      {"local memory of nothing", [](auto& s) { return argument(s, 2, 0, false); }},
      {"local memory with a value", [](auto& s) { return argument(s, 2, 4, true); }, "set -50"},
      {"structure of its size", [](auto& s) { return argument(s, 3, 8, true); }},
      {"structure of another size", [](auto& s) { return argument(s, 3, 12, true); }},
      {"three floats in 12 bytes", [](auto& s) { return argument(s, 4, 12, true); }},
      {"three floats in 16 bytes", [](auto& s) { return argument(s, 4, 16, true); }},
  };
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace fairgv::behaviours
