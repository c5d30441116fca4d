// Launches: local sizes, index spaces, local memory, the values that work-items see.
#include <unistd.h>

#include <array>
#include <cstdio>

#include "tests/integration/behaviours/behaviour.hpp"

namespace fairgv::behaviours {
namespace {

using Sizes = std::array<std::size_t, 4>;

constexpr const char* kPlain =
    "kernel void k(global uint* out) { out[get_global_linear_id()] = get_local_size(0); }";
constexpr const char* kOld = "kernel void k(global uint* out) { out[get_global_id(0)] = get_local_size(0); }";
constexpr const char* kRequired =
    "__attribute__((reqd_work_group_size(8, 1, 1))) kernel void k(global uint* out) {"
    " out[get_global_id(0)] = get_local_size(0); }";
constexpr const char* kLocal =
    "kernel void k(global uint* out, local uint* scratch) { scratch[get_local_id(0)] = get_global_id(0);"
    " barrier(CLK_LOCAL_MEM_FENCE); out[get_global_id(0)] = scratch[get_local_id(0)] + get_local_size(0); }";

constexpr std::size_t kItems = 1 << 16;

struct Launch {
  cl_uint dimensions = 1;
  Sizes global{64, 1, 1, 1};
  Sizes local{};
  bool has_local = false;
  bool has_global = true;
  Sizes offset{};
  bool has_offset = false;
};

/// The launch's own answer, its end, and the values that its work-items saw; twice, because answers are
/// remembered.
std::string run(const Stage& stage, cl_kernel kernel, const Launch& launch) {
  std::vector<cl_uint> seen(kItems, 99);
  const cl_mem out = stage.buffer(kItems * sizeof(cl_uint));
  clSetKernelArg(kernel, 0, sizeof(out), &out);
  Answer answer;
  for (const char* which : {"launch", "again"}) {
    cl_event event = nullptr;
    const cl_int error = clEnqueueNDRangeKernel(
        stage.queue, kernel, launch.dimensions, launch.has_offset ? launch.offset.data() : nullptr,
        launch.has_global ? launch.global.data() : nullptr, launch.has_local ? launch.local.data() : nullptr,
        0, nullptr, &event);
    answer.add(which, error);
    if (error != CL_SUCCESS) continue;
    clFinish(stage.queue);
    answer.add("end", end_of(event));
  }
  return answer;
}

std::string run_sized(const Stage& stage, cl_kernel kernel, std::size_t global, std::size_t local) {
  return run(stage, kernel, {.global = {global, 1, 1, 1}, .local = {local, 1, 1, 1}, .has_local = true});
}

std::string local_size_of_required(const Stage& stage, std::size_t global) {
  const cl_kernel kernel = stage.kernel(kRequired, "k");
  const cl_mem out = stage.buffer(kItems * sizeof(cl_uint));
  clSetKernelArg(kernel, 0, sizeof(out), &out);
  const cl_int error =
      clEnqueueNDRangeKernel(stage.queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr);
  cl_uint seen = 0;
  if (error == CL_SUCCESS)
    clEnqueueReadBuffer(stage.queue, out, CL_TRUE, 20, sizeof(seen), &seen, 0, nullptr, nullptr);
  return Answer().add("launch", error).add("local size", seen);
}

/// A group `times` times as large as the kernel allows.
std::string group_beyond(const Stage& stage, std::size_t times) {
  const cl_kernel kernel = stage.kernel(kOld, "k");
  std::size_t most = 0;
  clGetKernelWorkGroupInfo(kernel, stage.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, nullptr);
  return run_sized(stage, kernel, most * times, most * times);
}

std::string with_local_memory(const Stage& stage, std::size_t part, std::size_t of, long long more) {
  const cl_kernel kernel = stage.kernel(kLocal, "k");
  const auto all = static_cast<long long>(stage.device_info<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE));
  const auto bytes =
      static_cast<std::size_t>(all * static_cast<long long>(part) / static_cast<long long>(of) + more);
  const cl_int set = clSetKernelArg(kernel, 1, bytes, nullptr);
  return std::string(Answer().add("argument", set)) + ", " + run_sized(stage, kernel, 64, 16);
}

/// A kernel with this much local memory of its own, and none from its arguments.
std::string with_own_local_memory(const Stage& stage, std::size_t part, std::size_t of) {
  const std::size_t bytes = stage.device_info<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE) * part / of;
  const std::string options = "-DWORDS=" + std::to_string(bytes / sizeof(cl_uint));
  const cl_kernel kernel = stage.kernel(
      "kernel void k(global uint* out) { local uint scratch[WORDS];"
      " for (uint i = get_local_id(0); i < WORDS; i += get_local_size(0)) scratch[i] = i;"
      " barrier(CLK_LOCAL_MEM_FENCE);"
      " out[get_global_id(0)] = scratch[(get_global_id(0) * 7) % WORDS]; }",
      "k", options.c_str());
  return run_sized(stage, kernel, 64, 16);
}

/// The answers that work-items get for dimensions 0 to 4. The launch has more groups than a part of a launch.
std::string work_item_functions(const Stage& stage, cl_uint dimensions) {
  const cl_kernel kernel = stage.kernel(
      "kernel void k(global ulong* out) {"
      "  if (get_global_id(0) != 5 || get_global_id(1) != get_global_offset(1)) return;"
      "  if (get_global_id(2) != get_global_offset(2)) return;"
      "  for (uint d = 0; d < 5; ++d) {"
      "    out[d * 8] = get_global_id(d); out[d * 8 + 1] = get_local_id(d); out[d * 8 + 2] = get_group_id(d);"
      "    out[d * 8 + 3] = get_num_groups(d); out[d * 8 + 4] = get_global_size(d);"
      "    out[d * 8 + 5] = get_local_size(d); out[d * 8 + 6] = get_global_offset(d);"
      "  }"
      "  out[7] = get_work_dim();"
      "}",
      "k");
  std::array<cl_ulong, 40> seen{};
  const cl_mem out = stage.buffer(sizeof(seen), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, seen.data());
  clSetKernelArg(kernel, 0, sizeof(out), &out);
  const Sizes global{16 * 4001, 2, 2, 1};
  const Sizes local{16, 1, 2, 1};
  clEnqueueNDRangeKernel(stage.queue, kernel, dimensions, nullptr, global.data(), local.data(), 0, nullptr,
                         nullptr);
  clEnqueueReadBuffer(stage.queue, out, CL_TRUE, 0, sizeof(seen), seen.data(), 0, nullptr, nullptr);
  std::string text;
  for (const cl_ulong value : seen) text += std::to_string(value) + " ";
  return text;
}

/// The output of this process when the wait for a kernel that prints returns.
std::string printed(const Stage& stage, const char* source) {
  const cl_kernel kernel = stage.kernel(source, "k");
  std::FILE* const file = std::tmpfile();
  const int before = ::dup(STDOUT_FILENO);
  std::fflush(stdout);
  ::dup2(::fileno(file), STDOUT_FILENO);
  const std::size_t one = 1;
  const cl_int launched =
      clEnqueueNDRangeKernel(stage.queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr);
  const cl_int finished = clFinish(stage.queue);
  std::fflush(stdout);  // a driver in this process prints as any code of the process does
  ::dup2(before, STDOUT_FILENO);
  char text[256] = {};
  std::rewind(file);
  const std::size_t bytes = std::fread(text, 1, sizeof(text) - 1, file);
  return std::string(Answer().add("launch", launched).add("finish", finished)) + ", printed '" +
         std::string(text, bytes) + "'";
}

}  // namespace

std::vector<Question> launches() {
  return {
      {"printf without the end of a line",
       [](const Stage& stage) {
         return printed(stage, "kernel void k() { printf(\"%d and no more\", 42); }");
       }},
      {"required size, no local size", [](auto& s) { return local_size_of_required(s, 64); }},
      {"required size, no local size, uneven", [](auto& s) { return local_size_of_required(s, 60); }},
      {"required size, the same", [](auto& s) { return run_sized(s, s.kernel(kRequired, "k"), 64, 8); }},
      {"required size, another", [](auto& s) { return run_sized(s, s.kernel(kRequired, "k"), 64, 16); }},
      {"required size, the same, uneven",
       [](auto& s) { return run_sized(s, s.kernel(kRequired, "k"), 60, 8); }},
      {"group of 256", [](auto& s) { return run_sized(s, s.kernel(kOld, "k"), 1024, 256); }},
      {"group as large as the kernel may have", [](auto& s) { return group_beyond(s, 1); }},
      {"group twice as large", [](auto& s) { return group_beyond(s, 2); }},
      {"group 64 times as large", [](auto& s) { return group_beyond(s, 64); }},
      {"group larger than a dimension",
       [](auto& s) {
         const auto most = s.template device_info<std::array<std::size_t, 3>>(CL_DEVICE_MAX_WORK_ITEM_SIZES);
         return run(s, s.kernel(kOld, "k"),
                    {.dimensions = 3,
                     .global = {1, 1, most[2] * 2, 1},
                     .local = {1, 1, most[2] * 2, 1},
                     .has_local = true});
       }},
      {"uneven groups, OpenCL C 1.2",
       [](auto& s) { return run_sized(s, s.kernel(kOld, "k", "-cl-std=CL1.2"), 60, 16); }},
      {"uneven groups, OpenCL C 2.0",
       [](auto& s) { return run_sized(s, s.kernel(kPlain, "k", "-cl-std=CL2.0"), 60, 16); }},
      {"uneven groups, uniform promised",
       [](auto& s) {
         return run_sized(s, s.kernel(kPlain, "k", "-cl-std=CL2.0 -cl-uniform-work-group-size"), 60, 16);
       }},
      {"local size 0", [](auto& s) { return run_sized(s, s.kernel(kOld, "k"), 64, 0); }},
      {"no work-items",
       [](auto& s) {
         return run(s, s.kernel(kOld, "k"), {.global = {0, 0, 0, 0}});
       }},
      {"no work-items, with a local size", [](auto& s) { return run_sized(s, s.kernel(kOld, "k"), 0, 8); }},
      {"no global size", [](auto& s) { return run(s, s.kernel(kOld, "k"), {.has_global = false}); }},
      {"no dimensions", [](auto& s) { return run(s, s.kernel(kOld, "k"), {.dimensions = 0}); },
       "launch -53, again -53"},
      {"four dimensions", [](auto& s) { return run(s, s.kernel(kOld, "k"), {.dimensions = 4}); },
       "launch -53, again -53"},
      {"argument never set",
       [](auto& s) {
         const std::size_t items = 64;
         return Answer().add("launch", clEnqueueNDRangeKernel(s.queue, s.kernel(kOld, "k"), 1, nullptr,
                                                              &items, nullptr, 0, nullptr, nullptr));
       },
       "launch -52"},
      {"half of the local memory", [](auto& s) { return with_local_memory(s, 1, 2, 0); }},
      {"all local memory but a byte", [](auto& s) { return with_local_memory(s, 1, 1, -1); }},
      {"all local memory", [](auto& s) { return with_local_memory(s, 1, 1, 0); }},
      {"twice the local memory", [](auto& s) { return with_local_memory(s, 2, 1, 0); }},
      {"64 times the local memory", [](auto& s) { return with_local_memory(s, 64, 1, 0); }},
      {"half of the local memory, the kernel's own", [](auto& s) { return with_own_local_memory(s, 1, 2); }},
      {"twice the local memory, the kernel's own", [](auto& s) { return with_own_local_memory(s, 2, 1); }},
      {"work-item functions in 1 dimension", [](auto& s) { return work_item_functions(s, 1); }},
      {"work-item functions in 2 dimensions", [](auto& s) { return work_item_functions(s, 2); }},
      {"work-item functions in 3 dimensions", [](auto& s) { return work_item_functions(s, 3); }},
  };
}

}  // namespace fairgv::behaviours
