#include "cuda-shim/driver/memory/reservation.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "runtime/base/page.hpp"
#include "runtime/session/client/standard_error.hpp"

namespace fairgv::cuda::remote {
namespace {

/// How many ranges begin or end in a page. Pages between belong to one range alone.
struct SharedPages {
  std::mutex mutex;  // guards the members below, and the mappings
  std::unordered_map<std::uint64_t, std::size_t> users;
};

SharedPages& shared_pages() {
  static auto* const pages = new SharedPages;  // never destroyed: programs free memory while they end
  return *pages;
}

/// The pages from first to last that no other range uses: [begin, end).
struct Own {
  std::uint64_t begin, end;
};
Own own_pages(const SharedPages& pages, std::uint64_t first, std::uint64_t last) {
  Own own{first, last + 1};
  if (pages.users.contains(first)) ++own.begin;
  if (last != first && pages.users.contains(last)) --own.end;
  return own;
}

void* at(std::uint64_t page) {
  return reinterpret_cast<void*>(page * kPageBytes);
}

/// False: the pages are in use.
bool map(const Own& own) {
  if (own.begin >= own.end) return true;
  void* const wanted = at(own.begin);
  const std::size_t bytes = (own.end - own.begin) * kPageBytes;
  void* const got = ::mmap(wanted, bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return errno != EEXIST;
  if (got == wanted) return true;
  ::munmap(got, bytes);  // a kernel before 4.17 takes the address as a hint
  return false;
}

}  // namespace

std::optional<Reservation> Reservation::make(std::uint64_t address, std::uint64_t size) {
  if (address < kPageBytes || size == 0) return Reservation();
  const std::uint64_t first = address / kPageBytes;
  const std::uint64_t last = (address + size - 1) / kPageBytes;
  SharedPages& pages = shared_pages();
  const std::lock_guard guard(pages.mutex);
  if (!map(own_pages(pages, first, last))) return std::nullopt;
  ++pages.users[first];
  if (last != first) ++pages.users[last];
  return Reservation(first, last);
}

bool Reservation::open() const {
  SharedPages& pages = shared_pages();
  const std::lock_guard guard(pages.mutex);
  return first_page_ != 0 && ::mprotect(at(first_page_), (last_page_ - first_page_ + 1) * kPageBytes,
                                        PROT_READ | PROT_WRITE) == 0;
}

Reservation::~Reservation() {
  if (first_page_ == 0) return;
  SharedPages& pages = shared_pages();
  const std::lock_guard guard(pages.mutex);
  const auto leave = [&pages](std::uint64_t page) {
    const auto found = pages.users.find(page);
    if (--found->second == 0) pages.users.erase(found);
  };
  leave(first_page_);
  if (last_page_ != first_page_) leave(last_page_);
  const Own own = own_pages(pages, first_page_, last_page_);
  if (own.begin < own.end) ::munmap(at(own.begin), (own.end - own.begin) * kPageBytes);
}

void say_addresses_taken(std::uint64_t address) {
  char line[200];
  std::snprintf(
      line, sizeof line,
      "the device's memory at %#llx lies where this program has memory of its own, and no other was to be "
      "had: run the program again (addresses differ from run to run)",
      static_cast<unsigned long long>(address));
  session::say(line);
}

}  // namespace fairgv::cuda::remote
