// Streams that wait for a word of memory (CUDA Driver API, "Stream Memory Operations").
//
// The driver gets nothing of such a wait: it would hold the device's turn, or the place of other tenants'
// work, for something that only the program may be able to do. The wait is a node of the command graph; once
// its turn has come, a thread looks at the word from time to time, and then the work behind it is issued.
//
// A word in the arena is read as it is, because the program may write it at any time. A word of the device is
// read by the driver, and changes only by commands of this session: it is read once, and then while any
// command is under way or has been. So a session that only waits never touches the device.
#pragma once

#include <cuda.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/vgpu/cuda/driver.hpp"
#include "runtime/vgpu/cuda/late_errors.hpp"
#include "runtime/vgpu/cuda/objects.hpp"
#include "runtime/vgpu/executor/executor.hpp"
#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/wire/calls/cuda/word.hpp"

namespace fairgv::vgpu::cuda {

/// A word, and the test that it is to pass; everything has been checked.
struct AwaitedWord {
  std::byte* in_arena = nullptr;  // null: memory of the device
  CUdeviceptr address = 0;
  std::uint32_t bytes = 4;
  wire::cuda::Comparison comparison = wire::cuda::Comparison::at_least;
  std::uint64_t value = 0;
};

class WordWatcher {
 public:
  /// All outlive it. The thread begins with the first wait.
  WordWatcher(const Functions& driver, Executor& executor, LateErrors& late)
      : driver_(driver), executor_(executor), late_(late) {}
  /// Waits that are not over by then never are.
  ~WordWatcher();
  WordWatcher(const WordWatcher&) = delete;
  WordWatcher& operator=(const WordWatcher&) = delete;

  /// A node for the stream, which ends when the word passes the test; with an error when the session has a
  /// sticky fault, the word cannot be read, or the stream gives its waits up. The loop thread's.
  NodePtr wait(const std::shared_ptr<Stream>& stream, const AwaitedWord& word);

  /// Whether no wait ends, and no word is read. While the session rests, it stays so once it was.
  bool at_rest() const { return !is_looking_.load(std::memory_order_seq_cst); }

  /// Counts the commands that the driver gets. Release before the driver gets it; acquired by look().
  std::atomic<std::uint64_t>& issued() { return issued_; }

 private:
  class Wait;
  using Waits = std::vector<std::shared_ptr<Wait>>;

  /// Waits whose turn has come, on their way to the watcher, which the nodes may outlive.
  struct Inbox {
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    Waits given;
    bool is_closed = false;
  };

  // The watcher's thread.
  void run();
  bool look();
  /// Whether any was over.
  bool end_waits();
  std::optional<std::int32_t> outcome(Wait& wait, bool may_have_changed);
  CUresult read(const Wait& wait, std::uint64_t& now);

  const Functions& driver_;
  Executor& executor_;
  LateErrors& late_;
  std::atomic<std::uint64_t> issued_{0};
  std::atomic<bool> is_looking_{false};  // see Executor::rests()
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();

  // The watcher's thread's:
  Waits waits_;
  std::uint64_t issued_before_ = 0;  // at the last look
  bool was_at_work_ = false;

  std::thread thread_;
};

}  // namespace fairgv::vgpu::cuda
