// CUDA sessions that move, over the wire: all that the worker has of a session is the same in the next
// worker. The program of each test is the test, so that it says when the session moves, and what is pending
// then.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/integration/system/cuda_worker.hpp"

namespace fairgv::integration::cuda_worker {
namespace {

constexpr std::uint32_t kNumbers = 5'000;
constexpr std::uint32_t kReadWriteAccess = 3;

struct CudaMove : CudaWorker {
  pid_t worker() { return tenant("alice")["sessions"][0]["worker_pid"].get<pid_t>(); }

  /// Another worker serves from now on.
  void move() {
    const pid_t before = worker();
    const auto moved = fairgv({"migrate", "alice"});
    ASSERT_EQ(moved.status, 0) << joined(moved);
    EXPECT_NE(worker(), before);
  }
  /// Nobody has the session for a moment.
  void park() {
    const auto parked = fairgv({"park", "alice"});
    ASSERT_EQ(parked.status, 0) << joined(parked);
    const auto resumed = fairgv({"resume", "alice"});
    ASSERT_EQ(resumed.status, 0) << joined(resumed);
  }
  /// The line with which a move fails.
  std::string refusal() {
    const auto finished = harness::run({{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", harness::beside("fairgv"),
                                         "migrate", "alice", "--socket", tenancy->socket()},
                                        {}});
    EXPECT_TRUE(finished);
    EXPECT_EQ(finished->status, 1) << joined(finished.value());
    return joined(finished.value());
  }

  void load_scale() {
    load(kPtx);
    ASSERT_EQ(find("scale").code, 0);
  }
  std::uint64_t global() { return client->call(GetGlobal{module, "counter"})->address; }

  wire::EventId hold(wire::ObjectId stream) {
    const wire::EventId work = client->events().acquire();
    client->send(wire::EnqueueHostWork{{stream, work, {}}});
    EXPECT_EQ(client->wait_for_grant(work), session::kRunning);
    return work;
  }
};

TEST_F(CudaMove, KeepsMemoryModulesAndFunctions) {
  load_scale();
  const std::uint64_t data = allocate(kNumbers * 4);
  const std::uint64_t other = allocate(3);
  write(legacy, data, numbers(kNumbers));
  const std::uint64_t counter = global();
  write(legacy, counter, std::vector<std::uint32_t>{4711});
  std::uint32_t factor = 1;
  for (int round = 0; round < 3; ++round) {
    scale(legacy, data, kNumbers, 2);
    factor = 2 * factor + 1;
    ASSERT_NO_FATAL_FAILURE(round == 1 ? park() : move());
  }
  const auto result = read(legacy, data, kNumbers);
  for (std::uint32_t i = 0; i < kNumbers; ++i) ASSERT_EQ(result[i], factor * i);
  EXPECT_EQ(global(), counter);
  EXPECT_EQ(read(legacy, counter, 1)[0], 4711U);
  EXPECT_EQ(find("nothing").code, kNotFound);
  const std::uint64_t more = allocate(kNumbers * 4);
  EXPECT_NE(more, data);
  EXPECT_NE(more, other);
  client->send(FreeMemory{context, data});
  client->send(FreeMemory{context, other});
  EXPECT_EQ(client->late_error(), 0U);
}

}  // namespace
}  // namespace fairgv::integration::cuda_worker
