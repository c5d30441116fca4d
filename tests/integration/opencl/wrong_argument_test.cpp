// Wrong arguments of every kind: any call of OpenCL by a program ends in an error code, and the next right
// call works.
//
// The test calls entry points at random with any_argument.hpp's handles, sizes, flags and lists. The kernel
// touches no memory, so that its computation can cause no failure. Not on the bare driver: PoCL 3.1 ends in
// the middle of the test.
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/integration/opencl/any_argument.hpp"

namespace fairgv::test {
namespace {

constexpr int kCallsPerRound = 400;

std::chrono::seconds how_long() {
  const char* const seconds = std::getenv("FAIRGV_TORTURE_SECONDS");
  return std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 5);
}

struct WrongArguments : AnyArgument {
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

  // No rectangles: PoCL 3.1 ends in copies of valid rectangles within a buffer.
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

  /// Ends the open events, and shows that right calls work.
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
};

TEST_F(WrongArguments, EndInErrorsAndRightCallsStillWork) {
  const auto end = std::chrono::steady_clock::now() + how_long();
  while (std::chrono::steady_clock::now() < end && !HasFatalFailure()) {
    for (int i = 0; i < kCallsPerRound; ++i) call_something();
    check();
  }
  EXPECT_GT(errors_, 0);
}

}  // namespace
}  // namespace fairgv::test
