// Arguments of every kind for OpenCL calls: right, null, released, of another kind, or numbers that mean
// nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {

struct AnyArgument : OpenCL {
  static constexpr std::size_t kHostBytes = 1 << 16;
  /// Room for memory that begins anywhere in the first kHostBytes and is as large as allowed.
  static constexpr std::size_t kHostRoom = 8 * kHostBytes;
  static constexpr const char* kSource = R"(
kernel void idle(global uint* a, uint b, local uint* c, read_only image2d_t d, sampler_t e, float4 f) {}
__attribute__((reqd_work_group_size(8, 1, 1))) kernel void sized(global uint* a) {}
kernel void double_it(global uint* a) { a[get_global_id(0)] *= 2; }
)";

  void SetUp() override {
    OpenCL::SetUp();
    if (HasFatalFailure()) return;
    if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1 does not survive it";
    program_ = build(kSource);
    for (const char* name : {"idle", "sized"}) kernels_.push_back(make_kernel(program_, name));
    doubling_ = make_kernel(program_, "double_it");
    for (const cl_command_queue_properties each :
         {cl_command_queue_properties{0}, cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE},
          cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}}) {
      queues_.push_back(make_queue(each));
    }
    make_memory();
    make_dead();
  }

  void make_memory() {
    cl_int error = CL_SUCCESS;
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = description.image_height = 16;
    memory_.push_back(make_buffer(kHostBytes));
    memory_.push_back(make_buffer(4096, CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS));
    const cl_buffer_region region{0, 4096};
    memory_.emplace_back(clCreateSubBuffer(memory_[0], 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
    memory_.emplace_back(clCreateImage(context, 0, &format, &description, nullptr, &error));
    EXPECT_EQ(CL_SUCCESS, error);
    if (device_info<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES) != 0) {
      shared_ = static_cast<std::byte*>(clSVMAlloc(context, CL_MEM_READ_WRITE, kHostRoom, 0));
      memory_.emplace_back(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, kHostBytes, shared_, &error));
      memory_.emplace_back(
          clCreateSubBuffer(memory_.back(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
      EXPECT_EQ(CL_SUCCESS, error);
    }
    sampler_ = SamplerHandle(clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error));
  }

  /// Handles of released objects: the loader still finds its way from them, and no call takes them for alive.
  void make_dead() {
    dead_memory_ = make_buffer(64).get();
    dead_event_ = make_user_event().get();
  }

  void TearDown() override {
    for (const EventHandle& event : open_) clSetUserEventStatus(event, CL_COMPLETE);
    for (const QueueHandle& each : queues_) clFinish(each);
    memory_.clear();
    if (shared_ != nullptr) clSVMFree(context, shared_);
  }

  bool rarely() { return pick(9) == 0; }
  template <class T, std::size_t count>
  T any_of(const T (&values)[count]) {
    return values[pick(count - 1)];
  }
  std::size_t any_size() {
    constexpr std::size_t kSizes[] = {0,         1,
                                      2,         3,
                                      4,         8,
                                      12,        16,
                                      64,        100,
                                      128,       256,
                                      4095,      4096,
                                      4097,      kHostBytes,
                                      SIZE_MAX,  SIZE_MAX / 2 + 1,
                                      1UL << 46, SIZE_MAX - 4095};
    return any_of(kSizes);
  }
  /// A size for memory that the front end or the driver touches without being able to check it.
  std::size_t small_size() { return std::min(any_size(), kHostBytes / 2); }
  cl_ulong any_bits() {
    return rarely() ? random() : std::uint64_t{1} << pick(40) | std::uint64_t{1} << pick(6);
  }
  cl_mem any_memory() {
    if (rarely()) return rarely() ? reinterpret_cast<cl_mem>(sampler_.get()) : nullptr;
    return rarely() ? dead_memory_ : memory_[pick(memory_.size() - 1)].get();
  }
  cl_command_queue any_queue() {
    if (rarely()) return rarely() ? reinterpret_cast<cl_command_queue>(sampler_.get()) : nullptr;
    return queues_[pick(queues_.size() - 1)];
  }
  cl_kernel any_kernel() {
    if (rarely()) return rarely() ? reinterpret_cast<cl_kernel>(context.get()) : nullptr;
    return kernels_[pick(kernels_.size() - 1)];
  }
  cl_event any_event() {
    if (rarely()) return rarely() ? reinterpret_cast<cl_event>(sampler_.get()) : nullptr;
    return rarely() || open_.empty() ? dead_event_ : open_[pick(open_.size() - 1)].get();
  }
  std::byte* any_host() {
    if (shared_ != nullptr && pick(2) == 0) return shared_ + pick(kHostBytes / 2);
    return rarely() ? nullptr : host_.data() + pick(kHostBytes / 2);
  }
  /// Memory that commands write to. No other command reads it: a write from memory that a read is yet to fill
  /// waits for the read (docs/OPENCL.md), and that read may wait for a user event of this test.
  std::byte* any_sink() { return rarely() ? nullptr : sink_.data() + pick(kHostBytes / 2); }
  std::array<std::size_t, 3> any_sizes() { return {any_size(), any_size(), any_size()}; }
  std::array<std::size_t, 3> few() { return {pick(70), pick(9), pick(5)}; }

  /// The arguments with which most commands end.
  struct Tail {
    std::array<cl_event, 3> events{};
    cl_uint count = 0;
    const cl_event* list = nullptr;
    cl_event made = nullptr;
    cl_event* event = nullptr;
  };
  Tail any_tail() {
    Tail tail;
    for (cl_event& event : tail.events) event = any_event();
    tail.count = pick(3) == 0 ? static_cast<cl_uint>(pick(3)) : 0;
    tail.event = pick(1) == 0 ? &tail.made : nullptr;
    return tail;
  }
  template <class Function, class... Arguments>
  cl_int command(const char* name, Function* function, Arguments... arguments) {
    Tail tail = any_tail();
    const bool has_list = tail.count != 0 || rarely();
    const cl_int error =
        function(arguments..., tail.count, has_list ? tail.events.data() : nullptr, tail.event);
    if (tail.made != nullptr) open_.emplace_back(tail.made);
    return note(name, error);
  }
  cl_int note(const char* name, cl_int error) {
    latest_.push_back(std::string(name) + " = " + std::to_string(error));
    if (latest_.size() > 12) latest_.pop_front();
    errors_ += error != CL_SUCCESS ? 1 : 0;
    return error;
  }

  ProgramHandle program_;
  std::vector<KernelHandle> kernels_;
  KernelHandle doubling_;
  std::vector<QueueHandle> queues_;
  std::vector<Buffer> memory_;
  SamplerHandle sampler_;
  cl_mem dead_memory_ = nullptr;
  cl_event dead_event_ = nullptr;
  std::vector<EventHandle> open_;  // of commands and of the user
  std::byte* shared_ = nullptr;
  std::vector<std::byte> host_ = std::vector<std::byte>(kHostRoom);
  std::vector<std::byte> sink_ = std::vector<std::byte>(kHostRoom);
  std::deque<std::string> latest_;
  long errors_ = 0;
};

}  // namespace fairgv::test
