// Memory that the program has released is free for its next allocation, although commands may still use it,
// and however the program waits, or without a wait.
#include <atomic>
#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <thread>

#include "tests/harness/sanitized.hpp"
#include "tests/integration/opencl/memory/release_fixture.hpp"

namespace fairgv::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Use {
  const char* name;
  /// Allocates `bytes`, enqueues a command that uses the memory, and releases it. Returns the error of the
  /// allocation.
  cl_int (*round)(Release& test, std::uint64_t bytes, cl_uint number);
};

void PrintTo(const Use& use, std::ostream* out) {
  *out << use.name;
}

struct ReleaseAfterEachUse : Release, testing::WithParamInterface<Use> {
  static cl_int fill_buffer(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int launch_on_buffer(Release& test, std::uint64_t bytes, cl_uint number);
  static cl_int copy_within(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int write_and_read(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int launch_on_image(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int free_shared_memory(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int free_shared_memory_in_turn(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int release_while_mapped(Release& test, std::uint64_t bytes, cl_uint);

 private:
  static ReleaseAfterEachUse& of(Release& test) { return static_cast<ReleaseAfterEachUse&>(test); }
};

cl_int ReleaseAfterEachUse::fill_buffer(Release& test, std::uint64_t bytes, cl_uint) {
  cl_int error = CL_SUCCESS;
  const cl_mem made = of(test).buffer_of(bytes, error);
  if (error != CL_SUCCESS) return error;
  of(test).fill(of(test).queue, made, bytes);
  clReleaseMemObject(made);
  return error;
}

cl_int ReleaseAfterEachUse::launch_on_buffer(Release& test, std::uint64_t bytes, cl_uint number) {
  cl_int error = CL_SUCCESS;
  const cl_mem made = of(test).buffer_of(bytes, error);
  if (error != CL_SUCCESS) return error;
  of(test).spin(of(test).queue, made, 100'000 + number);
  clReleaseMemObject(made);
  return error;
}

cl_int ReleaseAfterEachUse::copy_within(Release& test, std::uint64_t bytes, cl_uint) {
  cl_int error = CL_SUCCESS;
  const cl_mem made = of(test).buffer_of(bytes, error);
  if (error != CL_SUCCESS) return error;
  EXPECT_EQ(CL_SUCCESS,
            clEnqueueCopyBuffer(of(test).queue, made, made, 0, bytes / 2, bytes / 2, 0, nullptr, nullptr));
  clReleaseMemObject(made);
  return error;
}

cl_int ReleaseAfterEachUse::write_and_read(Release& test, std::uint64_t bytes, cl_uint) {
  static Bytes host(std::size_t{1} << 20);
  cl_int error = CL_SUCCESS;
  const cl_mem made = of(test).buffer_of(bytes, error);
  if (error != CL_SUCCESS) return error;
  of(test).spin(of(test).queue, made, 50'000);
  EXPECT_EQ(CL_SUCCESS, clEnqueueWriteBuffer(of(test).queue, made, CL_FALSE, 0, host.size(), host.data(), 0,
                                             nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, clEnqueueReadBuffer(of(test).queue, made, CL_FALSE, 0, host.size(), host.data(), 0,
                                            nullptr, nullptr));
  clReleaseMemObject(made);
  return error;
}

cl_int ReleaseAfterEachUse::launch_on_image(Release& test, std::uint64_t bytes, cl_uint) {
  cl_int error = CL_SUCCESS;
  const cl_mem made = of(test).image_of(bytes, error);
  if (error != CL_SUCCESS) return error;
  const KernelHandle kernel = of(test).make_kernel(of(test).program, "shade");
  EXPECT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(made), &made));
  const std::size_t global[] = {1024, bytes / 4096};
  EXPECT_EQ(CL_SUCCESS,
            clEnqueueNDRangeKernel(of(test).queue, kernel, 2, nullptr, global, nullptr, 0, nullptr, nullptr));
  clReleaseMemObject(made);
  return error;
}

cl_int ReleaseAfterEachUse::free_shared_memory(Release& test, std::uint64_t bytes, cl_uint) {
  void* const made = clSVMAlloc(of(test).context, CL_MEM_READ_WRITE, bytes, 0);
  if (made == nullptr) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  // A program has to wait before it frees memory (OpenCL 3.0, clSVMFree): here, for one command of two.
  const cl_uint pattern = 3;
  EventHandle filled;
  EXPECT_EQ(CL_SUCCESS, clEnqueueSVMMemFill(of(test).queue, made, &pattern, sizeof(pattern), bytes, 0,
                                            nullptr, filled.out()));
  const cl_event wait = filled;
  EXPECT_EQ(CL_SUCCESS, clWaitForEvents(1, &wait));
  clSVMFree(of(test).context, made);
  return CL_SUCCESS;
}

cl_int ReleaseAfterEachUse::free_shared_memory_in_turn(Release& test, std::uint64_t bytes, cl_uint) {
  void* made = clSVMAlloc(of(test).context, CL_MEM_READ_WRITE, bytes, 0);
  if (made == nullptr) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  const cl_uint pattern = 3;
  EXPECT_EQ(CL_SUCCESS,
            clEnqueueSVMMemFill(of(test).queue, made, &pattern, sizeof(pattern), bytes, 0, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, clEnqueueSVMFree(of(test).queue, 1, &made, nullptr, nullptr, 0, nullptr, nullptr));
  return CL_SUCCESS;
}

cl_int ReleaseAfterEachUse::release_while_mapped(Release& test, std::uint64_t bytes, cl_uint) {
  cl_int error = CL_SUCCESS;
  const cl_mem made = of(test).buffer_of(bytes, error);
  if (error != CL_SUCCESS) return error;
  of(test).spin(of(test).queue, made, 50'000);
  void* const mapped =
      clEnqueueMapBuffer(of(test).queue, made, CL_TRUE, CL_MAP_WRITE, 0, 4096, 0, nullptr, nullptr, &error);
  EXPECT_EQ(error, CL_SUCCESS);
  of(test).fill(of(test).queue, made, bytes);
  EXPECT_EQ(CL_SUCCESS, clEnqueueUnmapMemObject(of(test).queue, made, mapped, 0, nullptr, nullptr));
  clReleaseMemObject(made);
  return CL_SUCCESS;
}

TEST_P(ReleaseAfterEachUse, MakesRoomForTheNextAllocation) {
  if (std::string(GetParam().name).starts_with("SharedMemory") &&
      device_info<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES) == 0) {
    GTEST_SKIP() << "the device has none";
  }
  constexpr std::uint64_t kPage = 4096;
  for (const unsigned part : {1U, 3U, 16U}) {
    const std::uint64_t bytes = limit * 7 / 8 / part / kPage * kPage;
    const cl_uint rounds = harness::kSanitized ? part + 4 : 20;  // more than fit
    for (cl_uint round = 0; round < rounds; ++round) {
      ASSERT_EQ(CL_SUCCESS, GetParam().round(*this, bytes, round))
          << "round " << round << " of 1/" << part << " of the limit";
    }
  }
  EXPECT_EQ(clFinish(queue), CL_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Uses, ReleaseAfterEachUse,
                         testing::Values(Use{"Fill", ReleaseAfterEachUse::fill_buffer},
                                         Use{"Launch", ReleaseAfterEachUse::launch_on_buffer},
                                         Use{"Copy", ReleaseAfterEachUse::copy_within},
                                         Use{"WriteAndRead", ReleaseAfterEachUse::write_and_read},
                                         Use{"Image", ReleaseAfterEachUse::launch_on_image},
                                         Use{"SharedMemory", ReleaseAfterEachUse::free_shared_memory},
                                         Use{"SharedMemoryInTurn",
                                             ReleaseAfterEachUse::free_shared_memory_in_turn},
                                         Use{"Map", ReleaseAfterEachUse::release_while_mapped}),
                         [](const auto& test) { return std::string(test.param.name); });

struct Wait {
  const char* name;
  void (*wait)(cl_command_queue queue, cl_event event);
};

void PrintTo(const Wait& wait, std::ostream* out) {
  *out << wait.name;
}

void wait_by_callback(cl_command_queue, cl_event event) {
  std::atomic<bool> called{false};
  ASSERT_EQ(
      CL_SUCCESS,
      clSetEventCallback(
          event, CL_COMPLETE,
          [](cl_event, cl_int, void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &called));
  while (!called.load()) std::this_thread::yield();
}

struct ReleaseBeforeEachWait : Release, testing::WithParamInterface<Wait> {};

TEST_P(ReleaseBeforeEachWait, MakesRoomForTheNextAllocation) {
  const std::uint64_t bytes = limit * 7 / 8;
  for (cl_uint round = 0; round < 15; ++round) {
    cl_int error = CL_SUCCESS;
    const cl_mem made = buffer_of(bytes, error);
    ASSERT_EQ(error, CL_SUCCESS) << "round " << round;
    EventHandle event;
    spin(queue, made, 20'000 + round, event.out());
    clFlush(queue);
    clReleaseMemObject(made);
    GetParam().wait(queue, event);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Waits, ReleaseBeforeEachWait,
    testing::Values(Wait{"Finish", [](cl_command_queue queue, cl_event) { clFinish(queue); }},
                    Wait{"Event", [](cl_command_queue, cl_event event) { clWaitForEvents(1, &event); }},
                    Wait{"Status",
                         [](cl_command_queue, cl_event event) {
                           while (status_of(event) > CL_COMPLETE) std::this_thread::yield();
                         }},
                    Wait{"Callback", wait_by_callback}),
    [](const auto& test) { return std::string(test.param.name); });

/// How long a refusal takes, in seconds.
double refusal(const std::function<cl_int()>& allocate) {
  const auto from = Clock::now();
  EXPECT_EQ(allocate(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  return std::chrono::duration<double>(Clock::now() - from).count();
}

constexpr double kAtOnce = 1;  // seconds; no command here ends by itself

TEST_F(Release, OfMemoryThatAUserEventHoldsMakesRoomOnlyOnceTheEventIsSet) {
  const std::uint64_t bytes = limit * 7 / 8;
  const EventHandle gate = make_user_event();
  const cl_event wait = gate;
  cl_int error = CL_SUCCESS;
  cl_mem held = buffer_of(bytes, error);
  ASSERT_EQ(error, CL_SUCCESS);
  const cl_uint pattern = 1;
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueFillBuffer(queue, held, &pattern, sizeof(pattern), 0, bytes, 1, &wait, nullptr));
  clReleaseMemObject(held);
  clFlush(queue);
  const auto allocate = [&] {
    cl_int outcome = CL_SUCCESS;
    if (const cl_mem made = buffer_of(bytes, outcome)) clReleaseMemObject(made);
    return outcome;
  };
  EXPECT_LT(refusal(allocate), kAtOnce);
  // Behind the command in the same queue, and across queues.
  const QueueHandle other = make_queue();
  EXPECT_LT(refusal(allocate), kAtOnce);
  EXPECT_EQ(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(allocate(), CL_SUCCESS);
}

TEST_F(Release, MustComeBeforeMemoryThatTheProgramHoldsCanBeAllocatedAgain) {
  const Buffer held = make_buffer(limit * 7 / 8);
  ASSERT_NE(held.get(), nullptr);
  EXPECT_LT(refusal([&] {
              cl_int error = CL_SUCCESS;
              buffer_of(limit / 4, error);
              return error;
            }),
            kAtOnce);
}

/// Another command that runs meanwhile makes no difference.
TEST_F(Release, ThatCannotGiveEnoughIsNotWaitedFor) {
  const Buffer held = make_buffer(limit / 2);
  cl_int error = CL_SUCCESS;
  const cl_mem released = buffer_of(limit / 4, error);
  ASSERT_EQ(error, CL_SUCCESS);
  EventHandle end;
  spin(queue, released, 8'000'000, end.out());
  clFlush(queue);
  clReleaseMemObject(released);
  EXPECT_LT(refusal([&] {
              buffer_of(limit / 4 * 3, error);
              return error;
            }),
            kAtOnce);
  EXPECT_GT(status_of(end), CL_COMPLETE) << "the command was too short to show anything";
  EXPECT_EQ(clFinish(queue), CL_SUCCESS);
}

TEST_F(Release, OfAnArgumentGivesItsMemoryBack) {
  const std::uint64_t bytes = limit * 7 / 8;
  cl_int error = CL_SUCCESS;
  cl_mem first = buffer_of(bytes, error);
  ASSERT_EQ(error, CL_SUCCESS);
  spin(queue, first, 1000);
  EXPECT_EQ(clFinish(queue), CL_SUCCESS);
  clReleaseMemObject(first);
  const cl_mem second = buffer_of(bytes, error);
  ASSERT_EQ(error, CL_SUCCESS) << "the kernel still has it as its argument";
  // A launch that would use the argument does not run on another object's memory.
  const std::size_t global = 64;
  EventHandle end;
  const cl_int sent =
      clEnqueueNDRangeKernel(queue, spin_kernel, 1, nullptr, &global, nullptr, 0, nullptr, end.out());
  if (sent == CL_SUCCESS) {
    clFinish(queue);
    EXPECT_LT(status_of(end), CL_COMPLETE);
  }
  spin(queue, second, 1000);
  EXPECT_EQ(clFinish(queue), CL_SUCCESS);
  clReleaseMemObject(second);
}

TEST_F(Release, MakesRoomForACallbackOfTheCommandThatHeldTheMemory) {
  struct Job {
    cl_context context;
    std::uint64_t bytes;
    std::atomic<cl_int> outcome{1};
  };
  Job job{context, limit * 7 / 8, {}};
  job.outcome = 1;
  cl_int error = CL_SUCCESS;
  const cl_mem made = buffer_of(job.bytes, error);
  ASSERT_EQ(error, CL_SUCCESS);
  EventHandle end;
  spin(queue, made, 20'000, end.out());
  clReleaseMemObject(made);
  ASSERT_EQ(CL_SUCCESS, clSetEventCallback(
                            end, CL_COMPLETE,
                            [](cl_event, cl_int, void* user) {
                              auto& of = *static_cast<Job*>(user);
                              cl_int outcome = CL_SUCCESS;
                              const cl_mem next = clCreateBuffer(of.context, 0, of.bytes, nullptr, &outcome);
                              if (next != nullptr) clReleaseMemObject(next);
                              of.outcome = outcome;
                            },
                            &job));
  clFlush(queue);
  while (job.outcome == 1) std::this_thread::yield();
  EXPECT_EQ(job.outcome, CL_SUCCESS);
}

}  // namespace
}  // namespace fairgv::test
