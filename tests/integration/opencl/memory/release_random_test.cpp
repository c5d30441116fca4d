// Threads that allocate, use and release memory at random: no allocation that fits is ever refused.
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/integration/opencl/memory/release_fixture.hpp"

namespace fairgv::test {
namespace {

/// The calls of one thread: objects of any size, used in any queue, released at any time. Its objects that
/// are not yet released stay within its share, so no allocation may ever be refused.
class RandomUser {
 public:
  RandomUser(cl_context context, std::vector<cl_command_queue> queues, std::uint64_t share,
             std::uint64_t seed)
      : context_(context), queues_(std::move(queues)), share_(share), random_(seed) {}

  /// The error of the first allocation that failed, and the round in which it failed.
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

TEST_F(Release, AtRandomMakesRoomForEverythingThatFits) {
  const QueueHandle queues[] = {make_queue(), make_queue(),
                                make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)};
  constexpr std::uint64_t kThreads = 3;
  // Small objects are charged in whole pieces at most, and the session keeps a little for later allocations.
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
