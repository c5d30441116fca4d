#include "cuda-shim/api/memory/program_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace fairgv::cuda {
namespace {

// Linux 5.14; older C libraries do not name them.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

struct Pages {
  void* first;
  std::size_t bytes;
};

/// False: the range ends behind the address space.
bool pages_of(std::uint64_t begin, std::uint64_t size, Pages& pages) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t end = 0;
  if (__builtin_add_overflow(begin, size, &end) || end > UINT64_MAX - page) return false;
  const std::uint64_t first = begin / page * page;
  pages = {reinterpret_cast<void*>(first), (end + page - 1) / page * page - first};
  return true;
}

}  // namespace

bool are_there(std::uint64_t begin, std::uint64_t size) {
  Pages pages{};
  // It starts nothing (msync(2), since Linux 2.6.19), and fails where a page is not mapped.
  return pages_of(begin, size, pages) &&
         (::msync(pages.first, pages.bytes, MS_ASYNC) == 0 || errno != ENOMEM);
}

bool make_present(std::uint64_t begin, std::uint64_t size, bool for_writing) {
  const int advice = for_writing ? kPopulateWrite : kPopulateRead;
  Pages pages{};
  if (!pages_of(begin, size, pages)) return false;
  if (::madvise(pages.first, pages.bytes, advice) == 0) return true;
  // A system that does not know the advice refuses it for no page at all, too.
  const bool is_unknown = errno == EINVAL && ::madvise(pages.first, 0, advice) != 0;
  return is_unknown && are_there(begin, size);
}

}  // namespace fairgv::cuda
