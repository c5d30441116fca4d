// Memory that the program has released counts for what it allocates next: whatever uses it still, and
// however the program waits, or not at all. Runs as a tenant with a limit (containment/quota_test.cpp).
#include <atomic>
#include <chrono>
#include <functional>
#include <ostream>
#include <thread>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

using Clock = std::chrono::steady_clock;

/// Some milliseconds of work on each element, so that commands are under way when their objects are released.
constexpr const char* kSource = R"(
kernel void spin(global uint* data, uint rounds) {
  uint x = get_global_id(0) + 1;
  for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  data[get_global_id(0)] = x;
}
kernel void shade(write_only image2d_t image) {
  write_imageui(image, (int2)(get_global_id(0), get_global_id(1)), (uint4)(1));
}
)";

class Release : public OpenCL {
 protected:
  void SetUp() override {
    OpenCL::SetUp();
    limit = device_info<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    program = build(kSource);
    spin_kernel = make_kernel(program, "spin");
  }

  cl_mem buffer_of(std::uint64_t bytes, cl_int& error) const {
    return clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
  }
  void fill(cl_command_queue on, cl_mem buffer, std::size_t bytes) const {
    const cl_uint pattern = 7;
    EXPECT_EQ(CL_SUCCESS,
              clEnqueueFillBuffer(on, buffer, &pattern, sizeof(pattern), 0, bytes, 0, nullptr, nullptr));
  }
  void spin(cl_command_queue on, cl_mem buffer, cl_uint rounds, cl_event* event = nullptr) const {
    const std::size_t global = 64;
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(spin_kernel, 0, sizeof(buffer), &buffer));
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(spin_kernel, 1, sizeof(rounds), &rounds));
    EXPECT_EQ(CL_SUCCESS,
              clEnqueueNDRangeKernel(on, spin_kernel, 1, nullptr, &global, nullptr, 0, nullptr, event));
  }
  cl_mem image_of(std::uint64_t bytes, cl_int& error) const {
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = 1024;
    shape.image_height = bytes / 4096;
    return clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &shape, nullptr, &error);
  }

  std::uint64_t limit = 0;
  ProgramHandle program;
  KernelHandle spin_kernel;
};

// ---- every kind of object and use, without a wait

struct Use {
  const char* name;
  /// Allocates `bytes`, enqueues what uses it, and releases it. The error of the allocation.
  cl_int (*round)(Release& test, std::uint64_t bytes, cl_uint number);
};

void PrintTo(const Use& use, std::ostream* out) {
  *out << use.name;
}

struct EachUse : Release, testing::WithParamInterface<Use> {
  static cl_int fill_buffer(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int launch_on_buffer(Release& test, std::uint64_t bytes, cl_uint number);
  static cl_int copy_within(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int write_and_read(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int launch_on_image(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int free_shared_memory(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int free_shared_memory_in_turn(Release& test, std::uint64_t bytes, cl_uint);
  static cl_int release_while_mapped(Release& test, std::uint64_t bytes, cl_uint);

 private:
  static EachUse& of(Release& test) { return static_cast<EachUse&>(test); }
};

cl_int EachUse::fill_buffer(Release& test, std::uint64_t bytes, cl_uint) {
  cl_int error = CL_SUCCESS;
  const cl_mem made = of(test).buffer_of(bytes, error);
  if (error != CL_SUCCESS) return error;
  of(test).fill(of(test).queue, made, bytes);
  clReleaseMemObject(made);
  return error;
}

cl_int EachUse::launch_on_buffer(Release& test, std::uint64_t bytes, cl_uint number) {
  cl_int error = CL_SUCCESS;
  const cl_mem made = of(test).buffer_of(bytes, error);
  if (error != CL_SUCCESS) return error;
  of(test).spin(of(test).queue, made, 100'000 + number);
  clReleaseMemObject(made);
  return error;
}

cl_int EachUse::copy_within(Release& test, std::uint64_t bytes, cl_uint) {
  cl_int error = CL_SUCCESS;
  const cl_mem made = of(test).buffer_of(bytes, error);
  if (error != CL_SUCCESS) return error;
  EXPECT_EQ(CL_SUCCESS,
            clEnqueueCopyBuffer(of(test).queue, made, made, 0, bytes / 2, bytes / 2, 0, nullptr, nullptr));
  clReleaseMemObject(made);
  return error;
}

cl_int EachUse::write_and_read(Release& test, std::uint64_t bytes, cl_uint) {
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

cl_int EachUse::launch_on_image(Release& test, std::uint64_t bytes, cl_uint) {
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

cl_int EachUse::free_shared_memory(Release& test, std::uint64_t bytes, cl_uint) {
  void* const made = clSVMAlloc(of(test).context, CL_MEM_READ_WRITE, bytes, 0);
  if (made == nullptr) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  // A program has to wait before it frees (OpenCL 3.0, clSVMFree): here, for one command of two.
  const cl_uint pattern = 3;
  EventHandle filled;
  EXPECT_EQ(CL_SUCCESS, clEnqueueSVMMemFill(of(test).queue, made, &pattern, sizeof(pattern), bytes, 0,
                                            nullptr, filled.out()));
  const cl_event wait = filled;
  EXPECT_EQ(CL_SUCCESS, clWaitForEvents(1, &wait));
  clSVMFree(of(test).context, made);
  return CL_SUCCESS;
}

cl_int EachUse::free_shared_memory_in_turn(Release& test, std::uint64_t bytes, cl_uint) {
  void* made = clSVMAlloc(of(test).context, CL_MEM_READ_WRITE, bytes, 0);
  if (made == nullptr) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  const cl_uint pattern = 3;
  EXPECT_EQ(CL_SUCCESS,
            clEnqueueSVMMemFill(of(test).queue, made, &pattern, sizeof(pattern), bytes, 0, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, clEnqueueSVMFree(of(test).queue, 1, &made, nullptr, nullptr, 0, nullptr, nullptr));
  return CL_SUCCESS;
}

cl_int EachUse::release_while_mapped(Release& test, std::uint64_t bytes, cl_uint) {
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

TEST_P(EachUse, IsNeverRefusedWhereWhatIsNotReleasedFits) {
  if (std::string(GetParam().name).starts_with("SharedMemory") &&
      device_info<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES) == 0) {
    GTEST_SKIP() << "the device has none";
  }
  constexpr std::uint64_t kPage = 4096;
  constexpr cl_uint kRounds = 20;  // of 16 parts, more than fit
  for (const unsigned part : {1U, 3U, 16U}) {
    const std::uint64_t bytes = limit * 7 / 8 / part / kPage * kPage;
    for (cl_uint round = 0; round < kRounds; ++round) {
      ASSERT_EQ(CL_SUCCESS, GetParam().round(*this, bytes, round))
          << "round " << round << " of 1/" << part << " of the limit";
    }
  }
  EXPECT_EQ(clFinish(queue), CL_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(
    Uses, EachUse,
    testing::Values(Use{"Fill", EachUse::fill_buffer}, Use{"Launch", EachUse::launch_on_buffer},
                    Use{"Copy", EachUse::copy_within}, Use{"WriteAndRead", EachUse::write_and_read},
                    Use{"Image", EachUse::launch_on_image}, Use{"SharedMemory", EachUse::free_shared_memory},
                    Use{"SharedMemoryInTurn", EachUse::free_shared_memory_in_turn},
                    Use{"Map", EachUse::release_while_mapped}),
    [](const auto& test) { return std::string(test.param.name); });

// ---- after each way of waiting

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

struct EachWait : Release, testing::WithParamInterface<Wait> {};

TEST_P(EachWait, FindsTheMemoryThere) {
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
    Waits, EachWait,
    testing::Values(Wait{"Finish", [](cl_command_queue queue, cl_event) { clFinish(queue); }},
                    Wait{"Event", [](cl_command_queue, cl_event event) { clWaitForEvents(1, &event); }},
                    Wait{"Status",
                         [](cl_command_queue, cl_event event) {
                           while (status_of(event) > CL_COMPLETE) std::this_thread::yield();
                         }},
                    Wait{"Callback", wait_by_callback}),
    [](const auto& test) { return std::string(test.param.name); });

// ---- what is not on its way

/// How long a refusal takes, in seconds.
double refusal(const std::function<cl_int()>& allocate) {
  const auto from = Clock::now();
  EXPECT_EQ(allocate(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  return std::chrono::duration<double>(Clock::now() - from).count();
}

constexpr double kAtOnce = 1;  // seconds; nothing here ends by itself

TEST_F(Release, WhatAUserEventHoldsIsRefusedAtOnceAndThereOnceItIsSet) {
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
  // Behind it in the same queue, and across queues.
  const QueueHandle other = make_queue();
  EXPECT_LT(refusal(allocate), kAtOnce);
  EXPECT_EQ(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(allocate(), CL_SUCCESS);
}

TEST_F(Release, WhatTheProgramHoldsIsRefusedAtOnce) {
  const Buffer held = make_buffer(limit * 7 / 8);
  ASSERT_NE(held.get(), nullptr);
  EXPECT_LT(refusal([&] {
              cl_int error = CL_SUCCESS;
              buffer_of(limit / 4, error);
              return error;
            }),
            kAtOnce);
}

/// What another command does meanwhile has nothing to do with it.
TEST_F(Release, MoreThanWhatIsReleasedCanGiveIsNotWaitedFor) {
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

TEST_F(Release, AnArgumentThatIsReleasedDoesNotKeepItsMemory) {
  const std::uint64_t bytes = limit * 7 / 8;
  cl_int error = CL_SUCCESS;
  cl_mem first = buffer_of(bytes, error);
  ASSERT_EQ(error, CL_SUCCESS);
  spin(queue, first, 1000);
  EXPECT_EQ(clFinish(queue), CL_SUCCESS);
  clReleaseMemObject(first);
  const cl_mem second = buffer_of(bytes, error);
  ASSERT_EQ(error, CL_SUCCESS) << "the kernel still has it as its argument";
  // A launch that would use it does not run on somebody else's memory.
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

TEST_F(Release, ACallbackMayAllocateWhatItsCommandHeld) {
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

// ---- at random

/// One thread's programs: objects of any size, used in any queue, released at any time. What it has not
/// released stays within its share, so nothing may ever be refused.
class RandomUser {
 public:
  RandomUser(cl_context context, std::vector<cl_command_queue> queues, std::uint64_t share,
             std::uint64_t seed)
      : context_(context), queues_(std::move(queues)), share_(share), random_(seed) {}

  /// The error of the first allocation that failed, in which round.
  std::string run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      if (!held_.empty() && pick(2) == 0) {
        release(pick(held_.size() - 1));
        continue;
      }
      const std::uint64_t bytes = 4 + pick(pick(1) == 0 ? share_ / 2 : share_ / 50) / 4 * 4;
      while (live_ + bytes > share_) release(pick(held_.size() - 1));
      cl_int error = CL_SUCCESS;
      const cl_mem made = clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &error);
      if (error != CL_SUCCESS) {
        return "round " + std::to_string(round) + ": error " + std::to_string(error) + " for " +
               std::to_string(bytes) + " bytes beside " + std::to_string(live_) + " of " +
               std::to_string(share_);
      }
      live_ += bytes;
      held_.push_back({made, bytes});
      for (std::uint64_t uses = pick(3); uses > 0; --uses) use(held_[pick(held_.size() - 1)]);
    }
    while (!held_.empty()) release(0);
    return {};
  }

 private:
  struct Held {
    cl_mem buffer;
    std::uint64_t bytes;
  };

  std::uint64_t pick(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random_);
  }
  void use(const Held& held) {
    const cl_uint pattern = 1;
    const cl_command_queue queue = queues_[pick(queues_.size() - 1)];
    cl_event before = last_;
    const bool waits = before != nullptr && pick(1) == 0;
    cl_event ended = nullptr;
    clEnqueueFillBuffer(queue, held.buffer, &pattern, sizeof(pattern), 0, held.bytes, waits ? 1 : 0,
                        waits ? &before : nullptr, &ended);
    if (pick(7) == 0) clFlush(queue);
    if (last_ != nullptr) clReleaseEvent(last_);
    last_ = ended;
  }
  void release(std::uint64_t index) {
    clReleaseMemObject(held_[index].buffer);
    live_ -= held_[index].bytes;
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  cl_context context_;
  std::vector<cl_command_queue> queues_;
  std::uint64_t share_;
  std::mt19937_64 random_;
  std::vector<Held> held_;
  std::uint64_t live_ = 0;
  cl_event last_ = nullptr;  // a few are left to the end of the process
};

TEST_F(Release, UnderRandomUseNothingIsRefusedThatFits) {
  const QueueHandle queues[] = {make_queue(), make_queue(),
                                make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)};
  constexpr std::uint64_t kThreads = 3;
  // Small objects are charged in whole pieces at most, and the session keeps a little for what comes next.
  const std::uint64_t share = (limit - limit / 8) / kThreads;
  std::vector<std::thread> threads;
  std::vector<std::string> outcomes(kThreads);
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    const std::uint64_t seed = random();
    threads.emplace_back([&, i, seed] {
      RandomUser user(context, {queues[0], queues[1], queues[2]}, share, seed);
      outcomes[i] = user.run(150);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& outcome : outcomes) EXPECT_EQ(outcome, "");
}

}  // namespace
}  // namespace fairgv::test
