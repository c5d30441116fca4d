// Wrong arguments of every kind: whatever a program says by calling OpenCL ends in an error code, and the
// next right call works.
//
// Entry points are called at random with handles that are right, null, released or of another kind, and with
// sizes, flags and lists that mean nothing. The kernel touches no memory, so that nothing can be the fault of
// what it computes. Not on the bare driver: PoCL 3.1 ends in the middle of it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <deque>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

constexpr std::size_t kHostBytes = 1 << 16;
constexpr std::size_t kHostRoom =
    8 * kHostBytes;  // for what begins somewhere in it and is as large as may be
constexpr int kCallsPerRound = 400;

constexpr const char* kWrongSource = R"(
kernel void idle(global uint* a, uint b, local uint* c, read_only image2d_t d, sampler_t e, float4 f) {}
__attribute__((reqd_work_group_size(8, 1, 1))) kernel void sized(global uint* a) {}
kernel void double_it(global uint* a) { a[get_global_id(0)] *= 2; }
)";

std::chrono::seconds how_long() {
  const char* const seconds = std::getenv("FAIRGV_TORTURE_SECONDS");
  return std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 5);
}

struct WrongArguments : OpenCL {
  void SetUp() override {
    OpenCL::SetUp();
    if (HasFatalFailure()) return;
    if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1 does not survive it";
    program_ = build(kWrongSource);
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

  /// Handles of what is gone: the loader still finds its way from them, and nobody takes them for alive.
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

  // ---- arguments

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
  /// For what the front end or the driver touches without being able to check.
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
  /// For what commands read. Not what others write from: a write of memory that a read is yet to fill waits for
  /// the read (docs/OPENCL.md), and that may wait for an event of ours.
  std::byte* any_sink() {
    return rarely() ? nullptr : sink_.data() + pick(kHostBytes / 2);
  }
  std::array<std::size_t, 3> any_sizes() { return {any_size(), any_size(), any_size()}; }
  std::array<std::size_t, 3> few() { return {pick(70), pick(9), pick(5)}; }

  /// What most commands end with.
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

  // ---- calls

  void call_something() {
    switch (pick(9)) {
      case 0:
        return transfer();
      case 1:
        return copy_or_fill();
      case 2:
        return launch();
      case 3:
        return set_argument();
      case 4:
        return make_part();
      case 5:
        return ask();
      case 6:
        return share();
      case 7:
        return synchronise();
      case 8:
        return make_object();
      default:
        return use_image();
    }
  }

  void transfer() {
    const auto origin = any_sizes(), host_origin = few(), region = rarely() ? any_sizes() : few();
    switch (pick(3)) {
      case 0:
        command("clEnqueueReadBuffer", clEnqueueReadBuffer, any_queue(), any_memory(), cl_bool{CL_FALSE},
                any_size(), any_size(), static_cast<void*>(any_sink()));
        return;
      case 1:
        command("clEnqueueWriteBuffer", clEnqueueWriteBuffer, any_queue(), any_memory(), cl_bool{CL_FALSE},
                any_size(), any_size(), static_cast<const void*>(any_host()));
        return;
      case 2:
        command("clEnqueueReadBufferRect", clEnqueueReadBufferRect, any_queue(), any_memory(),
                cl_bool{CL_FALSE}, origin.data(), host_origin.data(), region.data(), any_size(), any_size(),
                std::size_t{0}, std::size_t{0}, static_cast<void*>(any_sink()));
        return;
      default:
        command("clEnqueueWriteBufferRect", clEnqueueWriteBufferRect, any_queue(), any_memory(),
                cl_bool{CL_FALSE}, host_origin.data(), host_origin.data(), region.data(), any_size(),
                any_size(), std::size_t{0}, std::size_t{0}, static_cast<const void*>(any_host()));
    }
  }

  // No rectangles: PoCL 3.1 ends in copies of right ones within a buffer.
  void copy_or_fill() {
    switch (pick(1)) {
      case 0:
        command("clEnqueueCopyBuffer", clEnqueueCopyBuffer, any_queue(), any_memory(), any_memory(),
                any_size(), any_size(), any_size());
        return;
      default:
        command("clEnqueueFillBuffer", clEnqueueFillBuffer, any_queue(), any_memory(),
                static_cast<const void*>(rarely() ? nullptr : host_.data()), small_size() % 300, any_size(),
                any_size());
    }
  }

  void use_image() {
    const auto origin = few(), region = rarely() ? any_sizes() : few();
    switch (pick(2)) {
      case 0:
        command("clEnqueueReadImage", clEnqueueReadImage, any_queue(), any_memory(), cl_bool{CL_FALSE},
                origin.data(), region.data(), std::size_t{0}, std::size_t{0}, static_cast<void*>(any_sink()));
        return;
      case 1:
        command("clEnqueueWriteImage", clEnqueueWriteImage, any_queue(), any_memory(), cl_bool{CL_FALSE},
                origin.data(), region.data(), std::size_t{0}, std::size_t{0},
                static_cast<const void*>(any_host()));
        return;
      default:
        command("clEnqueueFillImage", clEnqueueFillImage, any_queue(), any_memory(),
                static_cast<const void*>(host_.data()), origin.data(), region.data());
    }
  }

  void launch() {
    const auto offset = any_sizes(), local = pick(1) == 0 ? any_sizes() : few(), global = few();
    command("clEnqueueNDRangeKernel", clEnqueueNDRangeKernel, any_queue(), any_kernel(),
            static_cast<cl_uint>(pick(4)), rarely() ? offset.data() : nullptr,
            rarely() ? nullptr : global.data(), pick(2) == 0 ? nullptr : local.data());
  }

  void set_argument() {
    const cl_mem memory = any_memory();
    const cl_sampler sampler = sampler_;
    const void* value = any_host();
    std::size_t bytes = any_size();
    if (pick(2) == 0) {
      value = &memory;
      bytes = sizeof(memory);
    } else if (rarely()) {
      value = &sampler;
      bytes = sizeof(sampler);
    }
    if (pick(4) == 0) {
      note("clSetKernelArgSVMPointer",
           clSetKernelArgSVMPointer(any_kernel(), static_cast<cl_uint>(pick(8)), any_host()));
    } else {
      note("clSetKernelArg", clSetKernelArg(any_kernel(), static_cast<cl_uint>(pick(8)), bytes, value));
    }
  }

  void make_part() {
    cl_int error = CL_SUCCESS;
    const cl_buffer_region region{any_size(), any_size()};
    const Buffer part(clCreateSubBuffer(any_memory(), rarely() ? any_bits() : 0,
                                        rarely() ? 17 : CL_BUFFER_CREATE_TYPE_REGION,
                                        rarely() ? nullptr : &region, &error));
    note("clCreateSubBuffer", error);
    if (part == nullptr) return;
    const cl_uint pattern = 3;
    command("clEnqueueFillBuffer", clEnqueueFillBuffer, any_queue(), part.get(),
            static_cast<const void*>(&pattern), std::size_t{4}, std::size_t{0}, any_size());
    const Buffer deeper(clCreateSubBuffer(part, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
    note("clCreateSubBuffer of a part", error);
  }

  void ask() {
    std::vector<char> room(kHostBytes);
    std::size_t size = 0;
    const std::size_t offered = small_size();
    const auto param = static_cast<cl_uint>(0x1000 + pick(0x200));
    const std::array<std::size_t, 3> input{64, 1, 1};
    switch (pick(6)) {
      case 0:
        note("clGetMemObjectInfo", clGetMemObjectInfo(any_memory(), param, offered, room.data(), &size));
        return;
      case 1:
        note("clGetKernelWorkGroupInfo", clGetKernelWorkGroupInfo(any_kernel(), rarely() ? nullptr : device,
                                                                  param, offered, room.data(), &size));
        return;
      case 2:
        note("clGetKernelSubGroupInfo",
             clGetKernelSubGroupInfo(any_kernel(), device, static_cast<cl_uint>(0x2033 + pick(4)),
                                     rarely() ? 8 : 24, input.data(), offered, room.data(), &size));
        return;
      case 3:
        note("clGetDeviceIDs", clGetDeviceIDs(platform, any_bits(), 0, nullptr, nullptr));
        return;
      case 4: {
        cl_uint count = 0;
        note("clGetDeviceIDs", clGetDeviceIDs(platform, any_bits(), 0, nullptr, &count));
        return;
      }
      case 5:
        note("clGetEventInfo", clGetEventInfo(any_event(), param, offered, room.data(), &size));
        return;
      default:
        note("clGetKernelArgInfo", clGetKernelArgInfo(any_kernel(), static_cast<cl_uint>(pick(9)), param,
                                                      offered, room.data(), &size));
    }
  }

  void share() {
    if (shared_ == nullptr) return;
    std::byte* const place = shared_ + pick(kHostBytes - 1);
    switch (pick(3)) {
      case 0:
        command("clEnqueueSVMMemFill", clEnqueueSVMMemFill, any_queue(), static_cast<void*>(place),
                static_cast<const void*>(host_.data()), small_size() % 300, any_size());
        return;
      case 1:
        command("clEnqueueSVMMemcpy", clEnqueueSVMMemcpy, any_queue(), cl_bool{CL_FALSE},
                static_cast<void*>(place), static_cast<const void*>(shared_ + pick(kHostBytes - 1)),
                any_size());
        return;
      case 2:
        command("clEnqueueSVMMap", clEnqueueSVMMap, any_queue(), cl_bool{CL_FALSE}, cl_map_flags{any_bits()},
                static_cast<void*>(place), any_size());
        return;
      default: {
        void* const made = clSVMAlloc(context, any_bits(), any_size(), static_cast<cl_uint>(small_size()));
        note("clSVMAlloc", made == nullptr ? CL_INVALID_VALUE : CL_SUCCESS);
        clSVMFree(context, made);
      }
    }
  }

  void synchronise() {
    switch (pick(4)) {
      case 0:
        command("clEnqueueMarkerWithWaitList", clEnqueueMarkerWithWaitList, any_queue());
        return;
      case 1:
        command("clEnqueueBarrierWithWaitList", clEnqueueBarrierWithWaitList, any_queue());
        return;
      case 2:
        open_.push_back(make_user_event());
        return;
      case 3:
        note("clSetUserEventStatus", clSetUserEventStatus(any_event(), static_cast<cl_int>(pick(9)) - 6));
        return;
      default:
        note("clSetEventCallback",
             clSetEventCallback(
                 any_event(), static_cast<cl_int>(pick(5)) - 1, [](cl_event, cl_int, void*) {}, nullptr));
    }
  }

  void make_object() {
    cl_int error = CL_SUCCESS;
    const cl_device_id twice[] = {device, device};
    switch (pick(4)) {
      case 0: {
        const bool has_host = pick(1) == 0;
        const Buffer made(clCreateBuffer(context, any_bits() % 1024, small_size(),
                                         has_host ? host_.data() : nullptr, &error));
        break;
      }
      case 1: {
        const Buffer made(clCreateBuffer(context, 0, any_size(), nullptr, &error));
        break;
      }
      case 2: {
        const QueueHandle made(clCreateCommandQueue(context, device, any_bits(), &error));
        break;
      }
      case 3: {
        const cl_image_format format{static_cast<cl_uint>(CL_R + pick(15)),
                                     static_cast<cl_uint>(CL_SNORM_INT8 + pick(16))};
        cl_image_desc description{};
        description.image_type = static_cast<cl_uint>(CL_MEM_OBJECT_BUFFER + pick(8));
        description.image_width = pick(40);
        description.image_height = pick(40);
        description.image_depth = pick(4);
        description.image_array_size = pick(4);
        description.image_row_pitch = rarely() ? small_size() : 0;
        description.buffer = rarely() ? any_memory() : nullptr;
        const Buffer made(clCreateImage(context, any_bits() % 64, &format, &description, nullptr, &error));
        break;
      }
      default: {
        const ContextHandle made(clCreateContext(nullptr, 0, twice, nullptr, nullptr, &error));
      }
    }
    note("making an object", error);
  }

  /// Ends what is open, and shows that right calls work.
  void check() {
    for (const EventHandle& event : open_) clSetUserEventStatus(event, CL_COMPLETE);
    for (const QueueHandle& each : queues_)
      ASSERT_EQ(CL_SUCCESS, clFinish(each)) << testing::PrintToString(latest_);
    open_.clear();
    const std::vector<cl_uint> values{1, 2, 3, 4};
    std::vector<cl_uint> seen(values.size());
    const std::size_t bytes = values.size() * sizeof(cl_uint), count = values.size();
    const Buffer buffer = make_buffer(bytes);
    const cl_mem argument = buffer;
    ASSERT_EQ(CL_SUCCESS, clSetKernelArg(doubling_, 0, sizeof(argument), &argument));
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueNDRangeKernel(queue, doubling_, 1, nullptr, &count, nullptr, 0, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, seen.data(), 0, nullptr, nullptr))
        << testing::PrintToString(latest_);
    ASSERT_EQ((std::vector<cl_uint>{2, 4, 6, 8}), seen) << testing::PrintToString(latest_);
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

TEST_F(WrongArguments, OfEveryKindEndInErrorsAndLeaveTheSessionAsItWas) {
  const auto end = std::chrono::steady_clock::now() + how_long();
  while (std::chrono::steady_clock::now() < end && !HasFatalFailure()) {
    for (int i = 0; i < kCallsPerRound; ++i) call_something();
    check();
  }
  EXPECT_GT(errors_, 0);
}

}  // namespace
}  // namespace fairgv::test
