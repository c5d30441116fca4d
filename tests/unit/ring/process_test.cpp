// The rings at work: two processes over one segment, and calls that cost no system call.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cstring>

#include "tests/unit/ring/support.hpp"

namespace fairgv::ring {
namespace {

/// A second mapping of the segment, as the worker would have it.
Segment attach_again(const Segment& segment) {
  return Segment::attach(UniqueFd(fcntl(segment.fd(), F_DUPFD_CLOEXEC, 0))).value();
}

class TwoProcesses : public testing::Test {
 protected:
  Segment client = Segment::create(small_sizes()).value();
};

TEST_F(TwoProcesses, RecordsOfRandomSizesArriveInOrderAndIntact) {
  const RecordStream stream(harness::printed_seed(), 20'000);
  for (const auto longest_spin : {kNever, SpinBudget::kLongest}) {
    const pid_t worker_process = start_child([&] {
      Segment worker = attach_again(client);
      SpinBudget budget(longest_spin);
      return stream.receive(worker.requests(), worker.header().worker_bell, worker.header().reply_bell,
                            budget);
    });
    SpinBudget budget(longest_spin);
    EXPECT_TRUE(
        stream.send(client.requests(), client.header().worker_bell, client.header().reply_bell, budget));
    EXPECT_EQ(await_child(worker_process), 0);
  }
}

/// How often this thread has gone to sleep.
long sleeps() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

/// Answers each request with its own tag and opcode until the segment is closed.
bool echo(Segment worker, SpinBudget& budget) {
  RingConsumer requests(worker.requests());
  RingProducer responses(worker.responses());
  SegmentHeader& header = worker.header();
  for (;;) {
    wait(header.worker_bell, budget, [&] { return requests.has_record() || worker.closed(); });
    RecordHeader request;
    std::span<const std::byte> payload;
    switch (requests.peek(request, payload)) {
      case RingConsumer::Next::empty:
        return worker.closed();
      case RingConsumer::Next::corrupt:
        return false;
      case RingConsumer::Next::record:
        break;
    }
    std::byte* reply = responses.reserve(payload.size());
    if (reply == nullptr) return false;  // there is never more than one call under way
    std::memcpy(reply, payload.data(), payload.size());
    responses.publish(request.opcode, request.tag, payload.size());
    requests.pop();
    ring(header.reply_bell);
  }
}

TEST_F(TwoProcesses, SynchronousCallsWithBothSidesSleepingAllReturn) {
  constexpr uint64_t kCalls = 5'000;
  const pid_t worker_process = start_child([&] {
    SpinBudget budget(kNever);
    return echo(attach_again(client), budget);
  });
  RingProducer requests(client.requests());
  RingConsumer responses(client.responses());
  SpinBudget budget(kNever);
  const long sleeps_before = sleeps();
  for (uint64_t call = 0; call < kCalls; ++call) {
    std::byte* payload = requests.reserve(sizeof(call));
    ASSERT_NE(payload, nullptr);
    std::memcpy(payload, &call, sizeof(call));
    requests.publish(3, call, sizeof(call));
    ring(client.header().worker_bell);
    ASSERT_TRUE(wait(
        client.header().reply_bell, budget, [&] { return responses.has_record(); }, lost_by()));
    RecordHeader reply;
    std::span<const std::byte> answer;
    ASSERT_EQ(responses.peek(reply, answer), RingConsumer::Next::record);
    EXPECT_EQ(reply.tag, call);
    ASSERT_EQ(answer.size(), sizeof(call));
    EXPECT_EQ(std::memcmp(answer.data(), &call, sizeof(call)), 0);
    responses.pop();
  }
  EXPECT_GT(sleeps(), sleeps_before) << "nobody slept: nothing was tried";
  client.close();
  EXPECT_EQ(await_child(worker_process), 0);
}

TEST_F(TwoProcesses, ClosingTheSegmentWakesTheSleepingWorker) {
  const pid_t worker_process = start_child([&] {
    SpinBudget budget(kNever);
    return echo(attach_again(client), budget);
  });
  await_sleeper(client.header().worker_bell);
  HeaderView daemon = HeaderView::attach(client.fd()).value();
  daemon.close();
  EXPECT_EQ(await_child(worker_process), 0);
  EXPECT_TRUE(client.closed());
}

TEST_F(TwoProcesses, ACallWhileBothSidesAreAwakeMakesNoSystemCall) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer runs a thread that the only exit allowed here would leave behind";
#endif
  // In strict mode the kernel kills a process that makes any system call but read, write and exit.
  const pid_t process = start_child([&] {
    SegmentHeader& header = client.header();
    RingProducer producer(client.requests());
    RingConsumer consumer(client.requests());
    SpinBudget budget;
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    bool all_arrived = true;
    for (uint64_t call = 0; call < 10'000 && all_arrived; ++call) {
      std::byte* room = producer.reserve(48);
      if (room != nullptr) std::memcpy(room, &call, sizeof(call));
      producer.publish(1, call, 48);
      ring(header.worker_bell);
      RecordHeader record;
      std::span<const std::byte> payload;
      all_arrived = wait(header.worker_bell, budget, [&] { return consumer.has_record(); }) &&
                    consumer.peek(record, payload) == RingConsumer::Next::record && record.tag == call;
      consumer.pop();
      ring(header.reply_bell);
    }
    syscall(SYS_exit, all_arrived ? 0 : 1);  // _exit would make another call, exit_group
    return true;
  });
  EXPECT_EQ(await_child(process), 0) << "-9 means that a system call was made";
}

}  // namespace
}  // namespace fairgv::ring
