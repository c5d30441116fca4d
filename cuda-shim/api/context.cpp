#include "cuda-shim/api/context.hpp"

#include <utility>

#include "cuda-shim/api/of_thread.hpp"

namespace fairgv::cuda {

/// The default streams of one thread: one in each context in which the thread asked for it.
struct ThreadStreams {
  struct Entry {
    std::weak_ptr<Context> context;
    std::shared_ptr<Stream> stream;
  };
  ~ThreadStreams() {
    for (const Entry& entry : entries) {
      const auto context = entry.context.lock();
      if (context && !context->ended()) context->scheduler_.forget(entry.stream);
    }
  }
  std::vector<Entry> entries;
};

Context::~Context() {
  if (group_) scheduler_.dissolve(*group_);
}

std::shared_ptr<Stream> Context::find_legacy() {
  const std::lock_guard guard(legacy_lock_);
  if (!legacy_) legacy_ = scheduler_.legacy(group_);
  if (legacy_) has_legacy_.store(true, std::memory_order_release);
  return legacy_;
}

std::shared_ptr<Stream> Context::thread_stream() {
  auto& entries = of_thread<ThreadStreams>().entries;
  for (const auto& entry : entries) {
    if (entry.stream->group() == group_) return entry.stream;
  }
  std::erase_if(entries, [](const ThreadStreams::Entry& entry) { return entry.context.expired(); });
  auto stream =
      scheduler_.make_stream(group_, StreamKind::blocking, CU_STREAM_DEFAULT, group_->least_priority());
  entries.push_back({weak_from_this(), stream});
  return stream;
}

std::vector<std::shared_ptr<Context>>& context_stack() {
  return of_thread<std::vector<std::shared_ptr<Context>>>();
}

}  // namespace fairgv::cuda
