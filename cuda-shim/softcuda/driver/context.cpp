#include "context.hpp"

#include <utility>

#include "of_thread.hpp"

namespace fairgv::softcuda {

Context::Context(Scheduler& scheduler, unsigned flags, bool primary, std::uint64_t id)
    : scheduler_(scheduler),
      primary_(primary),
      id_(id),
      group_(scheduler.make_group(handle())),
      flags_(flags),
      // What NVIDIA's driver answers at first. They bound nothing here but the printf ring, so they are only
      // kept.
      limits_{{CU_LIMIT_STACK_SIZE, 1024},
              {CU_LIMIT_PRINTF_FIFO_SIZE, std::size_t{1} << 20U},
              {CU_LIMIT_MALLOC_HEAP_SIZE, std::size_t{8} << 20U}} {}

Context::~Context() {
  scheduler_.dissolve(*group_);
}

std::shared_ptr<Stream> Context::thread_stream() {
  const std::lock_guard guard(lock_);
  auto& stream = thread_streams_[std::this_thread::get_id()];
  if (!stream) {
    stream =
        scheduler_.make_stream(group_, StreamKind::blocking, CU_STREAM_DEFAULT, Scheduler::kLeastPriority);
  }
  return stream;
}

CUresult Context::limit(CUlimit which, std::size_t& value) const {
  if (which < 0 || which >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(lock_);
  const auto found = limits_.find(which);
  if (found == limits_.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  value = found->second;
  return CUDA_SUCCESS;
}

CUresult Context::set_limit(CUlimit which, std::size_t value) {
  if (which < 0 || which >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(lock_);
  const auto found = limits_.find(which);
  if (found == limits_.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  found->second = value;
  return CUDA_SUCCESS;
}

std::vector<std::shared_ptr<Context>>& context_stack() {
  return of_thread<std::vector<std::shared_ptr<Context>>>();
}

bool& in_host_function() {
  static thread_local bool inside = false;
  return inside;
}

}  // namespace fairgv::softcuda
