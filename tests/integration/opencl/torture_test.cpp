// Sixteen threads make random, valid calls on shared queues, and a model gives the expected results.
//
// Each thread owns a few buffers. The contents of a buffer are known at every moment, because each command on
// it waits for the one before. Everything else is random: the queue (in-order or not), further events to wait
// for, user events that hold commands back, callbacks that call OpenCL, references taken and released. No
// thread blocks while a user event of its own is open, so threads cannot wait for each other in a circle.
//
// FAIRGV_TORTURE_SECONDS sets the duration (default 5).
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/integration/opencl/torture_stage.hpp"

namespace fairgv::test::torture {
namespace {

using Values = std::vector<cl_uint>;

constexpr int kThreads = 16;
constexpr std::size_t kBuffers = 3;      // of each thread
constexpr std::size_t kCount = 1024;     // elements of each
constexpr std::size_t kRegion = 256;     // elements of a sub-buffer; aligned for every device
constexpr int kOperationsPerRound = 40;  // between two looks at the results

constexpr const char* kTortureSource = R"(
kernel void add(global uint* out, uint value) { out[get_global_id(0)] += value; }
)";

std::chrono::seconds duration() {
  const char* const seconds = std::getenv("FAIRGV_TORTURE_SECONDS");
  return std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 5);
}

/// One thread's buffers, and the commands under way on them.
class Actor {
 public:
  Actor(Stage& stage, std::uint64_t seed) : stage_(stage), random_(seed) {
    cl_int error = CL_SUCCESS;
    kernel_ = KernelHandle(clCreateKernel(stage.program, "add", &error));
    expect(error, "clCreateKernel");
    for (Owned& owned : owned_) {
      owned.model.assign(kCount, 7);
      owned.buffer = Buffer(clCreateBuffer(stage.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                           kCount * sizeof(cl_uint), owned.model.data(), &error));
      expect(error, "clCreateBuffer");
    }
  }

  void round() {
    for (int i = 0; i < kOperationsPerRound; ++i) operate();
    drain();
  }

 private:
  struct Owned {
    Buffer buffer;
    Values model;
    EventHandle last;  // of the latest command on it
  };
  struct Read {
    Values result, expected;
  };
  /// A wait list that keeps its events.
  struct WaitList {
    std::vector<EventHandle> kept;
    std::vector<cl_event> raw;
    void add(EventHandle event) {
      if (event == nullptr) return;
      raw.push_back(event);
      kept.push_back(std::move(event));
    }
    cl_uint count() const { return static_cast<cl_uint>(raw.size()); }
    const cl_event* events() const { return raw.empty() ? nullptr : raw.data(); }
  };

  std::size_t pick(std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(random_); }
  cl_command_queue queue() { return stage_.queues[pick(stage_.queues.size() - 1)]; }
  Owned& owned() { return owned_[pick(kBuffers - 1)]; }
  void expect(cl_int error, const char* call) { EXPECT_EQ(CL_SUCCESS, error) << call; }

  WaitList wait_list(const Owned& one, const Owned* other = nullptr) {
    WaitList list;
    if (one.last != nullptr) list.add(share(one.last));
    if (other != nullptr && other->last != nullptr) list.add(share(other->last));
    if (pick(3) == 0) list.add(stage_.exchange.take(random_()));
    if (!user_events_.empty() && pick(3) == 0) list.add(share(user_events_.back()));
    return list;
  }
  /// The command that `event` stands for is now the latest on the buffer.
  void follow(Owned& one, EventHandle event) {
    if (event == nullptr) return;
    if (pick(3) == 0) stage_.exchange.offer(event, random_());
    if (pick(3) == 0) {
      stage_.event_calls.expected.fetch_add(1);
      expect(clSetEventCallback(event, CL_COMPLETE, on_event, &stage_.event_calls), "clSetEventCallback");
    }
    one.last = std::move(event);
  }

  void operate() {
    switch (pick(11)) {
      case 0:
        return write();
      case 1:
        return read();
      case 2:
        return fill();
      case 3:
        return copy();
      case 4:
        return launch();
      case 5:
        return launch();
      case 6:
        return write_to_sub_buffer();
      case 7:
        return synchronise();
      case 8:
        return open_user_event();
      case 9:
        return close_user_events();
      case 10:
        return short_lived_buffer();
      default:
        return pick(3) == 0 ? map() : retain_and_release();
    }
  }

  void write() {
    Owned& to = owned();
    for (cl_uint& value : to.model) value = static_cast<cl_uint>(random_());
    const Values& source = *sources_.emplace_back(std::make_unique<Values>(to.model));
    const WaitList list = wait_list(to);
    EventHandle event;
    expect(clEnqueueWriteBuffer(queue(), to.buffer, CL_FALSE, 0, kCount * sizeof(cl_uint), source.data(),
                                list.count(), list.events(), event.out()),
           "clEnqueueWriteBuffer");
    follow(to, std::move(event));
  }

  void read() {
    Owned& from = owned();
    Read& read = *reads_.emplace_back(std::make_unique<Read>(Read{Values(kCount), from.model}));
    const WaitList list = wait_list(from);
    EventHandle event;
    expect(clEnqueueReadBuffer(queue(), from.buffer, CL_FALSE, 0, kCount * sizeof(cl_uint),
                               read.result.data(), list.count(), list.events(), event.out()),
           "clEnqueueReadBuffer");
    follow(from, std::move(event));
  }

  void fill() {
    Owned& to = owned();
    const auto value = static_cast<cl_uint>(random_());
    to.model.assign(kCount, value);
    const WaitList list = wait_list(to);
    EventHandle event;
    expect(clEnqueueFillBuffer(queue(), to.buffer, &value, sizeof(value), 0, kCount * sizeof(value),
                               list.count(), list.events(), event.out()),
           "clEnqueueFillBuffer");
    follow(to, std::move(event));
  }

  void copy() {
    Owned& from = owned();
    Owned& to = owned();
    if (&from == &to) return;
    const std::size_t first = pick(kCount - 1);
    const std::size_t count = 1 + pick(kCount - 1 - first);
    std::copy_n(from.model.begin() + static_cast<std::ptrdiff_t>(first), count,
                to.model.begin() + static_cast<std::ptrdiff_t>(first));
    const WaitList list = wait_list(from, &to);
    EventHandle event;
    expect(
        clEnqueueCopyBuffer(queue(), from.buffer, to.buffer, first * sizeof(cl_uint), first * sizeof(cl_uint),
                            count * sizeof(cl_uint), list.count(), list.events(), event.out()),
        "clEnqueueCopyBuffer");
    from.last = share(event);  // no command may overwrite the source before
    follow(to, std::move(event));
  }

  void launch() {
    Owned& to = owned();
    const auto value = static_cast<cl_uint>(pick(1000));
    for (cl_uint& element : to.model) element += value;
    const cl_mem memory = to.buffer;
    expect(clSetKernelArg(kernel_, 0, sizeof(memory), &memory), "clSetKernelArg");
    expect(clSetKernelArg(kernel_, 1, sizeof(value), &value), "clSetKernelArg");
    const WaitList list = wait_list(to);
    EventHandle event;
    expect(clEnqueueNDRangeKernel(queue(), kernel_, 1, nullptr, &kCount, nullptr, list.count(), list.events(),
                                  event.out()),
           "clEnqueueNDRangeKernel");
    follow(to, std::move(event));
  }

  void write_to_sub_buffer() {
    Owned& to = owned();
    const std::size_t first = pick(kCount / kRegion - 1) * kRegion;
    const cl_buffer_region region{first * sizeof(cl_uint), kRegion * sizeof(cl_uint)};
    cl_int error = CL_SUCCESS;
    const Buffer part(clCreateSubBuffer(to.buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
    expect(error, "clCreateSubBuffer");
    const auto value = static_cast<cl_uint>(random_());
    std::fill_n(to.model.begin() + static_cast<std::ptrdiff_t>(first), kRegion, value);
    const WaitList list = wait_list(to);
    EventHandle event;
    expect(clEnqueueFillBuffer(queue(), part, &value, sizeof(value), 0, region.size, list.count(),
                               list.events(), event.out()),
           "clEnqueueFillBuffer");
    follow(to, std::move(event));
  }

  void synchronise() {
    Owned& of = owned();
    const WaitList list = wait_list(of);
    EventHandle event;
    if (pick(1) == 0) {
      expect(clEnqueueMarkerWithWaitList(queue(), list.count(), list.events(), event.out()),
             "clEnqueueMarker");
    } else {
      expect(clEnqueueBarrierWithWaitList(queue(), list.count(), list.events(), event.out()),
             "clEnqueueBarrier");
    }
    // Without a wait list the marker may not include the buffer's latest command.
    if (of.last != nullptr) follow(of, std::move(event));
  }

  void open_user_event() {
    cl_int error = CL_SUCCESS;
    user_events_.emplace_back(clCreateUserEvent(stage_.context, &error));
    expect(error, "clCreateUserEvent");
  }
  void close_user_events() {
    for (const EventHandle& event : user_events_) {
      expect(clSetUserEventStatus(event, CL_COMPLETE), "clSetUserEventStatus");
    }
    user_events_.clear();
  }

  void short_lived_buffer() {
    cl_int error = CL_SUCCESS;
    const Buffer buffer(clCreateBuffer(stage_.context, CL_MEM_READ_WRITE, 4096, nullptr, &error));
    expect(error, "clCreateBuffer");
    stage_.destructor_calls.expected.fetch_add(1);
    expect(clSetMemObjectDestructorCallback(buffer, on_destroyed, &stage_.destructor_calls),
           "destructor callback");
    const cl_uint zero = 0;
    expect(clEnqueueFillBuffer(queue(), buffer, &zero, sizeof(zero), 0, 4096, 0, nullptr, nullptr),
           "clEnqueueFill");
  }

  void map() {
    Owned& of = owned();
    flush();
    close_user_events();
    const WaitList list = wait_list(of);
    cl_int error = CL_SUCCESS;
    const cl_command_queue on = queue();
    void* const mapped =
        clEnqueueMapBuffer(on, of.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, kCount * sizeof(cl_uint),
                           list.count(), list.events(), nullptr, &error);
    expect(error, "clEnqueueMapBuffer");
    if (mapped == nullptr) return;
    auto* const values = static_cast<cl_uint*>(mapped);
    EXPECT_TRUE(std::equal(of.model.begin(), of.model.end(), values)) << "mapped";
    const std::size_t changed = pick(kCount - 1);
    values[changed] = of.model[changed] = static_cast<cl_uint>(random_());
    EventHandle event;
    expect(clEnqueueUnmapMemObject(on, of.buffer, mapped, 0, nullptr, event.out()),
           "clEnqueueUnmapMemObject");
    follow(of, std::move(event));
  }

  void retain_and_release() {
    Owned& of = owned();
    expect(clRetainMemObject(of.buffer), "clRetainMemObject");
    expect(clRetainKernel(kernel_), "clRetainKernel");
    if (of.last != nullptr) {
      const EventHandle held = share(of.last);
    }
    expect(clReleaseKernel(kernel_), "clReleaseKernel");
    expect(clReleaseMemObject(of.buffer), "clReleaseMemObject");
  }

  void flush() {
    for (const QueueHandle& each : stage_.queues) expect(clFlush(each), "clFlush");
  }

  /// Waits for all commands under way and compares every result with the model.
  void drain() {
    close_user_events();
    flush();
    for (Owned& each : owned_) {
      const WaitList list = wait_list(each);
      Values contents(kCount);
      expect(clEnqueueReadBuffer(queue(), each.buffer, CL_TRUE, 0, kCount * sizeof(cl_uint), contents.data(),
                                 list.count(), list.events(), nullptr),
             "clEnqueueReadBuffer");
      EXPECT_EQ(each.model, contents);
      each.last = EventHandle();
    }
    // Each read has ended: a later command on its buffer waited for it.
    for (const auto& read : reads_) EXPECT_EQ(read->expected, read->result);
    reads_.clear();
    sources_.clear();
  }

  Stage& stage_;
  std::mt19937_64 random_;
  KernelHandle kernel_;
  std::array<Owned, kBuffers> owned_;
  std::vector<std::unique_ptr<Values>> sources_;  // of writes under way
  std::vector<std::unique_ptr<Read>> reads_;
  std::vector<EventHandle> user_events_;  // open
};

struct Torture : OpenCL {};

TEST_F(Torture, BySixteenThreadsGivesTheResultsOfTheModel) {
  const ProgramHandle program = build(kTortureSource);
  Stage stage{context, program, {}, {}, {}, {}};
  for (const cl_command_queue_properties each :
       {cl_command_queue_properties{0}, cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE},
        cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE},
        cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE}}) {
    stage.queues.push_back(make_queue(each));
  }
  const auto end = std::chrono::steady_clock::now() + duration();
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < kThreads; ++i) seeds.push_back(random());
  std::atomic<long> rounds{0};
  std::vector<std::thread> threads;
  for (const std::uint64_t seed : seeds) {
    threads.emplace_back([&stage, &rounds, seed, end] {
      Actor actor(stage, seed);
      while (std::chrono::steady_clock::now() < end && !HasFailure()) {
        actor.round();
        rounds.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const QueueHandle& each : stage.queues) EXPECT_EQ(CL_SUCCESS, clFinish(each));
  EXPECT_TRUE(stage.event_calls.all_seen()) << stage.event_calls.seen << " of " << stage.event_calls.expected;
  EXPECT_TRUE(stage.destructor_calls.all_seen())
      << stage.destructor_calls.seen << " of " << stage.destructor_calls.expected;
  EXPECT_EQ(0, stage.event_calls.wrong);
  EXPECT_EQ(0, stage.destructor_calls.wrong);
  RecordProperty("rounds", std::to_string(rounds.load()));
}

}  // namespace
}  // namespace fairgv::test::torture
