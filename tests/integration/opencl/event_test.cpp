// Events: order, wait lists, user events, callbacks, profiling.
#include <atomic>
#include <thread>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

class Events : public OpenCL {
 protected:
  void fill(cl_command_queue on, cl_mem buffer, std::uint8_t value, const std::vector<cl_event>& waits = {},
            cl_event* event = nullptr) {
    const std::size_t size = memory_info<std::size_t>(buffer, CL_MEM_SIZE);
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueFillBuffer(on, buffer, &value, 1, 0, size, static_cast<cl_uint>(waits.size()),
                                  waits.empty() ? nullptr : waits.data(), event));
  }
};

/// Lets a test thread wait until callbacks have run, without guessing how long that takes.
class Latch {
 public:
  void count() {
    count_.fetch_add(1);
    count_.notify_all();
  }
  void wait_for(int wanted) {
    for (int now = count_.load(); now < wanted; now = count_.load()) count_.wait(now);
  }
  int value() const { return count_.load(); }

 private:
  std::atomic<int> count_{0};
};

TEST_F(Events, EndCompleteAndKnowTheirCommand) {
  const Buffer buffer = make_buffer(1000);
  EventHandle event;
  fill(queue, buffer, 1, {}, event.out());
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, event.address()));
  EXPECT_EQ(CL_COMPLETE, status_of(event));
  EXPECT_EQ(cl_command_type{CL_COMMAND_FILL_BUFFER},
            event_info<cl_command_type>(event, CL_EVENT_COMMAND_TYPE));
  EXPECT_EQ(queue.get(), event_info<cl_command_queue>(event, CL_EVENT_COMMAND_QUEUE));
  EXPECT_EQ(context.get(), event_info<cl_context>(event, CL_EVENT_CONTEXT));
}

TEST_F(Events, KeepCommandsOfAnInOrderQueueInOrder) {
  const Buffer buffer = make_buffer(4096);
  for (int i = 0; i < 200; ++i) fill(queue, buffer, static_cast<std::uint8_t>(i));
  EXPECT_EQ(Bytes(4096, 199), read(buffer, 4096));
}

TEST_F(Events, OrderCommandsOfAnOutOfOrderQueueByWaitLists) {
  const QueueHandle loose = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Buffer buffer = make_buffer(4096);
  EventHandle before;
  for (int i = 0; i < 100; ++i) {
    EventHandle event;
    std::vector<cl_event> waits;
    if (i != 0) waits.push_back(before);
    fill(loose, buffer, static_cast<std::uint8_t>(i), waits, event.out());
    before = std::move(event);
  }
  Bytes back(4096);
  ASSERT_EQ(CL_SUCCESS, clEnqueueReadBuffer(loose, buffer, CL_TRUE, 0, back.size(), back.data(), 1,
                                            before.address(), nullptr));
  EXPECT_EQ(Bytes(4096, 99), back);
}

TEST_F(Events, OrderCommandsAcrossQueues) {
  const QueueHandle second = make_queue();
  const Buffer buffer = make_buffer(4096);
  EventHandle filled;
  fill(queue, buffer, 7, {}, filled.out());
  Bytes back(4096);
  ASSERT_EQ(CL_SUCCESS, clEnqueueReadBuffer(second, buffer, CL_TRUE, 0, back.size(), back.data(), 1,
                                            filled.address(), nullptr));
  EXPECT_EQ(Bytes(4096, 7), back);
}

TEST_F(Events, OfABarrierHoldBackLaterCommandsOfAnOutOfOrderQueue) {
  const QueueHandle loose = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Buffer buffer = make_buffer(4096);
  const EventHandle gate = make_user_event();
  fill(loose, buffer, 1, {gate});
  ASSERT_EQ(CL_SUCCESS, clEnqueueBarrierWithWaitList(loose, 0, nullptr, nullptr));
  EventHandle last;
  fill(loose, buffer, 2, {}, last.out());
  ASSERT_EQ(CL_SUCCESS, clFlush(loose));
  EXPECT_GT(status_of(last), CL_COMPLETE);
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clFinish(loose));
  EXPECT_EQ(Bytes(4096, 2), read(buffer, 4096));
}

TEST_F(Events, OfAMarkerWaitForEverythingBefore) {
  const QueueHandle loose = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Buffer buffer = make_buffer(4096);
  const EventHandle gate = make_user_event();
  fill(loose, buffer, 1, {gate});
  EventHandle marker;
  ASSERT_EQ(CL_SUCCESS, clEnqueueMarkerWithWaitList(loose, 0, nullptr, marker.out()));
  ASSERT_EQ(CL_SUCCESS, clFlush(loose));
  EXPECT_GT(status_of(marker), CL_COMPLETE);
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  EXPECT_EQ(CL_SUCCESS, clWaitForEvents(1, marker.address()));
  ASSERT_EQ(CL_SUCCESS, clFinish(loose));
}

TEST_F(Events, OfTheUserAreSetOnceAndOnlyToAnEnd) {
  const EventHandle gate = make_user_event();
  EXPECT_EQ(CL_SUBMITTED, status_of(gate));
  EXPECT_EQ(cl_command_type{CL_COMMAND_USER}, event_info<cl_command_type>(gate, CL_EVENT_COMMAND_TYPE));
  EXPECT_EQ(nullptr, event_info<cl_command_queue>(gate, CL_EVENT_COMMAND_QUEUE));
  EXPECT_EQ(CL_INVALID_VALUE, clSetUserEventStatus(gate, CL_RUNNING));
  EXPECT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  EXPECT_EQ(CL_COMPLETE, status_of(gate));
  EXPECT_EQ(CL_INVALID_OPERATION, clSetUserEventStatus(gate, CL_COMPLETE));
}

TEST_F(Events, OfTheUserSetByAnotherThreadReleaseABlockingCall) {
  const Bytes data = random_bytes(5000);
  const Buffer buffer = make_buffer(data);
  const QueueHandle blocked = make_queue();
  const EventHandle gate = make_user_event();
  Bytes back(data.size());
  cl_int result = CL_INVALID_VALUE;
  std::thread reader([&] {
    result = clEnqueueReadBuffer(blocked, buffer, CL_TRUE, 0, back.size(), back.data(), 1,
                                 std::vector<cl_event>{gate}.data(), nullptr);
  });
  // Meanwhile another queue goes on.
  const Buffer other = make_buffer(100);
  fill(queue, other, 3);
  EXPECT_EQ(Bytes(100, 3), read(other, 100));
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  reader.join();
  EXPECT_EQ(CL_SUCCESS, result);
  EXPECT_EQ(data, back);
}

TEST_F(Events, AFailureOfAUserEventFailsEveryCommandThatWaitsForIt) {
  const Buffer buffer = make_buffer(100);
  const EventHandle gate = make_user_event();
  const QueueHandle loose = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  EventHandle event;
  fill(loose, buffer, 1, {gate}, event.out());
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, -5));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.address()));
  EXPECT_LT(status_of(event), 0);
}

TEST_F(Events, CallBackWhenTheyEnd) {
  struct Record {
    Latch called;
    cl_event event = nullptr;
    cl_int status = 77;
  } record;
  const Buffer buffer = make_buffer(100);
  const EventHandle gate = make_user_event();
  EventHandle event;
  fill(queue, buffer, 1, {gate}, event.out());
  ASSERT_EQ(CL_SUCCESS, clSetEventCallback(
                            event, CL_COMPLETE,
                            [](cl_event which, cl_int status, void* data) {
                              auto& to = *static_cast<Record*>(data);
                              to.event = which;
                              to.status = status;
                              to.called.count();
                            },
                            &record));
  EXPECT_EQ(0, record.called.value());
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clFlush(queue));
  record.called.wait_for(1);
  EXPECT_EQ(event.get(), record.event);
  EXPECT_EQ(CL_COMPLETE, record.status);
}

TEST_F(Events, CallBackAtOnceWhenTheyHaveEnded) {
  Latch called;
  const EventHandle gate = make_user_event();
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  for (const cl_int status : {CL_SUBMITTED, CL_RUNNING, CL_COMPLETE}) {
    ASSERT_EQ(
        CL_SUCCESS,
        clSetEventCallback(
            gate, status, [](cl_event, cl_int, void* data) { static_cast<Latch*>(data)->count(); }, &called));
  }
  called.wait_for(3);
}

TEST_F(Events, CallBackWithTheErrorTheyEndedWith) {
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1 never calls back for a user event that failed";
  struct Record {
    Latch called;
    cl_int status = 77;
  } record;
  const EventHandle gate = make_user_event();
  ASSERT_EQ(CL_SUCCESS, clSetEventCallback(
                            gate, CL_COMPLETE,
                            [](cl_event, cl_int status, void* data) {
                              auto& to = *static_cast<Record*>(data);
                              to.status = status;
                              to.called.count();
                            },
                            &record));
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, -42));
  record.called.wait_for(1);
  EXPECT_EQ(-42, record.status);
}

struct Chain {
  cl_command_queue queue = nullptr;
  cl_mem buffer = nullptr;
  int left = 0;
  Latch done;
};

/// Enqueues the next command of the chain, calls OpenCL queries, and releases its own event: all inside a
/// callback.
void CL_CALLBACK continue_chain(cl_event event, cl_int, void* data) {
  Chain& chain = *static_cast<Chain*>(data);
  clReleaseEvent(event);
  if (chain.left-- == 0) {
    chain.done.count();
    return;
  }
  const std::uint8_t value = static_cast<std::uint8_t>(chain.left);
  cl_event next = nullptr;
  if (clEnqueueFillBuffer(chain.queue, chain.buffer, &value, 1, 0, 64, 0, nullptr, &next) != CL_SUCCESS ||
      clSetEventCallback(next, CL_COMPLETE, continue_chain, data) != CL_SUCCESS ||
      clFlush(chain.queue) != CL_SUCCESS) {
    chain.done.count();
  }
}

TEST_F(Events, MayEnqueueAndReleaseFromTheirCallbacks) {
  const Buffer buffer = make_buffer(64);
  Chain chain;
  chain.queue = queue;
  chain.buffer = buffer;
  chain.left = 20;
  EventHandle first;
  fill(queue, buffer, 200, {}, first.out());
  ASSERT_EQ(CL_SUCCESS, clSetEventCallback(first.give_up(), CL_COMPLETE, continue_chain, &chain));
  ASSERT_EQ(CL_SUCCESS, clFlush(queue));
  chain.done.wait_for(1);
  EXPECT_EQ(-1, chain.left);
  EXPECT_EQ(Bytes(64, 0), read(buffer, 64));
}

TEST_F(Events, ShowTheDataOfAReadInItsCallback) {
  struct Record {
    Latch called;
    Bytes expected, got;
    bool right = false;
  } record;
  record.expected = random_bytes(40000);
  record.got.resize(record.expected.size());
  const Buffer buffer = make_buffer(record.expected);
  EventHandle event;
  ASSERT_EQ(CL_SUCCESS, clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, record.got.size(), record.got.data(),
                                            0, nullptr, event.out()));
  ASSERT_EQ(CL_SUCCESS, clSetEventCallback(
                            event, CL_COMPLETE,
                            [](cl_event, cl_int, void* data) {
                              auto& to = *static_cast<Record*>(data);
                              to.right = to.got == to.expected;
                              to.called.count();
                            },
                            &record));
  ASSERT_EQ(CL_SUCCESS, clFlush(queue));
  record.called.wait_for(1);
  EXPECT_TRUE(record.right);
}

TEST_F(Events, HaveTimesInTheirOrder) {
  const Buffer buffer = make_buffer(1 << 20);
  cl_ulong end_before = 0;
  for (int i = 0; i < 10; ++i) {
    EventHandle event;
    fill(queue, buffer, 1, {}, event.out());
    ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, event.address()));
    cl_ulong times[4] = {};
    const cl_profiling_info params[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                        CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    for (int t = 0; t < 4; ++t) {
      ASSERT_EQ(CL_SUCCESS, clGetEventProfilingInfo(event, params[t], sizeof(cl_ulong), &times[t], nullptr));
    }
    EXPECT_NE(0U, times[0]);
    EXPECT_LE(times[0], times[1]);
    EXPECT_LE(times[1], times[2]);
    EXPECT_LE(times[2], times[3]);
    EXPECT_LE(end_before, times[2]) << "commands of an in-order queue do not overlap";
    end_before = times[3];
  }
}

TEST_F(Events, HaveNoTimesWithoutAProfilingQueueOrACommand) {
  const QueueHandle plain = make_queue();
  const Buffer buffer = make_buffer(100);
  EventHandle event;
  fill(plain, buffer, 1, {}, event.out());
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, event.address()));
  cl_ulong time = 0;
  EXPECT_EQ(CL_PROFILING_INFO_NOT_AVAILABLE,
            clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(time), &time, nullptr));
  const EventHandle gate = make_user_event();
  EXPECT_EQ(CL_PROFILING_INFO_NOT_AVAILABLE,
            clGetEventProfilingInfo(gate, CL_PROFILING_COMMAND_START, sizeof(time), &time, nullptr));
}

}  // namespace
}  // namespace fairgv::test
