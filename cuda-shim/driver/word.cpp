// Memory operations in streams, sent to the worker, which also looks at the words that streams wait for.
#include "cuda-shim/api/memory/word.hpp"

#include <utility>

#include "cuda-shim/driver/scheduler.hpp"
#include "cuda-shim/driver/storage.hpp"

namespace fairgv::cuda::remote {

CUresult Scheduler::write_word(const std::shared_ptr<cuda::Stream>& to, const Word& word,
                               std::uint64_t value) {
  Stream& stream = workers(to);
  const std::uint64_t offset = word.address - word.allocation->begin;
  const CUresult code = connection_.enqueue(
      wire::cuda::WriteWord{stream.command(), word.allocation->begin_on_device + offset, value, word.bytes});
  if (code == CUDA_SUCCESS) stream.note_command();
  return code;
}

CUresult Scheduler::wait_for_word(const std::shared_ptr<cuda::Stream>& on, const Word& word,
                                  const WordTest& test) {
  Stream& stream = workers(on);
  const Allocation& allocation = *word.allocation;
  const std::uint64_t offset = word.address - allocation.begin;
  wire::cuda::WaitForWord call;
  call.command = stream.command();
  call.comparison = test.comparison;
  call.value = test.value;
  call.bytes = word.bytes;
  if (is_pinned(allocation)) {
    call.space = wire::cuda::Space::arena;
    call.address = storage_of(allocation).pinned().offset + offset;
  } else {
    call.address = allocation.begin_on_device + offset;
  }
  stream.note_wait();
  const CUresult code = connection_.enqueue(call);
  if (code != CUDA_SUCCESS) return code;
  stream.note_command();
  // Either this thread sees that the context ends, or that thread that the stream waits.
  if (stream.workers_group().gives_up_waits()) stream.give_up_waits();
  return CUDA_SUCCESS;
}

void Scheduler::give_up_waits(cuda::StreamGroup& of_context) {
  auto& group = static_cast<StreamGroup&>(of_context);
  for (const auto& stream : group.end_waits()) {
    if (stream->has_waited()) stream->give_up_waits();
  }
}

/// From now on. Returns the streams that may have waits.
std::vector<std::shared_ptr<Stream>> StreamGroup::end_waits() {
  gives_up_waits_.store(true, std::memory_order_seq_cst);
  std::vector<std::shared_ptr<Stream>> streams;
  const std::lock_guard guard(lock_);
  if (legacy_) streams.push_back(legacy_);
  for (const auto& weak : streams_) {
    if (auto stream = weak.lock()) streams.push_back(std::move(stream));
  }
  for (const Forgotten& gone : forgotten_) {
    if (gone.waiting) streams.push_back(gone.waiting);
  }
  return streams;
}

void Stream::give_up_waits() {
  workers_group().connection().send(wire::cuda::GiveUpWaits{queue_});
}

}  // namespace fairgv::cuda::remote
